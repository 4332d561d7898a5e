// Watch the textbook's search on any position, phase by phase or simulation by simulation.

import {setAddress} from "./address.js";
import {Board} from "./board.js";
import {button, repeating} from "./controls.js";
import {choice, drawing, h, percent, toast} from "./dom.js";
import {SEARCHES} from "./players.js";
import {Changes, TreeView} from "./tree.js";
import {ask, on, whenOpen} from "./wire.js";

const TARGETS = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];
const FIGURES = [1000, 10000, 100000, 1000000];
const ENDS = {
  proven: "the result is proven",
  memory: "its memory is full"
};
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

export function show(main, fields) {
  let view = null, link = {game: "connect4", moves: "", vs: "", start: ""}, opponents = [], games = [];
  const board = new Board((action) => go(action), "Position that is searched");
  const tree = new TreeView();
  const changes = new Changes();
  const says = h("p", {className: "says", role: "status", "aria-live": "polite"});
  const log = h("ol", {className: "log", "aria-label": "Log of simulations"});
  const weighing = h("div", {className: "weighing"});
  const figure = h("div", {className: "moments"});
  const trees = h("div", {className: "trees"}), figureSays = h("span");
  let figureSize = 10000, isDrawing = false;
  const drawButton = h("button", {type: "button", onclick: drawTrees}, "Draw the tree");
  const choosers = h("div", {className: "choosers"});
  const slider = (name, label, min, max, step) => {
    const shown = h("output"), input = h("input", {
                                 type: "range",
                                 min,
                                 max,
                                 step,
                                 "aria-label": label,
                                 oninput: () => {
                                   shown.textContent = Number(input.value).toFixed(2);
                                 },
                                 onchange: () => act("growth.settings", {[name]: Number(input.value)})
                               });
    return {
      set: (value) => {
        input.value = value;
        shown.textContent = Number(value).toFixed(2);
      },
      element: h("label", {}, `${label} `, input, shown)
    };
  };
  const c = slider("c", "c", 0, 10, 0.05), fpu = slider("fpu", "Q of unvisited moves", -1, 1, 0.05),
        noise = slider("noise", "Noise at the root", 0, 1, 0.05);
  const target = h("input", {
    type: "range",
    min: 0,
    max: TARGETS.length - 1,
    value: 3,
    "aria-label": "Simulations of a run",
    oninput: () => {
      shownTarget.textContent = TARGETS[target.value].toLocaleString();
    }
  });
  const shownTarget = h("output", {}, "100");
  const speed = h("input", {type: "range", min: 1, max: 30, value: 3, "aria-label": "Simulations or phases a second"});
  const phases = h("input", {type: "checkbox"});
  const [running, stop] = repeating("Run up to this number of simulations", speed, async () => {
    render(await (phases.checked ? ask("growth.phase") : ask("growth.step", {number: 1})));
    return view.simulations >= TARGETS[target.value] && !isUnderWay();
  });
  main.append(
    h("h1", {}, "Watch a search"),
    h("p", {className: "lead"},
      "The search of the paper, on any position: each simulation selects a path, expands and evaluates its end, " +
        "and backs the value up. Play moves on the board to search another position."),
    h("div", {className: "watch"}, h("section", {className: "panel"}, choosers, board.whole),
      h("section", {className: "panel"},
        h("div", {className: "row controls"}, button("Phase", "Show the next phase", () => act("growth.phase"), "main"),
          button("Step", "One simulation", () => act("growth.step", {number: 1})),
          button("×10", "Ten simulations", () => act("growth.step", {number: 10})),
          button("×100", "A hundred simulations", () => act("growth.step", {number: 100})),
          button("×1000", "A thousand simulations", () => act("growth.step", {number: 1000})),
          button("×10⁴", "Ten thousand simulations", () => act("growth.step", {number: 10000})), running,
          button("Back", "Back by one simulation", () => rewind(view.simulations - (isUnderWay() ? 0 : 1))),
          button("Reset", "Begin a new tree", () => act("growth.reset"))),
        h("div", {className: "row sliders"}, c.element, fpu.element, noise.element,
          h("label", {}, "Simulations ", target, shownTarget), h("label", {}, "Speed ", speed),
          h("label", {className: "check"}, phases, " Run phase by phase")),
        says, tree.element, weighing),
      h("section", {className: "panel"}, h("h2", {}, "The most visited positions"),
        h("p", {className: "dim"},
          "As figure 4 of the AlphaZero paper shows them: the value as a winning " +
            "percentage of the player to move at the root, the border as wide as the visits."),
        h("div", {className: "row moment-buttons"}), figure, h("h2", {}, "The tree of a long search"),
        h("p", {className: "dim"},
          "The fast search of the same position, up to a million simulations: the ten most visited positions after " +
            "100, 1,000, … of them. In the circle: the first player's winning chance in percent."),
        h("div", {className: "row"},
          choice(
            "Simulations of the figure", FIGURES.map((number) => [String(number), number.toLocaleString()]), "10000",
            (value) => {
              figureSize = Number(value);
            }),
          drawButton, h("span", {className: "dim", role: "status"}, figureSays)),
        trees),
      h("section", {className: "panel"}, h("h2", {}, "Log"),
        h("p", {className: "dim"}, "Choose a line to go back to it."), log)));

  async function act(what, more = {}) {
    stop();
    try {
      render(await ask(what, more));
    } catch (error) { toast(error.message); }
  }
  const rewind = (number) => number >= 0 && act("growth.rewind", {number});

  async function open(more = {}) {
    stop();
    try {
      link = {...link, ...more};
      const answer = await ask("growth.open", link);
      link = answer.link;
      tree.begin();
      setAddress("search", link);
      board.mover = answer.mover;
      board.show(answer.board, answer.moves, {});
      figure.replaceChildren();
      trees.replaceChildren();
      figureSays.textContent = "";
      endFigure();
      opponents =
        (await ask("games.opponents", {game: link.game})).opponents.filter((one) => SEARCHES.includes(one.kind));
      if (!games.length) games = await ask("games.list");
      const names = games.map((one) => [one.name, one.name]);
      if (!names.some(([name]) => name === link.game)) names.unshift([link.game, link.game]);
      choosers.replaceChildren(
        choice("Game", names, link.game, (game) => open({game, moves: "", vs: "", start: ""})),
        choice("Who evaluates", opponents.map((one) => [one.name, one.name]), answer.vs, (vs) => open({vs})),
        h("div", {className: "row"},
          h("button", {
            type: "button",
            disabled: !link.moves,
            onclick: () => open({moves: link.moves.split(" ").slice(0, -1).join(" ")})
          },
            "Take the last move back"),
          h("span", {className: "dim line-so-far"}, answer.line)));
      answerMoves = answer.moves;
      render(answer);
    } catch (error) { toast(error.message); }
  }
  let answerMoves = [];
  function go(action) {
    const text = answerMoves.find(([one]) => one === action)?.[1];
    if (text) open({moves: `${link.moves} ${text}`.trim()});
  }

  function render(answer) {
    const merged = changes.merge(answer);
    if (!merged) {  // an answer was lost on the way
      ask("growth.whole").then(render).catch((error) => toast(error.message));
      return;
    }
    view = merged;
    c.set(view.settings.c);
    fpu.set(view.settings.fpu);
    noise.set(view.settings.noise);
    const entry = view.log.at(-1);
    says.textContent = entry ?
      `Simulation ${entry.number}${isUnderWay() ? `, ${entry.phase}` : ""}: ${phaseSays(entry)}` :
      `${view.by} has looked at the position, and nothing was searched yet.`;
    tree.show(view);
    board.mark({arrows: view.arrows.map(([cells, share], index) => [cells, share, index ? "other" : "best"])});
    weighing.replaceChildren(...(
      entry ?
        view.steps.map(
          (step, depth) => h(
            "table", {},
            h("caption", {}, depth ? `after ${entry.path.slice(0, depth).join(" ")}` : "at the root",
              step.more ? `, and ${step.more} more` : ""),
            h("thead", {}, h("tr", {}, ["", "N", "P", "Q", "U", "Q + U"].map((head) => h("th", {scope: "col"}, head)))),
            h("tbody", {},
              step.choices.map(
                (one) =>
                  h("tr", {className: one.move === step.chosen ? "lit" : ""}, h("th", {scope: "row"}, one.move),
                    h("td", {}, one.visits), h("td", {}, percent(one.prior, 1)), h("td", {}, signed(one.q)),
                    h("td", {}, one.u.toFixed(2)), h("td", {}, signed(one.q + one.u))))))) :
        []));
    log.replaceChildren(...[...view.log].reverse().map(
      (one) =>
        h("li", {},
          h("button",
            {type: "button", onclick: () => rewind(one.number), "aria-label": `Go back to simulation ${one.number}`},
            h("b", {}, one.number), ` ${one.path.join(" → ")} `,
            one.value === null ? "" : h("span", {className: one.value < 0 ? "bad" : "good"}, signed(one.value)),
            h("span", {className: "dim"}, one.over ? " the end of the game" : "")))));
    main.querySelector(".moment-buttons")
      .replaceChildren(
        h("button", {type: "button", onclick: () => moment(0)}, "Now"),
        ...view.moments.map(
          (number) =>
            h("button", {type: "button", onclick: () => moment(number)}, `After ${number.toLocaleString()}`)));
  }

  function isUnderWay() { return view.log.length > 0 && view.log.at(-1).phase !== "back up"; }

  function phaseSays(entry) {
    const end = entry.path.at(-1), deep = entry.path.length > 3 ? `, ${entry.path.length} moves deep` : "";
    if (entry.phase === "select") return `the path ${entry.path.join(" → ")} has the largest Q + U at each position.`;
    if (entry.phase === "expand")
      return entry.over ?
        `the game is over after ${end}${deep}: there are no moves to add.` :
        `the position after ${end} joins the tree${deep}, and its moves have the priors of ${view.by}.`;
    if (entry.phase === "evaluate")
      return `${entry.over ? "the result is" : `${view.by} gives the value`} ${
        signed(entry.value)} for the player to move at the root.`;
    return `${entry.path.join(" → ")}; ${entry.over ? "the game is over there" : "its end is evaluated"}, ${
      signed(entry.value)} is backed up, with its sign flipped from move to move. Played now: ${view.played}.`;
  }

  async function moment(number) {
    try {
      const {nodes} = await ask("growth.moment", number ? {number} : {});
      const most = Math.max(1, ...nodes.map((node) => node.visits));
      figure.replaceChildren(h("ol", {className: "cards small"}, nodes.map((node) => {
        const card =
          h("li", {},
            h("figure", {}, drawing(node.svg),
              h("figcaption", {}, h("b", {}, percent(node.rate)), ` for ${node.whose}: ${node.moves.join(" ")}`,
                h("span", {className: "dim"}, ` ${node.visits} visits`))));
        card.style.borderWidth = `${1 + 9 * (node.visits / most)}px`;
        return card;
      })));
    } catch (error) { toast(error.message); }
  }

  async function drawTrees() {
    try {
      if (isDrawing) return endFigure(await ask("growth.figure.stop"));
      trees.replaceChildren();
      await ask("growth.figure", {simulations: figureSize});
      isDrawing = true;
      drawButton.textContent = "Stop drawing";
    } catch (error) { toast(error.message); }
  }
  function endFigure() {
    isDrawing = false;
    drawButton.textContent = "Draw the tree";
  }
  on("figure", ({simulations, svg, is_last, reason}) => {
    const count = `${simulations.toLocaleString()} simulations`;
    figureSays.textContent = reason ? `${count}: ${ENDS[reason] ?? reason}` : count;
    if (svg) trees.append(h("figure", {}, drawing(svg), h("figcaption", {}, `After ${count}`)));
    if (is_last) endFigure();
  });
  on("growth", (answer) => {
    if (view) render(answer);
  });
  on("trouble", ({says: said}) => toast(said));
  whenOpen(async (isAgain) => open(isAgain ? {} : Object.fromEntries(fields)));
  const resized = () => {
    if (view) tree.show(view);
  };
  addEventListener("resize", resized);
  return () => {
    stop();
    removeEventListener("resize", resized);
  };
}
