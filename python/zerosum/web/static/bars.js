// The bars of the two players above and below the board: name, pieces in hand or taken, clock.

import {drawing, h} from "./dom.js";

const LOW = 10;  // seconds from which a clock is red
const TENTHS = 20;  // seconds from which it shows tenths

export class Bars {
  constructor(board) {
    // The first bar is below the board.
    this.bars = [board.handsBelow, board.handsAbove].map((hand) => {
      const parts = {
        who: h("span", {className: "who"}),
        taken: h("span", {className: "taken"}),
        time: h("span", {className: "time"})
      };
      return {...parts, element: h("div", {className: "player-bar"}, parts.who, parts.taken, hand, parts.time)};
    });
    board.whole.prepend(this.bars[1].element);
    board.whole.append(this.bars[0].element);
    this.timer = null;
  }

  /** Show the bars of a game; the clock runs on until the next call. */
  show(view) {
    this.stop();
    this.view = view;
    this.since = performance.now();
    this.#places().forEach(({player, who, taken, element}) => {
      element.className = `player-bar${!view.over && view.mover === player ? " turn" : ""}`;
      const side = view.sides[player].replace(/^the /, "");
      who.replaceChildren(this.#name(player), h("span", {className: "dim"}, ` ${side}`));
      this.#taken(taken, player);
    });
    this.#clocks();
    if (view.clock && !view.over) this.timer = setInterval(() => this.#clocks(), 100);
  }

  stop() { clearInterval(this.timer); }

  /** A person against the computer is below, also where the board is not turned. */
  #places() {
    const {board, people} = this.view;
    const isFree = !board.turns && !board.hands?.length;  // pieces in hand stay on their side
    const below = isFree && people.length === 1 ? people[0] : board.flipped ? 1 : 0;
    return this.bars.map((bar, place) => ({...bar, player: place ? 1 - below : below}));
  }

  /** "You" or the computer's name; "" where two people play. */
  #name(player) {
    if (!this.view.people.includes(player)) return this.view.computers[player];
    return this.view.people.length === 1 ? "You" : "";
  }

  /** The pieces that a player has taken, and by how much its own are worth more. */
  #taken(place, player) {
    const pieces = this.view.taken[player], ahead = (player === 0 ? 1 : -1) * (this.view.counts.material ?? 0);
    const words = pieces.map(([sign, number]) => `${number} ${sign}`).join(", ");
    place.replaceChildren(...pieces.flatMap(([, number, svg]) => Array.from({length: number}, () => {
      const picture = drawing(svg);
      picture.setAttribute("aria-hidden", "true");
      return picture;
    })));
    if (words) place.append(h("span", {className: "unseen"}, `has taken ${words}`));
    if (pieces.length && ahead > 0) place.append(h("span", {className: "dim"}, ` +${ahead}`));
  }

  #clocks() {
    const {view} = this;
    this.#places().forEach(({player, time}) => {
      const isTurn = !view.over && view.mover === player;
      if (!view.clock) {
        const isThinking = isTurn && !view.people.includes(player);
        const sign = h("span", {className: "thinking", role: "img", "aria-label": "is thinking"}, "…");
        time.replaceChildren(isThinking ? sign : "");
        return;
      }
      let left = view.clock.left[player];
      if (view.clock.running === player) left -= (performance.now() - this.since) / 1000;
      left = Math.max(left, 0);
      const seconds = String(Math.floor(left % 60)).padStart(2, "0");
      const text = left < TENTHS ? left.toFixed(1) : `${Math.floor(left / 60)}:${seconds}`;
      time.replaceChildren(h("time", {className: left < LOW ? "low" : ""}, text));
    });
  }
}
