// Read: choose a scan, watch the text form beside it, look through what came of it.

import { drawLanes, markedOf } from "./lanes.js";
import { bindReport } from "./report.js";
import { emptyState, fold } from "./state.js";
import { messages } from "./stream.js";
import { onLanguage, t, language } from "./texts.js";
import { settle } from "./settle.js";
import { Viewer } from "./viewer.js";
import { Replay } from "./replay.js";
import { offerDownloads } from "./downloads.js";

const $ = (id) => document.getElementById(id);
const form = $("ask");
const viewer = new Viewer(document.querySelector(".viewer"));
const replay = new Replay($("replay"), (state) => show(state));
const EVENTS = new Set(["queued", "page", "words", "draft", "committed", "step", "done", "error"]);

let dropped = null; // a file that was dropped; the file input cannot hold it everywhere
let reading = null; // the reading that is shown: what arrived, and what can be made of it
let said = null; // [key, values] of the line of state, to say it again in another language

settle(document.querySelector(".lead"));

// --- choosing ---------------------------------------------------------------------------------

$("file").addEventListener("change", () => choose($("file").files[0] ?? null));
form.querySelectorAll("input[name=sample]").forEach((radio) => {
  radio.addEventListener("change", () => choose(null));
});

function choose(file) {
  dropped = file;
  if (file) form.querySelectorAll("input[name=sample]").forEach((r) => (r.checked = false));
  else $("file").value = "";
  const name = file?.name ?? form.querySelector("input[name=sample]:checked")?.value;
  $("chosen").textContent = name ? t("chosen", { name }) : "";
  problem("");
}

for (const kind of ["dragenter", "dragover"]) {
  document.addEventListener(kind, (event) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    $("drop").classList.add("over");
  });
}
document.addEventListener("dragleave", (event) => event.relatedTarget || $("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  const file = event.dataTransfer?.files[0];
  $("drop").classList.remove("over");
  if (!file) return;
  event.preventDefault();
  expand();
  choose(file);
});

function showOptions() {
  form.querySelectorAll(".options").forEach((d) => (d.hidden = d.dataset.engine !== $("engine").value));
}
$("engine").addEventListener("change", showOptions);
showOptions();

function expand() {
  form.classList.remove("collapsed");
  $("again").hidden = true;
}
$("again").addEventListener("click", () => {
  expand();
  $("file").focus();
});

function asked() {
  const data = new FormData();
  const sample = form.querySelector("input[name=sample]:checked")?.value;
  if (dropped) data.append("file", dropped, dropped.name);
  else if (sample) data.append("sample", sample);
  else return null;
  for (const name of ["engine", "runs", "seed"]) data.append(name, $(name).value || $(name).min);
  for (const input of form.querySelectorAll(".options:not([hidden]) [name]")) {
    if (input.value) data.append("option", `${input.name}=${input.value}`);
  }
  data.append("pictures", "true");
  return data;
}

// --- reading ----------------------------------------------------------------------------------

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const data = asked();
  if (!data) return problem(t("nothing_chosen"));
  await read(data);
});

$("stop").addEventListener("click", async () => {
  if (!reading) return;
  if (reading.job) await fetch(`/api/jobs/${reading.job.id}/stop`, { method: "POST" }).catch(() => {});
  else reading.leave.abort();
});

async function read(data) {
  reading?.leave.abort();
  const mine = (reading = {
    leave: new AbortController(),
    job: null,
    log: [],
    state: emptyState(),
    stands: new Map(),
    record: "",
    report: null,
    marked: null,
    began: performance.now(),
  });
  begin();
  try {
    const response = await fetch("/api/transcribe", { method: "POST", body: data, signal: mine.leave.signal });
    if (!response.ok) {
      const why = await response.json().catch(() => ({ error: `HTTP ${response.status}`, remedy: "" }));
      throw new Refusal([why.error, why.remedy].filter(Boolean).join(" → "));
    }
    let ended = false;
    for await (const message of messages(response)) {
      if (mine !== reading) return;
      take(mine, message);
      ended = message.kind === "end";
    }
    if (!ended) throw new Refusal(t("broken"));
  } catch (error) {
    if (mine !== reading) return;
    say("");
    if (error.name !== "AbortError") problem(error instanceof Refusal ? error.message : t("broken"));
    if (!mine.job) expand();
  } finally {
    if (mine === reading) finish();
  }
}

class Refusal extends Error {}

function begin() {
  problem("");
  say("uploading");
  viewer.clear();
  replay.clear();
  $("lanes").replaceChildren();
  $("outcome").hidden = true;
  $("desk").hidden = false;
  $("desk").classList.add("live");
  $("start").hidden = $("again").hidden = true;
  $("stop").hidden = false;
  $("differences-box").hidden = true;
  form.classList.add("collapsed");
  meters(null);
}

function finish() {
  $("desk").classList.remove("live");
  $("stop").hidden = true;
  $("start").hidden = false;
  $("again").hidden = !form.classList.contains("collapsed");
  if (!reading.job && !viewer.pages.size) $("desk").hidden = true;
}

function take(mine, { kind, data }) {
  const value = JSON.parse(data);
  if (EVENTS.has(kind)) {
    mine.log.push({ seconds: (performance.now() - mine.began) / 1000, raw: data, event: value });
    fold(mine.state, value);
    if (kind === "queued") value.data.position ? say("waiting", { n: value.data.position }) : say("loading");
    else if (kind === "error") problem([value.data.error, value.data.remedy].filter(Boolean).join(" → "));
    else later(mine);
    return;
  }
  switch (kind) {
    case "job":
      mine.job = value;
      viewer.total = value.pages;
      document.querySelector(".source").textContent = value.source;
      break;
    case "picture":
      viewer.setPage(value);
      break;
    case "upright":
      mine.stands.set(value.page, { angle: value.rotation - value.skew, ratio: value.dpi[0] / value.dpi[1] });
      viewer.setPage({ page: value.page, rotation: value.rotation, inverted: value.inverted, size: value.size, dpi: value.dpi });
      viewer.show(value.page);
      $("desk").classList.add("scanning");
      say("reading_page", { n: value.page });
      break;
    case "record":
      mine.record = data;
      break;
    case "report":
      mine.report = value;
      break;
    case "end":
      over(mine, value);
      break;
  }
}

function over(mine, { outcome }) {
  $("desk").classList.remove("scanning");
  mine.marked = mine.state.runs.size > 1 ? markedOf(mine.state, mine.stands) : null;
  $("differences-box").hidden = !mine.marked;
  show(mine.state);
  replay.load(mine.log);
  if (mine.report) {
    $("outcome").hidden = false;
    offerDownloads($("downloads"), mine);
    report(mine);
  }
  if (outcome !== "ok") say(`ended_${outcome}`);
  else if (!mine.report) say("");
}

function report(mine) {
  $("report").innerHTML = mine.report.html[language()]; // escaped by the server's templates
  viewer.clearLayer("words");
  viewer.clearLayer("tiles");
  bindReport($("report"), viewer);
  say("finished", { n: $("report").querySelector(".badge").textContent });
}

// --- showing ----------------------------------------------------------------------------------

let waiting = false;
function later(mine) {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (mine === reading) show(mine.state);
  });
}

function show(state) {
  const live = state === reading.state;
  drawLanes($("lanes"), state, {
    heat: $("heat").checked,
    stands: reading.stands,
    marked: live && $("differences").checked ? reading.marked : null,
  });
  places(state);
  meters(state);
}

/** Light up what is being read on the page. */
function places(state) {
  if (reading.report && state === reading.state) return;
  const pages = new Set([...state.pages.keys()]);
  for (const run of state.runs.values()) for (const number of run.pages.keys()) pages.add(number);
  for (const number of pages) {
    const tiles = state.pages.get(number)?.tiles ?? [];
    const seen = [...state.runs.values()].map((run) => run.pages.get(number)).filter(Boolean);
    viewer.setBoxes(
      "tiles",
      number,
      tiles.map((quad, i) => {
        const its = seen.map((page) => page.tiles.get(i)).filter(Boolean);
        const now = its.some((tile) => tile.draft.length);
        const done = its.some((tile) => tile.done || tile.committed.length);
        return { quad, name: now ? "tile lit" : done ? "tile read" : "tile" };
      }),
    );
    const words = seen.flatMap((page) => page.words).filter((word) => word.quad);
    viewer.setBoxes("words", number, words.map((word) => ({ quad: word.quad, name: "word" })));
  }
}

function meters(state) {
  const runs = state ? [...state.runs.values()] : [];
  const step = runs.map((run) => run.step).filter(Boolean).at(-1);
  const words = runs.reduce((n, run) => n + [...run.pages.values()].reduce((m, p) => m + p.words.length, 0), 0);
  const letters = runs.reduce(
    (n, run) => n + [...run.pages.values()].reduce((m, p) => m + [...p.tiles.values()].reduce((k, x) => k + x.committed.length, 0), 0),
    0,
  );
  const put = (name, text, label) => {
    const box = document.querySelector(`[data-meter=${name}]`);
    box.querySelector("dd").textContent = text;
    if (label) box.querySelector("dt").textContent = t((box.querySelector("dt").dataset.t = label));
  };
  const fixed = (number, digits) => (number == null ? "–" : number.toFixed(digits));
  put("step", step ? `${step.step}${step.steps ? ` / ${step.steps}` : ""}` : "–");
  put("entropy", step ? fixed(step.entropy, 3) : "–");
  put("speed", step ? fixed(step.tokens_per_second, 0) : "–");
  put("count", words || letters || "–", words ? "words" : "characters");
}

$("heat").addEventListener("change", () => {
  $("heat-legend").hidden = !$("heat").checked;
  if (reading) replay.redraw() || show(reading.state);
});
$("differences").addEventListener("change", () => reading && show(reading.state));

function say(key, values = {}) {
  said = key ? [key, values] : null;
  $("state").textContent = key ? t(key, values) : "";
}

function problem(text) {
  $("problem").textContent = text;
  $("problem").hidden = !text;
}

onLanguage(() => {
  if (said) $("state").textContent = t(...said);
  viewer.retell();
  if (!reading) return;
  if (reading.report) {
    offerDownloads($("downloads"), reading);
    report(reading);
  }
  replay.redraw() || show(reading.state);
});
