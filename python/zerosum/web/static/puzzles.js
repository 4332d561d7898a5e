// Puzzles from one's own games: the mistakes of one reviewed game, or of all, each as a position to solve.

import {setAddress} from "./address.js";
import {Board, otherMoves} from "./board.js";
import {choice, h, percent, toast} from "./dom.js";
import {sideName} from "./engine_lines.js";
import {forget, keepReview, keepSolved, reviewedGame, reviewedGames} from "./mistakes.js";
import {ask, whenOpen} from "./wire.js";

const WORDS = {
  "?": "mistake",
  "??": "blunder"
};

const EMPTY = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100'/>";
const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value));
const named = ({game, moves, start, vs}) => ({game, moves, start, vs});

export function show(main, fields) {
  const isOneGame = fields.has("moves");
  let view = null, games = [], of = fields.get("of") ?? "", at = Math.max(0, Math.trunc(Number(fields.get("at"))) || 0),
      answer = null;
  const board = new Board(solve, "Position to solve");
  const says = h("p", {className: "says", role: "status", "aria-live": "polite"});
  const told = h("div", {className: "told"}), others = h("div", {className: "others"});
  const list = h("div", {className: "puzzle-games"}), buttons = h("div", {className: "row"});
  const back = h("p"), kinds = h("div");
  const positionsPanel = h("div", {className: "panel"}, h("h2", {}, "Positions"), kinds, list);
  main.append(
    h("h1", {}, "Your mistakes as puzzles"), back,
    h("div", {className: "puzzles"}, h("section", {className: "stage"}, board.whole),
      h("section", {className: "side"}, h("div", {className: "panel"}, says, others, told, buttons), positionsPanel)));

  /** The positions to solve, of one game after the other. */
  const positions = () =>
    games.filter((game) => !of || game.game === of).flatMap((game) => game.puzzles.map((puzzle) => ({game, puzzle})));

  async function open() {
    try {
      if (isOneGame) await openGame();
      else games = reviewedGames();
      if (!games.some((one) => one.game === of)) of = "";
      const all = positions();
      if (all.length) return await go(Math.min(at, all.length - 1));
      clear(
        isOneGame ?
          "The review of this game found no mistakes: there is nothing to solve." :
          "No mistakes are kept in this browser yet: review a game in Analyse, then its mistakes can be solved here.");
      if (!isOneGame) back.replaceChildren(h("a", {href: "#/analyse"}, "Analyse a game"));
    } catch (error) { says.textContent = error.message; }
  }

  /** The game of the address: this browser has its mistakes, or the program has its review. */
  async function openGame() {
    const wanted = named({game: "", ...Object.fromEntries(fields)});
    const links = [h("a", {href: `#/analyse?${query(wanted)}`}, "← The whole game")];
    if (!reviewedGame(wanted)) {
      view = await ask("study.open", wanted);
      const {puzzles} = await ask("study.puzzles");
      keepReview({...wanted, title: "", day: "", puzzles});
    }
    games = [reviewedGame(wanted)].filter(Boolean);
    if (reviewedGames().length > 1) links.push(" ", h("a", {href: "#/puzzles"}, "All games"));
    back.replaceChildren(...links);
  }

  async function go(number) {
    const {game, puzzle} = positions()[number];
    at = number;
    answer = null;
    try {
      view = await ask("study.open", {...named(game), ply: puzzle.ply});
    } catch (error) {  // such as a game of a file that the program was not started with
      return clear(error.message);
    }
    if (Boolean(view.board.flipped) !== (puzzle.player === 1) && view.board.turns)
      view = await ask("study.view", {flipped: puzzle.player === 1});
    setAddress("puzzles", {...(isOneGame ? named(game) : {of}), at});
    render();
  }

  /** No position is shown, but why. */
  function clear(why) {
    view = null;
    board.show({svg: EMPTY, cells: []});
    says.textContent = why;
    for (const place of [others, told, buttons]) place.replaceChildren();
    renderList();
  }

  async function solve(action) {
    if (answer?.right) return;
    try {
      const {game, puzzle} = positions()[at];
      const {played, best, rate, loss} = puzzle;
      answer = await ask("study.solve", {action, played, best, rate, loss, vs: game.vs});
      if (answer.right) {
        puzzle.solved = true;
        keepSolved(game, puzzle.ply);
      }
      render();
    } catch (error) { toast(error.message); }
  }

  function render() {
    const all = positions(), {puzzle} = all[at], {player, mark, text, line, cells} = puzzle;
    board.mover = view.mover;
    board.choices = view.choices;
    const isOpen = !answer?.right;
    board.show(view.board, isOpen ? view.moves : [], {arrows: isOpen ? [] : [[cells, 0.6, "best"]]});
    others.replaceChildren(...(isOpen ? otherMoves(view.moves, solve) : []));
    const turn = `${sideName(view, player)} to move. In the game ${text} was played, a ${WORDS[mark]}`;
    says.textContent = answer ? verdict(puzzle) : `${turn}: find a better move.`;
    told.replaceChildren(...(isOpen ? [] : [h("p", {className: "dim"}, `The best line: ${line.join(" ")}.`)]));
    const reveal = () => {
      answer = {right: true, isShown: true};
      render();
    };
    buttons.replaceChildren(
      isOpen ? h("button", {type: "button", onclick: reveal}, "Show the answer") : "",
      at + 1 < all.length ?
        h("button", {type: "button", className: isOpen ? "" : "main", onclick: () => go(at + 1)}, "Next position") :
        "");
    renderList();
    document.title = `Puzzle of move ${puzzle.ply + 1} · zerosum`;
  }

  function renderList() {
    const all = positions(), names = [...new Set(games.map((game) => game.game))];
    positionsPanel.hidden = !games.length;
    const choose = (value) => {
      of = value;
      go(0);
    };
    kinds.replaceChildren(
      names.length > 1 ? choice("Game", [["", "all games"], ...names.map((name) => [name, name])], of, choose) : "");
    list.replaceChildren(...games.filter((game) => !of || game.game === of).flatMap((game) => {
      const rows = all.map((one, index) => [one, index]).filter(([one]) => one.game === game);
      const items = h("ol", {className: "puzzle-list", "aria-label": "Puzzles"}, rows.map(([{puzzle}, index]) => {
        const name = `Move ${puzzle.ply + 1}${puzzle.solved ? ", solved" : ""}`;
        const current = index === at ? "true" : null;
        return h("li", {}, h("button", {type: "button", "aria-current": current, onclick: () => go(index)}, name));
      }));
      if (isOneGame) return [items];
      const title = [game.game, game.title, game.day].filter(Boolean).join(", ");
      const drop = () => {
        forget(game);
        if (!reviewedGames().some((one) => one.game === of)) of = "";
        open();
      };
      const links = [
        h("a", {href: `#/analyse?${query(named(game))}`}, title), " ",
        h("button", {type: "button", className: "quiet", title: `Forget the mistakes of ${title}`, onclick: drop},
          "Forget")
      ];
      return [h("h3", {}, links), items];
    }));
  }

  function verdict({line}) {
    if (answer.isShown) return `The best move is ${line[0]}.`;
    if (answer.isBest) return `${answer.text} is right, the best move.`;
    if (answer.right)
      return `${answer.text} is good, it gives away ${percent(answer.loss, 1)} at most. Best was ${line[0]}.`;
    const why = answer.isPlayed ? "is the move of the game" : `gives away ${percent(answer.loss, 1)}`;
    return `${answer.text} ${why}: try again.`;
  }

  whenOpen(open);
}
