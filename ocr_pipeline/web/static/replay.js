// The steps again, on a slider.

import { emptyState, fold } from "./state.js";
import { t } from "./texts.js";

const SEEN = new Set(["draft", "committed", "words", "done"]);
const SHORTEST = 40; // milliseconds between two steps
const LONGEST = 600;

export class Replay {
  /** `show` draws a state. */
  constructor(root, show) {
    this.root = root;
    this.show = show;
    this.slider = root.querySelector("input");
    this.button = root.querySelector("button");
    this.clear();
    this.slider.addEventListener("input", () => {
      this.pause();
      this.go(Number(this.slider.value));
    });
    this.button.addEventListener("click", () => (this.timer ? this.pause() : this.play()));
  }

  clear() {
    this.pause();
    this.log = [];
    this.moments = [];
    this.at = 0;
    this.root.hidden = true;
  }

  /** Take a reading that is over. A moment is the index of an event after which things look new. */
  load(log) {
    this.log = log;
    this.moments = [];
    log.forEach(({ event }, i) => {
      const next = log[i + 1];
      const together = next && SEEN.has(next.event.kind) && next.seconds - log[i].seconds < 0.004;
      if (SEEN.has(event.kind) && !together) this.moments.push(i);
    });
    this.root.hidden = this.moments.length < 2;
    this.slider.max = Math.max(0, this.moments.length - 1);
    this.slider.value = this.slider.max;
    this.at = Number(this.slider.max);
    this._label();
  }

  go(moment) {
    this.at = moment;
    this.slider.value = moment;
    this._label();
    this.show(this.state());
  }

  /** The state at the moment the slider stands at. */
  state() {
    const state = emptyState();
    for (let i = 0; i <= this.moments[this.at]; i++) fold(state, this.log[i].event);
    return state;
  }

  /** Draw the moment again; false when the slider stands at the end. */
  redraw() {
    if (this.root.hidden || this.at >= this.moments.length - 1) return false;
    this.go(this.at);
    return true;
  }

  play() {
    if (this.at >= this.moments.length - 1) this.go(0);
    this._pressed(true);
    const next = () => {
      this.go(this.at + 1);
      if (this.at >= this.moments.length - 1) return this.pause();
      const gap = 1000 * (this.log[this.moments[this.at + 1]].seconds - this.log[this.moments[this.at]].seconds);
      this.timer = setTimeout(next, Math.min(LONGEST, Math.max(SHORTEST, gap)));
    };
    this.timer = setTimeout(next, SHORTEST);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    this._pressed(false);
  }

  _pressed(playing) {
    this.button.setAttribute("aria-pressed", String(playing));
    this.button.dataset.t = playing ? "pause" : "play";
    this.button.textContent = t(this.button.dataset.t);
  }

  _label() {
    const text = `${this.at + 1} / ${this.moments.length}`;
    this.root.querySelector("output").textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
  }
}
