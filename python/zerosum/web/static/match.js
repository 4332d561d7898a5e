// A match of two players, such as two checkpoints of a run.

import {setAddress} from "./address.js";
import {Board} from "./board.js";
import {choice, h, toast} from "./dom.js";
import {NUMBERS} from "./players.js";
import {ask, on, whenOpen} from "./wire.js";

const SIMULATIONS = [
  ["", "as trained"], ["1", "the network alone"], ["10", "10"], ["50", "50"], ["100", "100"], ["200", "200"],
  ["800", "800"]
];
const POSITIONS = [["", "as trained"], ["100", "100"], ["1000", "1,000"], ["10000", "10,000"]];
const UNITS = {
  network: "Simulations",
  search: "Simulations",
  "small network": "Positions",
  depth: "Depth"
};
const GAMES = [2, 10, 20, 40, 100, 200].map((number) => [String(number), `${number} games`]);

/** The difference in Elo of two players; who has all points may be stronger by any number. */
export function eloWords({elo}, first, second) {
  if (!elo) return "";
  const told = `Elo of ${first} over ${second}: ${elo.replaceAll("inf", "∞").replaceAll("-", "−")}.`;
  return /inf/.test(elo) ? `${told} One of them has all the points: more games would tell.` : told;
}

export function show(main, fields) {
  let games = [], opponents = [], isRunning = false;
  const asked = {
    game: fields.get("game") ?? "connect4",
    first: fields.get("first") ?? "",
    second: fields.get("second") ?? "",
    games: fields.get("games") ?? "10"
  };
  const board = new Board(() => {}, "Position of the game in progress");
  const setup = h("div", {className: "choosers"});
  const says = h("p", {className: "says", role: "status", "aria-live": "polite"}, "Choose two players.");
  const score = h("div"), now = h("p", {className: "dim"}),
        list = h("ol", {className: "log", "aria-label": "Finished games"});
  const begin = h("button", {type: "button", className: "main", onclick: toggle}, "Begin");
  main.append(
    h("h1", {}, "A match"),
    h("p", {className: "lead"},
      "Two players meet in pairs of games from the same four random moves, each with the first move once."),
    h("div", {className: "watch"}, h("section", {className: "panel"}, setup, h("div", {className: "row"}, begin)),
      h("section", {className: "panel"}, says, score, now, board.whole),
      h("section", {className: "panel"}, h("h2", {}, "Finished games"),
        h("p", {className: "dim"}, "Choose a game to analyse it."), list)));

  /** A player with its number of simulations or plies, as the program writes it: name@number. */
  function chooser(side, label) {
    const [name, number] = split(asked[side]);
    const one = opponents.find((known) => known.name === name) ?? opponents[0];
    const numbers = {
      network: SIMULATIONS,
      "small network": POSITIONS,
      search: SIMULATIONS.slice(2),
      depth: NUMBERS.depth,
      random: null
    }[one.kind];
    const chosen = numbers?.find(([value]) => value === number)?.[0] ??
      numbers?.
        [one.kind === "search"  ? 3 :
           one.kind === "depth" ? 2 :
                                  0][0] ??
      "";
    const write = (player, many) => {
      asked[side] = many ? `${player}@${many}` : player;
    };
    write(one.name, chosen);
    return [
      choice(
        label, opponents.map((known) => [known.name, known.name]), one.name,
        (value) => {
          write(value, "");
          draw();
        }),
      numbers ?
        choice(`${UNITS[one.kind]} of the ${label.toLowerCase()}`, numbers, chosen, (value) => write(one.name, value)) :
        "",
    ];
  }

  function draw() {
    const names = games.map((one) => [one.name, one.name]);
    if (!names.some(([name]) => name === asked.game)) names.unshift([asked.game, asked.game]);
    setup.replaceChildren(
      choice(
        "Game", names, asked.game,
        (game) => {
          Object.assign(asked, {game, first: "", second: ""});
          load();
        }),
      ...chooser("first", "First player"), ...chooser("second", "Second player"),
      choice("Length", GAMES, asked.games, (value) => {
        asked.games = value;
      }));
  }

  async function load() {
    try {
      ({opponents} = await ask("games.opponents", {game: asked.game}));
      if (!asked.second) asked.second = (opponents.find((one) => !/network/.test(one.kind)) ?? opponents[0]).name;
      draw();
    } catch (error) { toast(error.message); }
  }

  async function toggle() {
    try {
      if (isRunning) return render({...(await ask("match.stop")), stopped: true});
      setAddress("match", asked);
      render(await ask("match.open", {...asked, games: Number(asked.games)}));
    } catch (error) { toast(error.message); }
  }

  function render(view) {
    isRunning = !view.over && !view.stopped;
    begin.textContent = isRunning ? "Stop" : "Begin";
    const done = view.games.length, [first, second] = view.names;
    says.textContent = view.over ? `The match is over after ${done} games.` :
      view.stopped ? `Stopped after ${done} of ${view.total} games.` :
                     `Game ${done + 1} of ${view.total}.`;
    score.replaceChildren(
      h("table", {},
        h("thead", {}, h("tr", {}, h("td"), ["won", "drawn", "lost"].map((word) => h("th", {scope: "col"}, word)))),
        h("tbody", {},
          h("tr", {}, h("th", {scope: "row"}, first),
            [view.wins, view.draws, view.losses].map((number) => h("td", {}, number))),
          h("tr", {}, h("th", {scope: "row"}, second),
            [view.losses, view.draws, view.wins].map((number) => h("td", {}, number))))),
      h("p", {}, eloWords(view, first, second)));
    now.textContent = `${view.first} against ${view.second}: ${view.says}`;
    board.show(view.board, [], {});
    list.replaceChildren(...[...view.games].reverse().map(
      (game, index) =>
        h("li", {},
          h("a", {href: `#/analyse?${new URLSearchParams(game.link)}`}, h("b", {}, done - index), ` ${game.sentence}`,
            h("span", {className: "dim"}, ` ${game.first} had the first move, ${game.plies} moves`)))));
  }

  on("match", render);
  on("trouble", ({about, says: said}) => {
    if (about === "match") {
      isRunning = false;
      begin.textContent = "Begin";
      toast(said);
    }
  });
  whenOpen(async (isAgain) => {
    if (isAgain && isRunning) {
      isRunning = false;
      begin.textContent = "Begin";
      says.textContent = "The connection was lost, and the match with it: begin again.";
    }
    if (!games.length) games = await ask("games.list");
    await load();
  });
  return () => {
    if (isRunning) ask("match.stop").catch(() => {});
  };
}

function split(word) {
  const found = /^(.+)@(\d+)$/.exec(word);
  return found ? [found[1], found[2]] : [word, ""];
}
