// Puzzles from one's own games: the mistakes of a review, each as a position to solve.

import {setAddress} from "./address.js";
import {Board, otherMoves} from "./board.js";
import {h, percent, toast} from "./dom.js";
import {sideName} from "./engine_lines.js";
import {ask, whenOpen} from "./wire.js";

const WORDS = {
  "?": "mistake",
  "??": "blunder"
};

export function show(main, fields) {
  let view = null, puzzles = [], at = 0, answer = null;
  const solved = new Set();
  const board = new Board(solve, "Position to solve");
  const says = h("p", {className: "says", role: "status", "aria-live": "polite"});
  const told = h("div", {className: "told"}), others = h("div", {className: "others"});
  const list = h("ol", {className: "puzzle-list", "aria-label": "Puzzles"}), buttons = h("div", {className: "row"});
  const back = h("p");
  main.append(
    h("h1", {}, "Your mistakes as puzzles"), back,
    h("div", {className: "puzzles"}, h("section", {className: "stage"}, board.whole),
      h("section", {className: "side"}, h("div", {className: "panel"}, says, others, told, buttons),
        h("div", {className: "panel"}, h("h2", {}, "Positions"), list))));

  const link = () => ({
    game: fields.get("game") ?? "",
    moves: fields.get("moves") ?? "",
    start: fields.get("start"),
    vs: fields.get("vs")
  });

  async function open() {
    try {
      view = await ask("study.open", link());
      const analysis = `#/analyse?${new URLSearchParams(Object.entries(link()).filter(([, value]) => value))}`;
      back.replaceChildren(h("a", {href: analysis}, "← The whole game"));
      ({puzzles} = await ask("study.puzzles"));
      if (puzzles.length) await go(Math.min(Number(fields.get("at") ?? 0), puzzles.length - 1));
      else says.textContent = "The review of this game found no mistakes: there is nothing to solve.";
    } catch (error) { says.textContent = error.message; }
  }

  async function go(number) {
    at = number;
    answer = null;
    const {ply, player} = puzzles[at];
    view = await ask("study.goto", {ply});
    if (Boolean(view.board.flipped) !== (player === 1) && view.board.turns)
      view = await ask("study.view", {flipped: player === 1});
    setAddress("puzzles", {...link(), at});
    render();
  }

  async function solve(action) {
    if (answer?.right) return;
    try {
      answer = await ask("study.solve", {ply: puzzles[at].ply, action, vs: fields.get("vs")});
      if (answer.right) solved.add(at);
      render();
    } catch (error) { toast(error.message); }
  }

  function render() {
    const {ply, player, mark, played} = puzzles[at];
    board.mover = view.mover;
    board.choices = view.choices;
    const isOpen = !answer?.right;
    const arrows = answer?.right ? [[answer.cells, 0.6, "best"]] : [];
    board.show(view.board, isOpen ? view.moves : [], {arrows});
    others.replaceChildren(...(isOpen ? otherMoves(view.moves, solve) : []));
    const turn = `${sideName(view, player)} to move. In the game ${played} was played, a ${WORDS[mark]}`;
    says.textContent = answer ? verdict() : `${turn}: find a better move.`;
    told.replaceChildren(
      ...(answer?.right ? [h("p", {className: "dim"}, `The best line: ${answer.best.join(" ")}.`)] : []));
    buttons.replaceChildren(
      isOpen ? h("button", {type: "button", onclick: reveal}, "Show the answer") : "",
      at + 1 < puzzles.length ?
        h("button", {type: "button", className: isOpen ? "" : "main", onclick: () => go(at + 1)}, "Next position") :
        "");
    list.replaceChildren(...puzzles.map((one, index) => {
      const name = `Move ${one.ply + 1}${solved.has(index) ? ", solved" : ""}`;
      const current = index === at ? "true" : null;
      return h("li", {}, h("button", {type: "button", "aria-current": current, onclick: () => go(index)}, name));
    }));
    document.title = `Puzzle of move ${ply + 1} · zerosum`;
  }

  function verdict() {
    if (answer.isShown) return `The best move is ${answer.best[0]}.`;
    if (answer.isBest) return `${answer.text} is right, the best move.`;
    if (answer.right)
      return `${answer.text} is good, it gives away ${percent(answer.loss, 1)} at most. Best was ${answer.best[0]}.`;
    const why = answer.isPlayed ? "is the move of the game" : `gives away ${percent(answer.loss, 1)}`;
    return `${answer.text} ${why}: try again.`;
  }

  /** The answer without a try. */
  async function reveal() {
    try {
      const {ply} = puzzles[at];
      const found = await ask("study.answer", {ply});
      answer = {...found, right: true, isShown: true};
      render();
    } catch (error) { toast(error.message); }
  }

  whenOpen(open);
}
