// The dialog that sets up a new game: the game and its options, who plays, how strong, which side, and the clock.

import {choice, h} from "./dom.js";
import {keptFields} from "./kept.js";
import {NUMBERS, USUAL} from "./players.js";
import {ask} from "./wire.js";

const TIMES = [["1s", "1 second"], ["5s", "5 seconds"], ["15s", "15 seconds"], ["rating", "a rating …"]];
const CLOCKS = [
  ["", "No clock"], ["60", "1 minute"], ["180+2", "3 minutes + 2 s"], ["300+3", "5 minutes + 3 s"],
  ["600", "10 minutes"], ["900+10", "15 minutes + 10 s"], ["300+3x30", "5 minutes, 3 × 30 s byoyomi"],
  ["st=10", "10 seconds a move"], ["other", "another …"]
];

const field = (label, input) => h("label", {className: "field"}, h("span", {}, label), input);
const line = (label, more = {}) =>
  h("input", {type: "text", value: "", "aria-label": label, spellcheck: false, ...more});
const names = (players) => players.map((one) => [one.name, one.name]);

/** What was chosen last, with what the open game and the caller say. */
function wishes(game, values) {
  const last = keptFields("play");
  const found = {game: game ?? "connect4", side: "0", strength: "200", clock: "", ...last, ...values};
  [found.name, found.number] = String(found.vs ?? "").split("@");
  if (found.number) found.strength = found.number;
  if (found.seconds) found.strength = `${found.seconds}s`;
  if (found.rating) found.strength = "rating";
  if (found.people) found.strength = "people";
  found.second = "";
  return found;
}

/**
 * Fill and show the dialog.
 * @param games the games of the program
 * @param game the open game, if there is one
 * @param values what is chosen at first
 * @param begin begins the game of a message; an error it throws is shown
 */
export async function openSetup(dialog, {games, game, values, begin}) {
  const wanted = wishes(game, values), form = h("form", {method: "dialog"});
  let opponents = [], ratings = {}, sides = ["first", "second"], controls = [];
  const places = Object.fromEntries(["controls", "opponent", "strength", "side"].map((name) => [name, h("div")]));
  const secondPlace = h("div", {hidden: wanted.side !== "none"});
  const problem = h("p", {className: "problem", role: "alert"});
  const start = line("Start position", {placeholder: "the usual one"});
  const western = h("input", {type: "checkbox", checked: Boolean(wanted.western)});
  const control = line("Time control", {placeholder: "40/5400+30, 600+5x30 …"});
  const controlPlace = field("Time control, in seconds", control);
  controlPlace.hidden = true;
  const rating =
    h("input", {type: "number", value: wanted.rating ?? 800, "aria-label": "Rating", min: -500, max: 4000, step: 50});
  const teach = h("input", {type: "checkbox", checked: Boolean(wanted.teach)});
  const teachPlace = h("label", {className: "check"}, teach, " Tell me of bad moves, I may take them back");
  const strong = h("p", {className: "dim strong"});
  const named = (who) => opponents.find((one) => one.name === who);
  const kindOf = (who) => named(who)?.kind;

  const options = line("Game with options", {value: wanted.game, onchange: () => choose(options.value.trim())});

  /** Take a game, or other values of its options. */
  async function choose(name, changed = {}) {
    problem.textContent = "";
    try {
      const found = await ask("games.opponents", {game: name, options: changed});
      ({opponents, ratings, sides, controls} = found);
      wanted.game = options.value = found.game;
    } catch (error) {
      problem.textContent = error.message;
      return;
    }
    if (!opponents.some((one) => one.name === wanted.name)) wanted.name = opponents[0].name;
    drawControls();
    drawSides();
    const second = [["", "the same"], ...names(opponents)];
    secondPlace.replaceChildren(choice("Second computer", second, wanted.second, (value) => {
      wanted.second = value;
    }));
    drawOpponent();
  }

  function drawControls() {
    const set = (name) => (value) => choose(wanted.game, {[name]: value});
    places.controls.className = controls.length ? "pair" : "";
    places.controls.replaceChildren(...controls.map(({name, label, value, values: few}) => {
      if (few.length) return choice(label, few.map((one) => [one, one]), value, set(name));
      const onchange = (event) => set(name)(event.target.value);
      return field(label, h("input", {type: "number", step: 0.5, value, "aria-label": label, onchange}));
    }));
  }

  function drawSides() {
    const order = ["first", "second"];
    const side = (player) => (/^the /.test(sides[player]) ? order[player] : `${sides[player]}, ${order[player]}`);
    const known = [
      ["0", side(0)], ["1", side(1)], ["random", "a random side"], ["both", "both sides"],
      ["none", "watch two computers"]
    ];
    places.side.replaceChildren(choice("You play", known, wanted.side, (value) => {
      wanted.side = value;
      showPlaces();
    }));
    showPlaces();
  }

  /** What a choice leaves out is not shown. */
  function showPlaces() {
    secondPlace.hidden = wanted.side !== "none";
    teachPlace.hidden = ["none", "both"].includes(wanted.side) || wanted.clock !== "";
    controlPlace.hidden = wanted.clock !== "other";
  }

  function drawOpponent() {
    places.opponent.replaceChildren(choice("Opponent", names(opponents), wanted.name, (value) => {
      wanted.name = value;
      if (named(value).people) wanted.strength = "people";
      drawOpponent();
    }));
    const kind = kindOf(wanted.name), {people, measured} = named(wanted.name);
    const times = TIMES.filter(([value]) => value !== "rating" || ratings[wanted.name]);
    const like = people ? [["people", `like people rated ${people} on lichess`]] : [];
    const known = kind === "depth" ? NUMBERS.depth : [...like, ...NUMBERS[kind], ...times];
    strong.textContent = measured ? `Measured against programs, not against people: ${measured}.` : "";
    strong.hidden = !measured;
    if (!known.some(([value]) => value === wanted.strength)) wanted.strength = USUAL[kind];
    places.strength.replaceChildren();
    if (kind === "random") return;
    places.strength.append(choice("Strength", known, wanted.strength, (value) => {
      wanted.strength = value;
      drawOpponent();
    }));
    const range = ratings[wanted.name] ? ` (${ratings[wanted.name].join(" to ")})` : "";
    if (wanted.strength === "rating") places.strength.append(field(`Rating above random play${range}`, rating));
  }

  /** A player with its strength, as the program writes it. */
  function word(who) {
    const kind = kindOf(who), isNumber = /^\d+$/.test(wanted.strength);
    if (kind === "random" || (kind !== "depth" && !isNumber)) return who;
    // A second computer of another kind has the usual number of its kind.
    const isOwn = NUMBERS[kind].some(([value]) => value === wanted.strength);
    return `${who}@${isOwn ? wanted.strength : USUAL[kind]}`;
  }

  function message() {
    const side = wanted.side === "random" ? String(Math.floor(2 * Math.random())) : wanted.side;
    const clock = wanted.clock === "other" ? control.value.trim() : wanted.clock ?? "";
    const found =
      {game: wanted.game, side, clock, start: start.value.trim(), western: western.checked, vs: word(wanted.name)};
    if (teach.checked && !teachPlace.hidden) found.teach = true;
    if (wanted.side === "none" && wanted.second) found.vs2 = word(wanted.second);
    if (["network", "search"].includes(kindOf(wanted.name))) {
      if (wanted.strength === "rating") found.rating = Number(rating.value);
      else if (wanted.strength === "people") found.people = true;
      else if (wanted.strength.endsWith("s")) found.seconds = parseFloat(wanted.strength);
    }
    return found;
  }

  const listed = games.some((one) => one.name === wanted.game) ? wanted.game : games[0].name;
  if (!CLOCKS.some(([name]) => name === wanted.clock)) wanted.clock = "";
  form.append(
    h("h2", {}, "New game"), choice("Game", names(games), listed, (value) => choose(value)), places.controls,
    h("details", {}, h("summary", {}, "Options and start"), field("Game with options", options),
      field("Start position", start), h("label", {className: "check"}, western, " Western letters on shogi pieces")),
    places.opponent, places.strength, strong, places.side, secondPlace,
    choice(
      "Clock", CLOCKS, wanted.clock,
      (value) => {
        wanted.clock = value;
        showPlaces();
      }),
    controlPlace, teachPlace, problem,
    h("div", {className: "row"}, h("button", {className: "main", type: "submit", value: "play"}, "Play"),
      game ? h("button", {type: "button", onclick: () => dialog.close()}, "Cancel") : null));
  form.onsubmit = async (event) => {
    event.preventDefault();
    try {
      await begin(message());
      dialog.close();
    } catch (error) { problem.textContent = error.message; }
  };
  dialog.replaceChildren(form);
  if (!dialog.open) dialog.showModal();
  await choose(wanted.game);
}
