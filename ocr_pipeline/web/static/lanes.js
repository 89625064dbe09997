// The texts of the runs side by side: draft in grey, committed in black, doubt as colour.

import { charactersOf, linesOf, spokenWords, tilesOf } from "./state.js";
import { differences } from "./diff.js";
import { t } from "./texts.js";

const HEAT = 5;
const MOST_NATS = 2.5; // entropy from which the deepest colour is used

/** Draw the runs of a state.
 *
 * options: heat, marked (run → set of positions), stands (page → how it stands, see `linesOf`).
 */
export function drawLanes(element, state, options) {
  const runs = [...state.runs].sort((a, b) => a[0] - b[0]);
  while (element.children.length > runs.length) element.lastChild.remove();
  runs.forEach(([number, run], i) => {
    const lane = element.children[i] ?? element.appendChild(newLane());
    lane.dataset.run = number;
    lane.querySelector("h2").textContent = t("run", { n: number + 1 });
    const text = lane.querySelector(".text");
    text.setAttribute("aria-label", t("run", { n: number + 1 }));
    const followed = text.scrollHeight - text.scrollTop - text.clientHeight < 40;
    text.replaceChildren(...paint(run, options, options.marked?.get(number)));
    if (followed) text.scrollTop = text.scrollHeight;
  });
  element.classList.toggle("single", runs.length < 2);
}

function newLane() {
  const lane = document.createElement("article");
  lane.className = "lane";
  const text = document.createElement("div");
  text.className = "text";
  text.tabIndex = 0; // it scrolls, so the keyboard must get there
  text.setAttribute("role", "group");
  text.lang = "ja";
  lane.append(document.createElement("h2"), text);
  return lane;
}

function* paint(run, options, marked) {
  let position = 0; // as counted by `charactersOf`
  const pages = [...run.pages].sort((a, b) => a[0] - b[0]);
  for (const [number, page] of pages) {
    if (pages.length > 1) yield element("h3", "page-break", t("page") + " " + number);
    for (const [, tile] of tilesOf(page)) {
      if (!tile.committed.length && !tile.draft.length) continue;
      const block = element("div", "tile");
      block.append(
        characters("committed", tile.committed, {
          heat: options.heat && tile.confidence.map((c) => (1 - c) * 1.6),
          marked,
          position,
        }),
      );
      position += tile.committed.length;
      if (tile.draft.length) {
        block.append(
          characters("draft", tile.draft, {
            heat: options.heat && tile.entropy.map((e) => (e ?? 0) / MOST_NATS),
            changed: tile.changed,
            marked,
            position,
          }),
        );
      }
      position += tile.draft.length + 1;
      yield block;
    }
    for (const line of linesOf(spokenWords(page), options.stands.get(number))) {
      const block = element("div", "line");
      line.forEach((word, i) => {
        if (i) block.append("  ");
        const text = [...word.text];
        const doubt = word.confidence == null ? 0 : 1 - word.confidence;
        block.append(
          characters("committed", text, { heat: options.heat && text.map(() => doubt), marked, position }),
        );
        position += text.length + (i < line.length - 1 ? 2 : 1);
      });
      yield block;
    }
    if (page.status === "blank") yield element("p", "none", t("blank"));
  }
  if (run.error) yield element("p", "problem", run.error);
}

/** Characters as few spans as their looks allow. */
function characters(kind, text, { heat, changed, marked, position }) {
  const span = element("span", kind);
  let run = "";
  let look = "";
  const flush = () => {
    if (run) span.append(look ? element(look.includes("differs") ? "mark" : "span", look, run) : run);
    run = "";
  };
  text.forEach((character, i) => {
    const now = [
      heat ? `h${Math.max(0, Math.min(HEAT, Math.round((heat[i] ?? 0) * HEAT)))}` : "",
      changed?.has(i) ? "changed" : "",
      marked?.has(position + i) ? "differs" : "",
    ]
      .filter(Boolean)
      .join(" ");
    if (now !== look) {
      flush();
      look = now;
    }
    run += character;
  });
  flush();
  return span;
}

function element(tag, name, text = "") {
  const made = document.createElement(tag);
  made.className = name;
  if (text) made.textContent = text;
  return made;
}

/** Run → positions of the characters in which it differs from the others. */
export function markedOf(state, stands) {
  const runs = [...state.runs].sort((a, b) => a[0] - b[0]);
  const texts = runs.map(([, run]) => charactersOf(run, stands));
  const marked = new Map(runs.map(([number]) => [number, new Set()]));
  for (let i = 1; i < runs.length; i++) {
    const [first, other] = differences(texts[0], texts[i]);
    for (const p of first) marked.get(runs[0][0]).add(p);
    marked.set(runs[i][0], other);
  }
  return marked;
}
