// The events so far, folded into what is to be seen. A tile's text is what was committed, and the
// draft of the canvas that is forming behind it.

export function emptyState() {
  return { runs: new Map(), pages: new Map() };
}

/** The state after one more event; it is changed in place. */
export function fold(state, event) {
  if (event.kind === "page") {
    state.pages.set(event.page, { tiles: event.data.tiles ?? [] });
    return state;
  }
  if (event.kind === "queued") return state;
  const run = runOf(state, event.run);
  const page = pageOf(run, event.page);
  const tile = tileOf(page, event.tile);
  const data = event.data;
  switch (event.kind) {
    case "words":
      page.words.push(...data.words.map((w) => (typeof w === "string" ? { text: w } : w)));
      tile.done = true;
      break;
    case "step":
      run.step = data;
      break;
    case "draft":
      tile.draft = [...data.text];
      tile.entropy = data.entropy ?? [];
      tile.changed = new Set(data.changed ?? []);
      break;
    case "committed": {
      const text = [...data.text];
      tile.committed.push(...text);
      const confidence = data.confidence ?? [];
      tile.confidence.push(...text.map((_, i) => confidence[i] ?? 1));
      tile.draft = [];
      break;
    }
    case "done":
      page.status = data.status;
      for (const each of page.tiles.values()) Object.assign(each, { draft: [], done: true });
      break;
    case "error":
      run.error = data.error;
      break;
  }
  return state;
}

function runOf(state, number) {
  if (!state.runs.has(number)) state.runs.set(number, { pages: new Map(), step: null, error: "" });
  return state.runs.get(number);
}

function pageOf(run, number) {
  if (!run.pages.has(number)) run.pages.set(number, { tiles: new Map(), words: [], status: "" });
  return run.pages.get(number);
}

function tileOf(page, number) {
  if (!page.tiles.has(number)) {
    const tile = { committed: [], confidence: [], draft: [], entropy: [], changed: new Set() };
    page.tiles.set(number, tile);
  }
  return page.tiles.get(number);
}

/** The tiles of a page in order. */
export function tilesOf(page) {
  return [...page.tiles.entries()].sort((a, b) => a[0] - b[0]);
}

/** The words to show as text: none where the tiles they were read from show their own. */
export function spokenWords(page) {
  const tiles = [...page.tiles.values()];
  return tiles.some((tile) => tile.committed.length || tile.draft.length) ? [] : page.words;
}

/** Everything a run says, as the characters that are shown. */
export function charactersOf(run, stands) {
  const characters = [];
  for (const [number, page] of [...run.pages].sort((a, b) => a[0] - b[0])) {
    for (const [, tile] of tilesOf(page)) {
      if (!tile.committed.length && !tile.draft.length) continue;
      characters.push(...tile.committed, ...tile.draft, "\n");
    }
    for (const line of linesOf(spokenWords(page), stands.get(number))) {
      characters.push(...line.map((w) => w.text).join("  "), "\n");
    }
  }
  return characters;
}

/** Words as lines, in the order they are read.
 *
 * `stand` makes the page stand upright: angle (degrees clockwise), and the ratio of its two
 * resolutions, for the pixels of a fax are not square.
 */
export function linesOf(words, stand = { angle: 0, ratio: 1 }) {
  const placed = words.map((word) => ({ word, ...box(word.quad, stand) }));
  placed.sort((a, b) => a.y - b.y);
  const lines = [];
  for (const each of placed) {
    const line = lines.find((l) => Math.abs(l.y - each.y) < 0.5 * Math.min(l.height, each.height));
    if (line) line.words.push(each);
    else lines.push({ y: each.y, height: each.height, words: [each] });
  }
  return lines.map((l) => l.words.sort((a, b) => a.x - b.x).map((w) => w.word));
}

function box(quad, { angle, ratio }) {
  if (!quad) return { x: 0, y: 0, height: 0 };
  const turn = (angle * Math.PI) / 180;
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const points = quad.map(([x, y]) => [x * cos - y * ratio * sin, x * sin + y * ratio * cos]);
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  return { x: Math.min(...xs), y: (top + bottom) / 2, height: bottom - top };
}
