// A page to look at: zoom, pan, and boxes in the pixels of the page as it is stored.

import { t } from "./texts.js";

const SVG = "http://www.w3.org/2000/svg";
const MOST = 6;

export class Viewer {
  /** `root` is the element of viewer.html. */
  constructor(root) {
    this.root = root;
    this.stage = root.querySelector(".stage");
    this.sheet = root.querySelector(".sheet");
    this.turned = root.querySelector(".turned");
    this.paper = root.querySelector(".paper");
    this.svg = root.querySelector(".boxes");
    this.pages = new Map();
    this.boxes = new Map(); // layer → page → [{quad, name, item}]
    this.current = 0;
    this.place = { x: 0, y: 0, scale: 1 };
    this.fitted = true;
    this.onItem = () => {};
    this.onPage = () => {};
    this._listen();
  }

  /** Forget everything. */
  clear() {
    this.pages.clear();
    this.boxes.clear();
    this.current = 0;
    this.sheet.hidden = true;
    this._pager();
  }

  /** Add a page, or tell more about one: {page, src, size, dpi, rotation, inverted}. */
  setPage(more) {
    const page = { rotation: 0, inverted: false, ...this.pages.get(more.page), ...more };
    this.pages.set(page.page, page);
    if (!this.current || this.current === page.page) this.show(page.page);
    else this._pager();
  }

  show(number) {
    const page = this.pages.get(number);
    if (!page) return;
    const changed = this.current !== number;
    this.current = number;
    if (page.src && this.paper.getAttribute("src") !== page.src) this.paper.src = page.src;
    this.paper.alt = t("page") + " " + number;
    this.paper.classList.toggle("inverted", page.inverted);
    const [width, height] = squared(page);
    const turn = page.rotation;
    const side = turn % 180 !== 0;
    this.size = side ? [height, width] : [width, height];
    const shift = { 0: [0, 0], 90: [height, 0], 180: [width, height], 270: [0, width] }[turn] ?? [0, 0];
    Object.assign(this.turned.style, {
      width: `${width}px`,
      height: `${height}px`,
      transform: `translate(${shift[0]}px, ${shift[1]}px) rotate(${turn}deg)`,
    });
    this.svg.setAttribute("viewBox", `0 0 ${page.size[0]} ${page.size[1]}`);
    this.sheet.hidden = false;
    if (changed || this.fitted) this.fit();
    this._pager();
    this._draw();
    if (changed) this.onPage(number);
  }

  /** Put boxes ({quad, name, item}) into a layer of a page, in place of those that are there. */
  setBoxes(layer, number, boxes) {
    if (!this.boxes.has(layer)) this.boxes.set(layer, new Map());
    this.boxes.get(layer).set(number, boxes);
    if (number === this.current) this._draw();
  }

  clearLayer(layer) {
    this.boxes.delete(layer);
    this._draw();
  }

  /** Show a place: its page comes up, and the place comes into the middle. */
  look(number, quad, item) {
    if (number !== this.current) this.show(number);
    const page = this.pages.get(number);
    if (!page) return;
    const points = quad.map((p) => this._upright(page, p));
    const xs = points.map((p) => p[0]);
    const ys = points.map((p) => p[1]);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const { clientWidth, clientHeight } = this.stage;
    const scale = Math.min(1.2, (clientWidth * 0.7) / (right - left || 1), (clientHeight * 0.4) / (bottom - top || 1));
    this.place.scale = Math.max(this._fitScale(), scale);
    this.place.x = clientWidth / 2 - ((left + right) / 2) * this.place.scale;
    this.place.y = clientHeight / 2 - ((top + bottom) / 2) * this.place.scale;
    this.fitted = false;
    this._apply(true);
    this.mark(item);
    const seen = this.stage.getBoundingClientRect();
    if (seen.bottom < 80 || seen.top > innerHeight - 80) {
      this.root.scrollIntoView({ block: "start", behavior: "smooth" });
    }
  }

  /** Make the boxes of an item stand out. */
  mark(item) {
    for (const polygon of this.svg.children) {
      polygon.classList.toggle("now", Boolean(item) && polygon.dataset.item === item);
    }
  }

  fit() {
    this.fitted = true;
    const scale = this._fitScale();
    const [width, height] = this.size;
    this.place = {
      scale,
      x: (this.stage.clientWidth - width * scale) / 2,
      y: Math.max(0, (this.stage.clientHeight - height * scale) / 2),
    };
    this._apply();
  }

  zoom(factor, x = this.stage.clientWidth / 2, y = this.stage.clientHeight / 2) {
    const { place } = this;
    const scale = Math.min(MOST, Math.max(this._fitScale() * 0.7, place.scale * factor));
    const ratio = scale / place.scale;
    this.place = { scale, x: x - (x - place.x) * ratio, y: y - (y - place.y) * ratio };
    this.fitted = false;
    this._apply();
  }

  /** Draw the place of a quad into a canvas, the text upright. */
  crop(canvas, number, quad, { height = 34, width = 420 } = {}) {
    const page = this.pages.get(number);
    if (!page?.src) return;
    const image = new Image();
    image.onload = () => {
      const ratio = page.dpi[0] / page.dpi[1];
      const [a, b, , d] = quad.map(([x, y]) => [x, y * ratio]);
      const long = Math.hypot(b[0] - a[0], b[1] - a[1]);
      const high = Math.hypot(d[0] - a[0], d[1] - a[1]) || 1;
      const margin = high * 0.35;
      const dots = window.devicePixelRatio || 1;
      const scale = Math.min(height / (high + 2 * margin), width / (long + 2 * margin)) * dots;
      canvas.width = Math.ceil((long + 2 * margin) * scale);
      canvas.height = Math.ceil((high + 2 * margin) * scale);
      canvas.style.width = `${canvas.width / dots}px`;
      const context = canvas.getContext("2d");
      const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
      context.fillStyle = "#fff";
      context.fillRect(0, 0, canvas.width, canvas.height);
      if (page.inverted) context.filter = "invert(1)";
      context.translate(margin * scale, margin * scale);
      context.scale(scale, scale);
      context.rotate(-angle);
      context.translate(-a[0], -a[1]);
      context.scale(1, ratio);
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, page.size[0], page.size[1]);
    };
    image.src = page.src;
  }

  _upright(page, [x, y]) {
    const [width, height] = squared(page);
    const down = (y * page.dpi[0]) / page.dpi[1];
    switch (page.rotation) {
      case 90:
        return [height - down, x];
      case 180:
        return [width - x, height - down];
      case 270:
        return [down, width - x];
      default:
        return [x, down];
    }
  }

  _fitScale() {
    const [width, height] = this.size ?? [1, 1];
    return Math.min(this.stage.clientWidth / width, this.stage.clientHeight / height) || 1;
  }

  _apply(slowly = false) {
    const { x, y, scale } = this.place;
    this.sheet.classList.toggle("gliding", slowly);
    this.sheet.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
  }

  _draw() {
    const polygons = [];
    for (const pages of this.boxes.values()) {
      for (const { quad, name = "", item = "" } of pages.get(this.current) ?? []) {
        const polygon = document.createElementNS(SVG, "polygon");
        polygon.setAttribute("points", quad.map((p) => p.join(",")).join(" "));
        polygon.setAttribute("class", name);
        polygon.dataset.item = item;
        polygons.push(polygon);
      }
    }
    this.svg.replaceChildren(...polygons);
  }

  _pager() {
    this.root.querySelector(".pager").hidden = this.pages.size < 2;
    this.root.querySelector(".page-number").textContent = t("page_of", {
      n: this.current,
      of: Math.max(this.pages.size, this.total ?? 0),
    });
  }

  /** The texts in another language. */
  retell() {
    if (this.current) this._pager();
  }

  _listen() {
    const { stage, root } = this;
    root.addEventListener("click", (event) => {
      const act = event.target.closest("[data-do]")?.dataset.do;
      if (act === "in") this.zoom(1.4);
      else if (act === "out") this.zoom(1 / 1.4);
      else if (act === "fit") this.fit();
      else if (act === "previous") this.show(this.current - 1);
      else if (act === "next") this.show(this.current + 1);
    });
    root.querySelector(".show-boxes").addEventListener("change", (event) => {
      this.svg.classList.toggle("hidden", !event.target.checked);
    });
    stage.addEventListener("keydown", (event) => {
      const step = 60;
      const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (moves[event.key]) this._move(...moves[event.key]);
      else if (event.key === "+" || event.key === ";") this.zoom(1.3);
      else if (event.key === "-") this.zoom(1 / 1.3);
      else if (event.key === "0") this.fit();
      else if (event.key === "PageDown") this.show(this.current + 1);
      else if (event.key === "PageUp") this.show(this.current - 1);
      else return;
      event.preventDefault();
    });
    stage.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const box = stage.getBoundingClientRect();
        this.zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
      },
      { passive: false },
    );
    stage.addEventListener("dblclick", () => (this.fitted ? this.zoom(2.5) : this.fit()));
    this._drag();
    new ResizeObserver(() => this.size && this.fitted && this.fit()).observe(stage);
  }

  _drag() {
    const { stage } = this;
    const fingers = new Map();
    let moved = 0;
    const spread = () => {
      const [a, b] = [...fingers.values()];
      return Math.hypot(a.x - b.x, a.y - b.y);
    };
    stage.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      stage.setPointerCapture(event.pointerId);
      moved = 0;
    });
    stage.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const apart = fingers.size === 2 ? spread() : 0;
      const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      moved += Math.abs(dx) + Math.abs(dy);
      if (fingers.size === 1) this._move(dx, dy);
      else if (fingers.size === 2 && apart) {
        const box = stage.getBoundingClientRect();
        const [a, b] = [...fingers.values()];
        this.zoom(spread() / apart, (a.x + b.x) / 2 - box.left, (a.y + b.y) / 2 - box.top);
      }
    });
    const lift = (event) => {
      fingers.delete(event.pointerId);
      if (event.type === "pointerup" && moved < 6) {
        const hit = document.elementsFromPoint(event.clientX, event.clientY);
        const item = hit.find((e) => e.tagName === "polygon" && e.dataset.item)?.dataset.item;
        if (item) this.onItem(item);
      }
    };
    stage.addEventListener("pointerup", lift);
    stage.addEventListener("pointercancel", lift);
  }

  _move(dx, dy) {
    this.place.x += dx;
    this.place.y += dy;
    this.fitted = false;
    this._apply();
  }
}

/** Width and height of a stored page once its pixels are made square. */
function squared(page) {
  return [page.size[0], (page.size[1] * page.dpi[0]) / page.dpi[1]];
}
