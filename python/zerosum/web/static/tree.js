// The tree of a watched search: drawn in full size, moved and zoomed as a map is, small branches folded.

import {h, percent, s} from "./dom.js";

const WIDE = 124, HIGH = 34, GAP = 12, LEVEL = 116, TOP = 24;
const SMALL = 0.04;  // share of the simulations below which a branch is folded by itself
const ZOOMS = [0.05, 4];
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

/** The nodes and the log that a page has, kept up by the program's changes. */
export class Changes {
  nodes = new Map();
  log = [];
  seq = 0;

  /** The whole view after an answer; null if an answer before it is missing. */
  merge({whole, seq, nodes, log, ...view}) {
    if (whole) {
      this.nodes = new Map();
      this.log = [];
    } else if (seq !== this.seq + 1) return null;
    this.seq = seq;
    for (const [name, node] of nodes) this.nodes.set(name, node);
    const numbers = new Set(log.map((line) => line.number));
    this.log =
      [...this.log.filter((line) => line.number <= view.simulations && !numbers.has(line.number)), ...log].slice(-60);
    return {...view, log: this.log, tree: this.#tree("")};
  }

  #tree(name) {
    const node = this.nodes.get(name);
    return {...node, children: node.children.map((child) => this.#tree(child))};
  }
}

export class TreeView {
  constructor() {
    this.svg =
      s("svg",
        {class: "growth", role: "group", tabindex: "0", "aria-label": "Tree: arrows move it, + and − zoom, 0 fits it"});
    const button = (text, title, onclick) => h("button", {type: "button", "aria-label": title, title, onclick}, text);
    this.element =
      h("div", {className: "growth-frame"}, this.svg,
        h("div", {className: "row zooms"}, button("+", "Zoom in", () => this.#zoom(1.25)),
          button("−", "Zoom out", () => this.#zoom(0.8)), button("Fit", "Show the whole tree", () => this.fit()),
          button("1:1", "Letters in their full size, at the most visited move", () => this.home())));
    this.folds = new Map();  // by the user: true is folded
    this.place = null;  // {x, y, scale}: what of the drawing is at the upper left
    this.fingers = new Map();
    this.#listen();
  }

  /** Draw a view of the program, {tree, log, simulations, played}. */
  show(view) {
    this.view = view;
    this.#draw();
  }

  /** Another position: nothing is folded or moved by the user. */
  begin() {
    this.folds.clear();
    this.place = null;
  }

  #isFolded(node, depth) {
    if (!depth || !node.children.length || this.#isLit(node)) return false;
    return this.folds.get(node.id) ?? node.N < SMALL * this.view.simulations;
  }

  #isLit(node) { return node.lit && node.children.some((child) => child.lit) && this.view.log.length > 0; }

  #draw() {
    const {view} = this, boxes = [], lines = [], labels = [];
    const most = Math.max(1, ...view.tree.children.map((node) => node.N));
    let next = 0, root = 0, played = null, lit = null, deepest = 0;
    const place = (node, depth, label) => {
      const y = TOP + depth * LEVEL, isEnd = Boolean(node.phase), isNew = node.phase === "select",
            isFolded = this.#isFolded(node, depth);
      deepest = Math.max(deepest, depth);
      let x;
      const inside = isFolded ?
        [] :
        node.children.filter((child, index) => child.N > 0 || depth === 0 || index === 0 || child.lit || isEnd);
      if (inside.length) {
        const centres = inside.map((child) => place(child, depth + 1, child.move));
        x = (centres[0] + centres.at(-1)) / 2;
        inside.forEach((child, index) => {
          lines.push(s("line", {
            x1: x,
            y1: y + HIGH / 2,
            x2: centres[index],
            y2: y + LEVEL - HIGH / 2 - 33,
            class: `edge${child.lit ? " lit" : ""}`,
            "stroke-width": 1 + 7 * Math.sqrt(child.N / most)
          }));
          const text = (above, words) => s(
            "text", {x: centres[index], y: y + LEVEL - HIGH / 2 - above, class: "edge-label", "text-anchor": "middle"},
            words);
          labels.push(
            text(21, `N ${child.N}  Q ${signed(child.Q)}`), text(6, `P ${percent(child.P)}  U ${child.U.toFixed(2)}`));
        });
      } else {
        x = next + WIDE / 2 + GAP;
        next += WIDE + GAP;
      }
      if (!depth) root = x;
      if (depth === 1 && node.move === view.played) played = x;
      if (depth === 1 && node.lit && view.log.length) lit = x;
      const more = node.more + node.children.length - inside.length;
      if (more)
        labels.push(
          s("text", {x: x + 6, y: y + HIGH / 2 + 15, class: "edge-label more"},
            s("title", {}, `${more} more ${more === 1 ? "move is" : "moves are"} not drawn`), `${more} more`));
      const shade = depth === 0 || !node.N ? "" : node.Q >= 0 ? "good" : "bad";
      const text =
        depth ? `${label}${isEnd && node.v !== null ? `  v ${signed(node.v)}` : ""}` : `${label}  N ${node.N}`;
      const canFold = depth > 0 && node.children.length > 0 && !this.#isLit(node);
      boxes.push(
        s("g", {
          class: `node${node.lit && view.log.length ? " lit" : ""}${isNew ? " closed" : ""}${
            isEnd && !isNew ?
              " asked" :
              ""}${depth === 1 && node.move === view.played ? " played" : ""}${isFolded ? " folded" : ""}`,
          "data-node": node.id,
          ...(
            canFold ? {
              role: "button",
              tabindex: "0",
              "aria-expanded": String(!isFolded),
              "aria-label": `${label}, ${node.N} visits: ${isFolded ? "unfold" : "fold"}`
            } :
                      {})
        },
          s("rect", {
            x: x - WIDE / 2,
            y: y - HIGH / 2,
            width: WIDE,
            height: HIGH,
            rx: 9,
            class: `box ${shade}`,
            "fill-opacity": shade ? 0.12 + 0.6 * Math.abs(node.Q) : 1
          }),
          s("text", {x, y: y + 5, class: "name"}, text),
          canFold && !isEnd ?
            s("text", {x: x + WIDE / 2 - 10, y: y + 5, class: "fold", "aria-hidden": "true"}, isFolded ? "+" : "−") :
            null));
      return x;
    };
    place(view.tree, 0, "root");
    Object.assign(this, {width: next + GAP, height: TOP + deepest * LEVEL + HIGH + 14, root, played, lit});
    const focused = this.svg.contains(document.activeElement) ? document.activeElement.dataset.node : undefined;
    this.svg.replaceChildren(
      s("title", {}, `Tree after ${view.simulations} simulations; ${view.played ?? "nothing"} would be played`),
      ...lines, ...labels, ...boxes);
    if (focused !== undefined) this.svg.querySelector(`.node[data-node="${focused}"]`)?.focus({preventScroll: true});
    if (this.place) this.#apply();
    else this.home(false);
  }

  toggle(name) {
    const found = this.svg.querySelector(`.node[data-node="${name}"]`);
    if (!found?.hasAttribute("aria-expanded")) return;
    this.folds.set(name, found.getAttribute("aria-expanded") === "true");
    this.#draw();
  }

  #size() {
    const {clientWidth, clientHeight} = this.svg;
    return [clientWidth || 600, clientHeight || 416];
  }

  fit() {
    const [width, height] = this.#size(), scale = Math.min(width / this.width, height / this.height, 1.5);
    this.place = {scale, x: this.width / 2 - width / scale / 2, y: 0};
    this.#apply();
  }

  /**
   * Letters in their full size, with the most visited move, and as far as there is room the root and the newest path; a
   * small tree as a whole.
   */
  home(isByUser = true) {
    const [width] = this.#size(), places = [this.played, this.root, this.lit].filter((x) => x !== null);
    const areNear = (some) => Math.max(...some) - Math.min(...some) + WIDE + 2 * GAP <= width;
    while (places.length > 1 && !areNear(places)) places.pop();
    const middle = (Math.min(...places) + Math.max(...places)) / 2;
    this.place = {
      scale: 1,
      x: this.width <= width ? (this.width - width) / 2 : Math.min(Math.max(middle - width / 2, 0), this.width - width),
      y: 0
    };
    this.#apply();
    if (!isByUser) this.place = null;
  }

  /** Zoom around a point of the drawing's frame, in pixels. */
  #zoom(factor, [x, y] = this.#size().map((length) => length / 2)) {
    this.place ??= this.shown;
    const scale = Math.min(Math.max(this.place.scale * factor, ZOOMS[0]), ZOOMS[1]),
          change = 1 / this.place.scale - 1 / scale;
    this.place = {scale, x: this.place.x + x * change, y: this.place.y + y * change};
    this.#apply();
  }

  /** Move the drawing by pixels. */
  #pan(right, down) {
    this.place ??= this.shown;
    this.place = {...this.place, x: this.place.x - right / this.place.scale, y: this.place.y - down / this.place.scale};
    this.#apply();
  }

  /** Show the place; some of the tree is always in sight. */
  #apply() {
    const [width, height] = this.#size(), {scale} = this.place,
                  inside = (wanted, shown, whole) => Math.min(Math.max(wanted, 60 / scale - shown), whole - 60 / scale);
    const x = inside(this.place.x, width / scale, this.width), y = inside(this.place.y, height / scale, this.height);
    this.place = this.shown = {scale, x, y};
    this.svg.setAttribute("viewBox", `${x} ${y} ${width / scale} ${height / scale}`);
  }

  #listen() {
    const svg = this.svg;
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) {
        if (!event.deltaX && !event.shiftKey) return;  // the page scrolls
        event.preventDefault();
        return this.#pan(-(event.deltaX || event.deltaY), 0);
      }
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      this.#zoom(Math.exp(-event.deltaY / 400), [event.clientX - box.x, event.clientY - box.y]);
    }, {passive: false});
    svg.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
      this.moved = 0;
    });
    svg.addEventListener("pointermove", (event) => {
      const before = this.fingers.get(event.pointerId);
      if (!before) return;
      const now = [event.clientX, event.clientY], other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
      this.moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (this.moved > 4 && !svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
      if (other) {
        const far = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]), box = svg.getBoundingClientRect();
        if (far(before) > 1)
          this.#zoom(far(now) / far(before), [(now[0] + other[0]) / 2 - box.x, (now[1] + other[1]) / 2 - box.y]);
      } else if (this.moved > 4) this.#pan(now[0] - before[0], now[1] - before[1]);
      this.fingers.set(event.pointerId, now);
    });
    for (const ended of ["pointerup", "pointercancel"])
      svg.addEventListener(ended, (event) => this.fingers.delete(event.pointerId));
    svg.addEventListener("click", (event) => {
      const node = event.target.closest(".node");
      if (node && !(this.moved > 4)) this.toggle(node.dataset.node);
      this.moved = 0;
    });
    svg.addEventListener("focusin", (event) => {  // a node that gets the focus comes into sight
      const node = event.target.closest(".node")?.getBoundingClientRect(), frame = svg.getBoundingClientRect();
      if (!node || this.fingers.size) return;
      const off = (from, to, low, high) => (from < low ? low - from + 20 : to > high ? high - to - 20 : 0);
      const right = off(node.left, node.right, frame.left, frame.right),
            down = off(node.top, node.bottom, frame.top, frame.bottom);
      if (right || down) this.#pan(right, down);
    });
    svg.addEventListener("keydown", (event) => {
      const step = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]}[event.key];
      const node = event.target.closest(".node");
      if (step) this.#pan(...step);
      else if (event.key === "+" || event.key === "=") this.#zoom(1.25);
      else if (event.key === "-") this.#zoom(0.8);
      else if (event.key === "0") this.fit();
      else if (node && (event.key === "Enter" || event.key === " ")) this.toggle(node.dataset.node);
      else return;
      event.preventDefault();
    });
  }
}
