// The tour: learn a game here, play the first and the last checkpoint, let both search a position, see what was learned
// when.

import {setAddress} from "./address.js";
import {Board} from "./board.js";
import {chart} from "./chart.js";
import {choice, drawing, h, percent, toast} from "./dom.js";
import {ask, whenOpen} from "./wire.js";

const POLL = 2000;
const SIMULATIONS = [
  ["1", "the network alone"], ["10", "10 simulations"], ["50", "50 simulations"], ["200", "200 simulations"],
  ["800", "800 simulations"]
];
const KINDS = {
  win: "Wins at once where it can",
  save: "Keeps the opponent from winning at once"
};

export function show(main, fields) {
  let tour = null, timer = null, isLeft = false, shown = "", moves = fields.get("moves") ?? "4 3 4 3 4",
      simulations = "1", answer = null, learnedOf = "";
  const run = fields.get("run") ?? "";
  const steps =
    ["Learn", "Play", "Search", "See"].map((name) => h("section", {className: "panel tour-step", "aria-label": name}));
  const status = h("p", {className: "says", role: "status", "aria-live": "polite"});
  const progress = h("progress", {max: 1, value: 0, "aria-label": "Progress of the training"});
  const replay = h("div", {className: "tour-live"}), numbers = h("div"), begin = h("div");
  const cores = h("p", {className: "dim"});
  const live = new Board(() => {}, "A game that the program has just played against itself");
  const boards = [0, 1].map(() => new Board((action) => go(action), "The position that both search"));
  const found = [0, 1].map(() => h("div", {className: "tour-found"}));
  const compareRow = h("div", {className: "row tour-asking"});
  const learned = h("div");
  main.append(
    h("h1", {}, "From nothing to a player, in two minutes"),
    h("p", {className: "lead"},
      "A network that knows the rules alone plays Connect Four against itself, " +
        "learns from these games, and plays again. All of this happens on this computer."),
    h("div", {className: "tour"}, ...steps));
  steps[0].append(
    h("h2", {}, "1. Let it learn"), status, progress, cores, begin, h("div", {className: "tour-two"}, replay, numbers));
  steps[1].append(h("h2", {}, "2. Play the beginner and the learner"), h("div", {className: "tour-links"}));
  steps[2].append(
    h("h2", {}, "3. Both look at the same position"),
    h("p", {className: "dim"},
      "Circles are the moves that each considers, with their shares in percent: of the search's visits, or of the " +
        "network's policy. Play a move on either board to ask about another position."),
    compareRow,
    h("div", {className: "tour-two"}, ...[0, 1].map((side) => h("div", {}, found[side], boards[side].whole))));
  steps[3].append(h("h2", {}, "4. What it learned, and when"), learned);

  async function refresh() {
    clearTimeout(timer);
    if (isLeft) return;
    try {
      tour = await ask("tour.open", {run});
      await drawLearning();
      const now = JSON.stringify(tour.checkpoints);
      if (now !== shown) {
        shown = now;
        drawLinks();
        if (tour.checkpoints.length > 1) await compare();
      }
      if (tour.checkpoints.length > 1 && !tour.live && learnedOf !== now) {
        learnedOf = now;
        await drawLearned();
      }
    } catch (error) { toast(error.message); }
    if (!isLeft) timer = setTimeout(refresh, POLL);
  }

  async function drawLearning() {
    const ended = tour.exists && !tour.live;
    begin.replaceChildren(...(
      tour.exists || tour.live ?
        [] :
        tour.allowed ?
        [h("button", {type: "button", className: "main", onclick: learn}, `Begin: ${tour.minutes} minutes`)] :
        [h("p", {}, "This page may not start trainings: start it with ", h("code", {}, "zerosum web --tour"), ".")]));
    progress.hidden = !tour.exists && !tour.live;
    if (!tour.exists) {
      status.textContent = tour.live ? "The training begins …" : "Nothing has been learned yet.";
      for (const one of steps.slice(1)) one.hidden = true;
      return;
    }
    for (const one of steps.slice(1, 3)) one.hidden = tour.checkpoints.length < 2;
    steps[3].hidden = tour.checkpoints.length < 2;
    const curves = await ask("runs.curves", {run: tour.run}), last = curves.rows.at(-1);
    progress.value = ended ? 1 : Math.min((last?.minutes ?? 0) / tour.minutes, 1);
    const games = last?.games ?? 0;
    status.textContent = `${ended ? "It has learned" : "It learns"}: ${games.toLocaleString()} games against itself, ${
      (last?.step ?? 0).toLocaleString()} steps, ${tour.checkpoints.length} checkpoint${
      tour.checkpoints.length === 1 ? "" : "s"}${last ? `, after ${Math.round(60 * last.minutes)} seconds` : ""}.`;
    cores.textContent = curves.cores;  // where other programs take the computer's time, little is learned
    numbers.replaceChildren(chart(
      [{
        name: tour.run,
        points: curves.rows.filter((row) => row.policy_loss !== null).map((row) => [row.minutes, row.policy_loss])
      }],
      {title: "How much its games surprise it (policy loss)", x: "minutes"}));
    const {games: newest} = await ask("runs.games", {run: tour.run});
    if (newest.length && replay.dataset.game !== String(newest[0].id)) {
      // Where games end quickly it may have gone from the newest ones by now: the next poll shows another.
      const game =
        await ask("runs.game", {run: tour.run, number: newest[0].id, ply: newest[0].plies}).catch(() => null);
      if (!game) return;
      replay.dataset.game = newest[0].id;
      replay.replaceChildren(
        h("p", {className: "dim"},
          `Game ${newest[0].id} against itself, ${newest[0].plies} moves: ${newest[0].ending}.`),
        live.whole);
      live.show(game.board, [], {});
    }
  }

  async function learn() {
    try {
      const {command} = await ask("tour.learn");
      toast(command);
      begin.replaceChildren();
      status.textContent = "The training begins …";
      timer = setTimeout(refresh, POLL);
    } catch (error) { toast(error.message); }
  }

  const ends = () => [tour.checkpoints[0], tour.checkpoints.at(-1)];
  const told = (one) => (one.step === 0 ? "before it learned" : `after ${one.step.toLocaleString()} steps`);

  function drawLinks() {
    if (tour.checkpoints.length < 2) return;
    const play = (one, words) =>
      h("a", {
        className: "button main",
        href: `#/play?${new URLSearchParams({game: tour.game, vs: `${one.name}@50`, side: "0"})}`
      },
        `${words} (${told(one)})`);
    const [first, last] = ends();
    steps[1]
      .querySelector(".tour-links")
      .replaceChildren(
        play(first, "Play the first"), " ", play(last, "Play the last"), " ",
        h("a", {
          className: "button",
          href: `#/match?${new URLSearchParams({game: tour.game, first: last.name, second: first.name})}`
        },
          "Let them play each other"));
  }

  async function compare() {
    const [first, last] = ends();
    try {
      answer = await ask(
        "tour.compare",
        {game: tour.game, moves, first: first.name, second: last.name, simulations: Number(simulations)});
    } catch (error) { return toast(error.message); }
    if (run) setAddress("tour", {run, moves});
    else setAddress("tour", {moves});
    compareRow.replaceChildren(
      choice(
        "They search with", SIMULATIONS, simulations,
        (value) => {
          simulations = value;
          compare();
        }),
      h("button", {
        type: "button",
        disabled: !moves,
        onclick: () => {
          moves = moves.split(" ").slice(0, -1).join(" ");
          compare();
        }
      },
        "Take a move back"),
      h("a", {className: "button", href: `#/search?${new URLSearchParams({game: tour.game, moves, vs: last.name})}`},
        "Watch the last one search, step by step"));
    answer.sides.forEach((side, index) => {
      boards[index].mover = answer.mover;
      boards[index].show(
        answer.board, answer.moves,
        {heat: simulations === "1" ? side.heat : side.lines.map((line) => [line.cells.at(-1), line.share])});
      found[index].replaceChildren(
        h("h3", {}, index ? `The last, ${told(last)}` : `The first, ${told(first)}`),
        h("p", {}, "Would play ", h("b", {}, side.lines[0].moves[0]),
          `, and gives the player to move ${percent(side.rate)}.`));
    });
  }

  function go(action) {
    const text = answer.moves.find(([one]) => one === action)?.[1];
    if (!text) return;
    moves = `${moves} ${text}`.trim();
    compare();
  }

  async function drawLearned() {
    const {points, chance, counts, examples} = await ask("tour.learned", {run: tour.run});
    const kinds = Object.keys(counts).sort((a, b) => Object.keys(KINDS).indexOf(a) - Object.keys(KINDS).indexOf(b));
    const first = points[0], last = points.at(-1);
    learned.replaceChildren(
      h("p", {},
        "Positions of random games in which the rules know the right move. " +
          "The network answers without a search: how much of its policy is on that move?"),
      chart(
        kinds.map((kind) => ({name: KINDS[kind], points: points.map((point) => [point.step, point.shares[kind]])})),
        {title: "Share on the right move", x: "learner steps", low: 0, high: 1, format: (value) => percent(value)}),
      h("ul", {},
        kinds.map(
          (kind) => h(
            "li", {}, h("b", {}, KINDS[kind]),
            `: ${percent(first.shares[kind])} at first, ${percent(last.shares[kind])} at last; by chance it would be ${
              percent(chance[kind])} (${counts[kind]} positions).`))),
      h("div", {className: "tour-two"},
        examples.map(
          (one) =>
            h("figure", {className: "board-still"}, drawing(one.svg),
              h("figcaption", {}, `${KINDS[one.kind]}: ${one.right.join(" or ")}. `,
                h("button", {
                  type: "button",
                  onclick: () => {
                    moves = one.moves;
                    compare().then(() => steps[2].scrollIntoView({behavior: "smooth"}));
                  }
                },
                  "Ask both"))))));
  }

  whenOpen(refresh);
  return () => {
    isLeft = true;
    clearTimeout(timer);
  };
}
