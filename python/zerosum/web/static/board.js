// A board: the server's drawing, and over it places to click, drag or walk to with the arrow keys.

import {choice, drawing, h, s} from "./dom.js";
import {shapes} from "./marks.js";

const CROPPED = 9;  // of the drawing's margin, in its units
const MEN = {
  q: "Queen",
  r: "Rook",
  b: "Bishop",
  n: "Knight",
  k: "King"
};

const SLIDE_MS = 180;
const rank = (move) => ["q", "+", "r", "b", "n", ""].indexOf(move.rest);

export class Board {
  /** @param {(action: number) => void} play makes a move */
  constructor(play, label = "Board") {
    this.play = play;
    this.element = h("div", {className: "board", role: "application", "aria-label": label});
    this.handsAbove = h("div", {className: "hand"});
    this.handsBelow = h("div", {className: "hand"});
    this.whole = h("div", {className: "board-with-hands"}, this.handsAbove, this.element, this.handsBelow);
    this.chosen = null;
    this.focused = 0;
    this.moves = [];
    this.choices = {};
    this.mayPlan = false;  // whether a move may be planned while there are none
    this.planned = null;  // {source, target}
    this.ownWord = null;  // how the names of the mover's pieces begin; null if moves have no source
    this.wasDragged = false;
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show a board as the server sends it, with the legal moves there; marks: {arrows, heat, ownership}. */
  show(board, moves = [], marks = {}) {
    const hadFocus = this.element.contains(document.activeElement);
    this.board = board;
    this.moves = moves.map(([action, text, source, targets, rest]) => ({action, text, source, targets, rest}));
    this.chosen = null;
    this.mayPlan = false;
    const source = this.moves.find((move) => typeof move.source === "number")?.source;
    if (this.moves.length) this.ownWord = source === undefined ? null : board.cells[source][3].split(" ")[0];
    const picture = drawing(board.svg);
    picture.setAttribute("aria-hidden", "true");
    picture.removeAttribute("role");
    picture.classList.add("picture");
    this.element.replaceChildren(picture);
    this.element.classList.toggle("text-board", !board.cells.length);
    const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
    const box = [CROPPED, CROPPED, width - 2 * CROPPED, height - 2 * CROPPED];
    picture.setAttribute("viewBox", box.join(" "));
    this.whole.style.setProperty("--ratio", `${box[2]} / ${box[3]}`);
    this.whole.style.setProperty("--width", `${box[2] * 1.9}px`);
    this.over = s("svg", {viewBox: box.join(" "), class: "over"});
    this.marksLayer = s("g", {class: "marks", "aria-hidden": "true"});
    this.cellsLayer = s("g", {role: "grid", "aria-label": "Cells"});
    this.over.append(this.marksLayer, ...(board.cells.length ? [this.cellsLayer] : []));
    this.element.append(this.over);
    this.cells = board.cells.map(([x, y, name, piece], cell) => this.#cell(x, y, name, piece, cell));
    this.cellsLayer.append(...this.#rows());
    this.#hands(board.hands ?? []);
    this.mark(marks);
    this.#light();
    if (this.cells.length) {
      this.focused = Math.min(this.focused, this.cells.length - 1);
      this.#rove(hadFocus);
    }
  }

  /** The cells in rows, from the top left of the board as it is seen: screen readers walk through them so. */
  #rows() {
    const {columns, flipped} = this.board, rows = [];
    const inOrder = flipped ? [...this.cells].reverse() : this.cells;
    for (let at = 0; at < inOrder.length; at += columns)
      rows.push(s("g", {role: "row"}, inOrder.slice(at, at + columns)));
    return rows;
  }

  /**
   * Draw over the board: arrows [[cells, share, kind, words]], heat [[cell, share]], ownership [-1 … 1 a cell], numbers
   * of moves [[cell, number]], and dots of what moves lost [[cell, level, words]].
   */
  mark(marks = {}) {
    if (!this.board?.cells.length) return;
    this.marksLayer.replaceChildren(...shapes(this.board, marks));
    this.element.classList.toggle("numbered", Boolean(marks.numbers?.length));
  }

  /** The newest move as a short motion: from its source, down its column, or out of nothing. */
  slide(cells) {
    const isDone = this.wasDragged;
    this.wasDragged = false;
    if (!cells.length || isDone || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const target = cells.at(-1), piece = this.#pieceAt(target), [x, y, name] = this.board.cells[target];
    const [fromX, fromY] = cells.length > 1 ? this.board.cells[cells[0]] : name ? [x, y] : [x, this.board.cells[0][1]];
    const isStill = fromX === x && fromY === y;
    const frames =
      isStill ? [{opacity: 0}, {opacity: 1}] : [{translate: `${fromX - x}px ${fromY - y}px`}, {translate: "0px"}];
    piece?.parentNode.append(piece);  // above the others
    piece?.animate(frames, {duration: SLIDE_MS, easing: cells.length > 1 ? "ease-out" : "ease-in"});
  }

  // ---- a move planned while the opponent thinks

  /** Play the planned move if it is legal now; in any case it is planned no more once there are moves. */
  playPlanned() {
    const planned = this.planned;
    if (!this.moves.length || !planned) return this.#light();
    this.planned = null;
    const found = this.moves.filter((move) => move.source === planned.source && move.targets.includes(planned.target));
    found.sort((a, b) => rank(a) - rank(b));
    this.#light();
    if (found.length) this.play(found[0].action);
  }

  /** The planned move, or its first half, by the cell that was chosen. */
  #plan(place) {
    if (place === null || typeof place === "string") {  // a piece in hand, or none any more
      this.planned = null;
      return this.#take(place);
    }
    if (this.chosen !== null && this.chosen !== place) {
      this.planned = {source: this.chosen, target: place};
      return this.#take(null);
    }
    this.planned = null;
    if (this.ownWord === null) this.planned = {source: null, target: place};
    const isOwn = this.ownWord !== null && this.board.cells[place]?.[3].startsWith(this.ownWord);
    this.#take(isOwn && this.chosen !== place ? place : null);
  }

  #cell(x, y, name, piece, cell) {
    const side = this.board.side;
    const rect = s("rect", {x: x - side / 2, y: y - side / 2, width: side, height: side, class: "cell"});
    const dot = s("circle", {cx: x, cy: y, r: side * 0.16, class: "target"});
    const {columns, cells} = this.board;
    const label =
      [name || `column ${(cell % columns) + 1}, row ${cells.length / columns - Math.floor(cell / columns)}`, piece]
        .filter(Boolean)
        .join(", ");
    const group =
      s("g", {role: "gridcell", tabindex: "-1", "aria-label": label, "data-cell": cell, "data-name": name}, rect, dot);
    group.addEventListener("pointerdown", (event) => this.#press(event, cell));
    group.addEventListener("pointerenter", () => this.#land(cell));
    group.addEventListener("pointerleave", () => this.#land(null));
    group.addEventListener("click", (event) => {
      if (event.detail === 0) this.choose(cell);
    });
    return group;
  }

  /** Mark the cell that a stone falls to if a column is under the pointer. */
  #land(cell) {
    const column = this.chosen === null &&
      this.moves.find((move) => move.source === null && move.targets.length > 1 && move.targets.includes(cell));
    const lowest = column ? column.targets.findLast((target) => !this.board.cells[target][3]) : null;
    this.cells.forEach((group, number) => group.classList.toggle("landing", number === lowest));
  }

  #press(event, cell) {
    if (event.button) return;
    event.preventDefault();
    this.element.classList.remove("keys");
    event.target.releasePointerCapture?.(event.pointerId);
    this.focused = cell;
    this.#rove(true);
    this.pressed?.ended.abort();
    const ended = new AbortController(), {signal} = ended;
    this.pressed = {cell, wasChosen: this.chosen === cell, x: event.clientX, y: event.clientY, ended};
    addEventListener("pointermove", (moved) => this.#drag(moved), {signal});
    addEventListener("pointerup", (released) => this.#release(released), {signal});
    addEventListener("pointercancel", () => this.#drop(), {signal});
    this.choose(cell);
  }

  /** A pressed piece follows the pointer. */
  #drag(event) {
    const pressed = this.pressed;
    if (!pressed || this.chosen !== pressed.cell) return;
    const right = event.clientX - pressed.x, down = event.clientY - pressed.y;
    if (pressed.piece === undefined && Math.hypot(right, down) > 4) {
      pressed.piece = this.#pieceAt(pressed.cell);
      pressed.piece?.parentNode.append(pressed.piece);  // above the others
    }
    if (!pressed.piece) return;
    const unit = this.cells[pressed.cell].getBoundingClientRect().width / this.board.side;
    pressed.piece.style.setProperty("translate", `${right / unit}px ${down / unit}px`);
  }

  /** The drawing of the piece on a cell: pieces have no names, so it is found by its place. */
  #pieceAt(cell) {
    const {x, y, width} = this.cells[cell].querySelector(".cell").getBoundingClientRect();
    const picture = this.element.querySelector(".picture");
    return [...picture.children].reverse().find((one) => {
      if (!["use", "g", "text", "circle"].includes(one.tagName) || one.classList.contains("label")) return false;
      const box = one.getBoundingClientRect();
      return box.width > width / 3 &&
        Math.hypot(box.x + box.width / 2 - x - width / 2, box.y + box.height / 2 - y - width / 2) < width / 4;
    }) ??
      null;
  }

  /**
   * End a press. A piece that was dragged stays where it was dropped if it has moved there, and goes back otherwise.
   */
  #drop(hasMoved = false) {
    const pressed = this.pressed;
    this.pressed = null;
    pressed?.ended.abort();
    this.wasDragged = hasMoved && Boolean(pressed?.piece);
    if (!hasMoved) pressed?.piece?.style.removeProperty("translate");
  }

  #release(event) {
    const pressed = this.pressed;
    if (!pressed || this.chosen !== pressed.cell) return this.#drop();
    const under = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
    const cell = under ? Number(under.dataset.cell) : null;
    const moves = cell === null || cell === pressed.cell ? [] : this.#between(pressed.cell, cell);
    const isPlanned = this.mayPlan && !this.moves.length && cell !== null && cell !== pressed.cell;
    this.#drop(moves.length === 1);
    if (moves.length || isPlanned) this.choose(cell);
    else if (pressed.wasChosen && cell === pressed.cell) this.#take(null);
  }

  #between(source, cell) { return this.moves.filter((move) => move.source === source && move.targets.includes(cell)); }

  /** A cell, or the sign of a piece in hand, was chosen. */
  choose(place) {
    if (this.onMark && this.board.cells[place]?.[3]) return this.onMark(place);
    if (this.mayPlan && !this.moves.length) return this.#plan(place);
    if (this.chosen !== null && this.chosen !== place) {
      const found = this.#between(this.chosen, place);
      if (found.length) return this.#make(found);
    }
    if (this.moves.some((move) => move.source === place)) return this.#take(place);
    const direct = this.moves.filter((move) => move.source === null && move.targets.includes(place));
    if (direct.length) return this.#make(direct);
    this.#take(null);
  }

  #take(place) {
    this.chosen = place;
    this.#light();
  }

  #make(found) {
    this.chosen = null;
    if (found.length === 1) {
      this.#light();
      this.play(found[0].action);
      return;
    }
    const name = (move) =>
      (move.rest === "+"  ? "Promote" :
         move.rest === "" ? "Do not promote" :
                            MEN[move.rest] ?? move.text);
    const dialog =
      h("dialog", {className: "promotion", "aria-label": "Choose the move"},
        [...found]
          .sort((a, b) => rank(a) - rank(b))
          .map(
            (move) =>
              h("button", {
                type: "button",
                title: name(move),
                "aria-label": name(move),
                onclick: () => {
                  dialog.close();
                  this.play(move.action);
                }
              },
                this.choices?.[move.action] ? drawing(this.choices[move.action]) : name(move))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      this.#light();
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    this.element.append(dialog);
    dialog.showModal();
    // At the square, and inside the window.
    const square = this.cells[found[0].targets[0]]?.getBoundingClientRect(), size = dialog.getBoundingClientRect();
    if (!square) return;
    const inside = (wanted, length, whole) => `${Math.max(4, Math.min(wanted, whole - length - 4))}px`;
    dialog.style.setProperty("left", inside(square.x + square.width / 2 - size.width / 2, size.width, innerWidth));
    dialog.style.setProperty("top", inside(square.y, size.height, innerHeight));
  }

  #light() {
    const sources = new Set(), targets = new Set();
    for (const move of this.moves) {
      if (this.chosen === null) {
        if (move.source === null) {
          if (move.targets.length === 1) targets.add(move.targets[0]);
        } else sources.add(move.source);
      } else if (move.source === this.chosen) move.targets.forEach((target) => targets.add(target));
    }
    const quiet = this.chosen === null;
    // Where few of the empty squares may be played on, as in Othello, they are shown before they are looked for.
    const areFew = 2 * targets.size < this.board.cells.filter((cell) => !cell[3]).length;
    this.cells.forEach((group, cell) => {
      group.classList.toggle("chosen", this.chosen === cell);
      group.classList.toggle("legal", targets.has(cell) && !quiet);
      group.classList.toggle("open", targets.has(cell) && quiet);
      group.classList.toggle("few", targets.has(cell) && quiet && areFew);
      group.classList.toggle("source", sources.has(cell));
      group.classList.toggle("planned", [this.planned?.source, this.planned?.target].includes(cell));
      group.classList.toggle(
        "column",
        quiet &&
          this.moves.some((move) => move.source === null && move.targets.length > 1 && move.targets.includes(cell)));
      group.classList.toggle("occupied", Boolean(this.board.cells[cell][3]));
    });
    const isPlanning = this.mayPlan && !this.moves.length, owner = String(isPlanning ? 1 - this.mover : this.mover);
    for (const button of this.whole.querySelectorAll(".hand button")) {
      const {sign, player} = button.dataset, isOwn = player === owner;
      button.disabled = !isOwn || !(isPlanning || this.moves.some((move) => move.source === sign));
      button.setAttribute("aria-pressed", String(isOwn && this.chosen === sign));
      button.classList.toggle("planned", isOwn && this.planned?.source === sign);
    }
  }

  #hands(hands) {
    const above = this.board.flipped ? 0 : 1;
    this.whole.classList.toggle("with-hands", hands.length > 0);
    for (const [place, player] of [[this.handsAbove, above], [this.handsBelow, 1 - above]]) {
      const hand = hands.find((one) => one.player === player);
      place.hidden = !hand;
      place.replaceChildren(
        h("span", {className: "hand-name"}, hand?.name ?? ""),
        ...(hand?.pieces ?? []).map(([sign, number, svg, name]) => {
          const picture = drawing(svg);
          picture.setAttribute("aria-hidden", "true");
          return h(
            "button", {
              type: "button",
              disabled: true,  // until it may be dropped
              "data-sign": sign,
              "data-player": String(player),
              title: name,
              "aria-label": `${number} ${name} in hand`,
              onclick: () => this.choose(this.chosen === sign ? null : sign)
            },
            picture, number > 1 ? h("b", {className: "number"}, String(number)) : null);
        }));
    }
  }

  #rove(isFocused) {
    this.cells.forEach((group, cell) => group.setAttribute("tabindex", cell === this.focused ? "0" : "-1"));
    if (isFocused) this.cells[this.focused].focus({preventScroll: true});
  }

  #key(event) {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (!this.cells?.length || event.target.closest("dialog")) return;
    this.element.classList.add("keys");
    if (step) {
      const columns = this.board.columns, sign = this.board.flipped ? -1 : 1;
      const column = (this.focused % columns) + sign * step[0],
            row = Math.floor(this.focused / columns) + sign * step[1];
      if (column >= 0 && column < columns && row >= 0 && row < this.cells.length / columns) {
        this.focused = row * columns + column;
        this.#rove(true);
      }
    } else if (event.key === "Enter" || event.key === " ") this.choose(this.focused);
    else if (event.key === "Escape") this.#take(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Buttons for moves that have no place on the board, such as a pass. */
export function otherMoves(moves, play) {
  return moves.filter(([, , , targets]) => !targets.length)
    .slice(0, 120)
    .map(
      ([action, text]) => h("button", {type: "button", onclick: () => play(action)}, text === "pass" ? "Pass" : text));
}

/** What the game says of a position, in sentences. */
export const captionsOf = (board) =>
  (board.captions ?? []).map((words) => (/[.!?:]$/.test(words) ? words : `${words}.`)).join(" ");

export {choice};
