// Play a game: setup, board, moves, clocks. The address makes the game again.

import {setAddress} from "./address.js";
import {Board, otherMoves} from "./board.js";
import {choice, download, drawing, h, percent, toast} from "./dom.js";
import {ask, on, whenOpen} from "./wire.js";

const STRENGTHS = [
  ["10", "10 simulations"], ["50", "50 simulations"], ["200", "200 simulations"], ["800", "800 simulations"],
  ["3200", "3200 simulations"], ["1s", "1 second"], ["5s", "5 seconds"], ["15s", "15 seconds"], ["rating", "a rating …"]
];
const DEPTHS = [1, 2, 3, 4, 5, 6].map((depth) => [String(depth), `${depth} plies`]);
const CLOCKS = [
  ["", "No clock"], ["60", "1 minute"], ["180+2", "3 minutes + 2 s"], ["300+3", "5 minutes + 3 s"],
  ["600", "10 minutes"], ["900+10", "15 minutes + 10 s"], ["300+3x30", "5 minutes, 3 × 30 s byoyomi"],
  ["st=10", "10 seconds a move"], ["other", "another …"]
];

export function show(main, fields) {
  let view = null, plies = null, hint = null, timer = null, games = [];
  const board = new Board(move, "Board of the game");
  const heading = h("h1", {className: "unseen"}, "Play");
  const says = h("p", {className: "says"});
  const aloud = h("p", {className: "unseen", role: "status", "aria-live": "polite"}); // for who does not see the board
  const others = h("div", {className: "others"});
  const list = h("ol", {className: "moves", "aria-label": "Moves"});
  // The bars of the players, below and above the board: name, pieces in hand, clock.
  const bars = [board.handsBelow, board.handsAbove].map((hand) => {
    const parts = {who: h("span", {className: "who"}), time: h("span", {className: "time"})};
    return {...parts, element: h("div", {className: "player-bar"}, parts.who, hand, parts.time)};
  });
  board.whole.prepend(bars[1].element);
  board.whole.append(bars[0].element);
  const shelf = h("section", {className: "shelf", "aria-label": "Other games"});
  const counts = h("p", {className: "counts"});
  const thought = h("div", {className: "thought", "aria-live": "polite"});
  const setup = h("dialog", {className: "setup", "aria-label": "New game"});
  const button = (text, title, onclick, more = {}) =>
    h("button", {type: "button", title, "aria-label": /[a-z]/i.test(text) ? null : title, onclick, ...more}, text);
  const buttons = {
    first: button("«", "First position", () => look(0)),
    back: button("‹", "Previous position", () => look(view.ply - 1)),
    forward: button("›", "Next position", () => look(view.ply + 1)),
    last: button("»", "Last position", () => look(null)),
    undo: button("Take back", "Take back to your previous turn (U)", () => act("play.undo")),
    hint: button("Hint", "What a search thinks of the position (H)", () => act("play.hint")),
    flip: button("Flip", "Turn the board (F)", () => act("play.view", {flipped: !view.board.flipped, ply: plies})),
    resign: button(
      "Resign", "Give the game up",
      () => {
        if (confirm("Resign this game?")) act("play.resign");
      }),
    share: button("Copy link", "Copy a link that shows this game", share),
    save: button("Save", "Save the game as a file", save),
    analyse: button("Analyse", "Analyse this game", analyse),
    fresh: button("New game", "Set up a new game (N)", () => openSetup()),
  };
  buttons.fresh.className = "main";
  main.append(
    heading, aloud, h("section", {className: "stage"}, board.whole),
    h("section", {className: "side"}, h("div", {className: "panel"}, says, others, counts, thought),
      h("div", {className: "panel list"}, list,
        h("div", {className: "row browse"}, buttons.first, buttons.back, buttons.forward, buttons.last)),
      h("div", {className: "row actions"}, buttons.undo, buttons.hint, buttons.flip, buttons.resign),
      h("div", {className: "row actions"}, buttons.fresh, buttons.analyse, buttons.share, buttons.save), shelf),
    setup);

  function move(action) { act("play.move", {action}); }

  async function act(what, more = {}) {
    try {
      const answer = await ask(what, more);
      if (what === "play.hint") {
        thought.replaceChildren(h("p", {className: "dim"}, `${answer.by} is looking …`));
        return;
      }
      render(answer);
    } catch (error) { toast(error.message); }
  }

  function look(ply) {
    plies = ply === null || ply >= view.history.length ? null : Math.max(ply, 0);
    act("play.view", plies === null ? {} : {ply: plies});
  }

  function render(answer) {
    view = answer;
    hint = null;
    board.mover = view.mover;
    board.choices = view.choices;
    board.onMark = view.marks && view.ply === view.history.length ? (cell) => act("play.dead", {cell}) : null;
    const atEnd = view.ply === view.history.length;
    plies = atEnd ? null : view.ply;
    board.show(view.board, view.moves, {ownership: view.ownership});
    says.textContent = view.says;
    heading.textContent = `Play ${view.game}`;
    sayAloud();
    says.classList.toggle("over", view.over);
    others.replaceChildren(...otherMoves(view.moves, move));
    const pieces = [];
    if (view.counts.captured)
      pieces.push(`Captured: ${view.counts.captured[0]} by black, ${view.counts.captured[1]} by white.`);
    else if (view.counts.discs)
      pieces.push(`Discs: ${view.sides[0]} ${view.counts.discs[0]}, ${view.sides[1]} ${view.counts.discs[1]}.`);
    else if (view.counts.material)
      pieces.push(`Material: ${view.sides[view.counts.material > 0 ? 0 : 1]} +${Math.abs(view.counts.material)}.`);
    if (view.score !== null && view.score !== undefined && view.over)
      pieces.push(`Score: ${view.score > 0 ? "black" : "white"} leads by ${Math.abs(view.score)}.`);
    if (view.marks) pieces.push("Click a stone to mark it as dead or alive.");
    pieces.push(...(view.board.captions ?? []));
    counts.textContent = pieces.join(" ");
    thought.replaceChildren(...(
      view.history.length === 0 && view.people.length === 1 && !view.over ? [h("p", {className: "dim"}, welcome())] :
                                                                            []));
    renderMoves();
    renderClocks();
    buttons.undo.disabled = !view.canUndo;
    buttons.flip.hidden = !view.board.turns;
    buttons.hint.disabled = buttons.resign.disabled = view.over;
    buttons.resign.disabled ||= !view.people.length;
    buttons.back.disabled = buttons.first.disabled = view.ply === 0;
    buttons.forward.disabled = buttons.last.disabled = atEnd;
    buttons.save.textContent = `Save ${view.formats[0].toUpperCase()}`;
    setAddress("play", {
      ...view.link,
      left: view.link.left?.join(","),
      marked: view.link.marked?.join(","),
      seconds: view.strength.seconds,
      rating: view.strength.rating,
      western: view.board.western || "",
      flipped: !view.board.turns || view.board.flipped === (view.link.side === "1") ? "" : view.board.flipped
    });
    const {moves, left, marked, resigned, ...rest} = view.link;
    localStorage.setItem("play", JSON.stringify({...rest, ...view.strength}));
  }

  /** A computer's newest move, and whose turn it is; each text is said once. */
  function sayAloud() {
    const number = view.history.length, mover = view.firsts[number - 1];
    const isAnswer = number > 0 && !view.people.includes(mover);
    const text = `${isAnswer ? `${view.computers[mover]} played ${view.history[number - 1]}. ` : ""}${view.says}`;
    if (aloud.textContent !== text) aloud.textContent = text;
  }

  function welcome() {
    const isPlaced = view.moves.every(([, , source]) => source === null);
    const how =
      view.moves.length ? (isPlaced ? "Click the board to move." : "Click a piece, then its target, or drag it.") : "";
    return `${how} Your opponent: ${view.computers.find((_, player) => !view.people.includes(player))}.`.trim();
  }

  function renderMoves() {
    const rows = [];
    let row = null;
    view.history.forEach((text, index) => {
      const player = view.firsts[index];
      if (player === 0 || row === null || row.dataset.full) {
        row = h("li", {});
        if (player === 1) row.append(h("span", {className: "gap"}, "…"));
        rows.push(row);
      }
      if (player === 1) row.dataset.full = "1";
      row.append(
        h("button", {
          type: "button",
          "aria-label": `Move ${index + 1}: ${text}`,
          "aria-current": view.ply === index + 1 ? "true" : null,
          onclick: () => look(index + 1)
        },
          text));
    });
    list.replaceChildren(...rows);
    list.parentElement.hidden = !rows.length;
    const current = list.querySelector("[aria-current]");
    if (current) list.scrollTop = current.offsetTop - list.clientHeight / 2;
  }

  function renderClocks() {
    clearInterval(timer);
    const since = performance.now();
    const draw = () => {
      const below = view.board.flipped ? 1 : 0;
      [below, 1 - below].forEach((player, place) => {
        const {who, time, element} = bars[place];
        const isTurn = !view.over && view.mover === player;
        element.className = `player-bar${isTurn ? " turn" : ""}`;
        who.replaceChildren(
          playerName(player), h("span", {className: "dim"}, ` ${view.sides[player].replace(/^the /, "")}`));
        if (!view.clock) {
          time.replaceChildren(
            isTurn && !view.people.includes(player) ?
              h("span", {className: "thinking", "aria-label": "is thinking"}, "…") :
              "");
          return;
        }
        let left = view.clock.left[player];
        if (view.clock.running === player) left -= (performance.now() - since) / 1000;
        left = Math.max(left, 0);
        const text =
          left < 20 ? left.toFixed(1) : `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
        time.replaceChildren(h("time", {className: left < 10 ? "low" : ""}, text));
      });
    };
    draw();
    if (view.clock && !view.over) timer = setInterval(draw, 100);
  }

  /** "You" or the computer's name; "" where two people play. */
  function playerName(player) {
    if (!view.people.includes(player)) return view.computers[player];
    return view.people.length === 1 ? "You" : "";
  }

  /** Other games, those that a network plays first: a click begins one. */
  async function renderShelf() {
    if (!games.length) games = await ask("games.list");
    const others_ =
      games.filter((one) => one.name !== view.game).sort((a, b) => b.own - a.own || b.network - a.network);
    shelf.replaceChildren(
      h("h2", {}, "Another game"),
      h("ul", {},
        others_.map(
          (one) =>
            h("li", {},
              h("a", {
                href: `#/play?${new URLSearchParams({game: one.name, side: "0"})}`,
                title: one.network ? `${one.name}, against a network` : `${one.name}, against random games`
              },
                h("span", {className: "thumb", "aria-hidden": "true"}, drawing(one.svg)),
                h("span", {className: "name"}, one.name.replace(/^.*\.py:/, "")))))));
  }

  async function share() {
    const {address, token} = await ask("play.address");
    // With a token the link is that of the network's computers; without one, only this computer may connect.
    const link = token ? `${address}${location.hash}` : location.href;
    try {
      await navigator.clipboard.writeText(link);
    } catch { prompt("The link of this game:", link); }
    toast(
      token ? "The link is copied. It holds the token: who has it may play and search on this computer." :
              "The link is copied. It opens on this computer only; `zerosum web --host 0.0.0.0` lets others connect.");
  }

  async function save() {
    try {
      const {name, text} = await ask("play.save", {format: view.formats[0]});
      download(name, text);
    } catch (error) { toast(error.message); }
  }

  function analyse() {
    const query = new URLSearchParams(
      {game: view.game, moves: view.link.moves, ...(view.link.start ? {start: view.link.start} : {})});
    location.hash = `#/analyse?${query}`;
  }

  function showHint(found) {
    hint = found;
    board.mark({
      arrows: found.lines.map((line, index) => [line.cells, line.share, index ? "other" : "best"]),
      ownership: view.ownership
    });
    thought.replaceChildren(
      h("p", {}, h("b", {}, percent(found.rate)),
        ` for the player to move, says ${found.by} after ${found.simulations} simulations.`),
      ...(
        /^rollouts/.test(found.by) ?
          [h("p", {className: "dim"}, "Random games have judged, not a network: these moves are guesses.")] :
          []),
      h("ol", {className: "lines"},
        found.lines.map(
          (line) =>
            h("li", {}, h("b", {}, line.moves[0]),
              h("span", {className: "dim"}, ` ${percent(line.share)} of visits, ${percent(line.rate)}`),
              h("span", {className: "rest"}, line.moves.slice(1, 8).join(" "))))));
  }

  // ---- setting up

  async function openSetup(values = {}) {
    const last = JSON.parse(localStorage.getItem("play") ?? "{}");
    const wanted =
      {game: view?.game ?? "connect4", side: "0", strength: "200", clock: "", start: "", ...last, ...values};
    if (!games.length) games = await ask("games.list");
    let opponents = [], ratings = {};
    const form = h("form", {method: "dialog"});
    let second = "";
    const control = h("input", {
      type: "text",
      value: "",
      placeholder: "40/5400+30, 600+5x30 …",
      "aria-label": "Time control",
      spellcheck: false
    });
    const controlPlace =
      h("label", {className: "field", hidden: true}, h("span", {}, "Time control, in seconds"), control);
    const secondPlace = h("div", {hidden: wanted.side !== "none"});
    let sides = ["first", "second"];
    const sidePlace = h("div"), strengthPlace = h("div"), opponentPlace = h("div"),
          problem = h("p", {className: "problem", role: "alert"});
    let [name, number] = (wanted.vs ?? "").split("@");
    if (number) wanted.strength = number;
    if (wanted.seconds) wanted.strength = `${wanted.seconds}s`;
    if (wanted.rating) wanted.strength = "rating";
    const options = h("input", {
      type: "text",
      value: wanted.game,
      "aria-label": "Game with options",
      spellcheck: false,
      onchange: async () => {
        wanted.game = options.value.trim();
        await choose();
      }
    });
    async function choose() {
      problem.textContent = "";
      try {
        ({opponents, ratings, sides} = await ask("games.opponents", {game: wanted.game}));
      } catch (error) {
        problem.textContent = error.message;
        return;
      }
      const side = (player) => (
        /^the /.test(sides[player]) ? ["first", "second"][player] : `${sides[player]}, ${["first", "second"][player]}`);
      sidePlace.replaceChildren(choice(
        "You play",
        [
          ["0", side(0)], ["1", side(1)], ["random", "a random side"], ["both", "both sides"],
          ["none", "watch two computers"]
        ],
        wanted.side, (value) => {
          wanted.side = value;
          secondPlace.hidden = value !== "none";
        }));
      if (!opponents.some((one) => one.name === name)) name = opponents[0].name;
      opponentPlace.replaceChildren(choice("Opponent", opponents.map((one) => [one.name, one.name]), name, (value) => {
        name = value;
        strengths();
      }));
      secondPlace.replaceChildren(choice(
        "Second computer", [["", "the same"], ...opponents.map((one) => [one.name, one.name])], second, (value) => {
          second = value;
        }));
      strengths();
    }
    const rating =
      h("input", {type: "number", value: wanted.rating ?? 800, "aria-label": "Rating", min: -500, max: 4000, step: 50});
    function strengths() {
      const kind = opponents.find((one) => one.name === name)?.kind;
      const known = kind === "depth" ? DEPTHS : STRENGTHS.filter(([value]) => value !== "rating" || ratings[name]);
      if (kind === "depth" && !DEPTHS.some(([depth]) => depth === wanted.strength)) wanted.strength = "3";
      if (kind !== "depth" && !known.some(([value]) => value === wanted.strength)) wanted.strength = "200";
      strengthPlace.replaceChildren(...(kind === "random" ? [] : [
        choice(
          "Strength", known, wanted.strength,
          (value) => {
            wanted.strength = value;
            strengths();
          }),
        ...(
          wanted.strength === "rating" ?
            [h(
              "label", {className: "field"},
              h("span", {}, `Rating${ratings[name] ? ` (${ratings[name].join(" to ")})` : ""}`), rating)] :
            []),
      ]));
    }
    const start =
      h("input",
        {type: "text", value: "", placeholder: "the usual one", "aria-label": "Start position", spellcheck: false});
    const western = h("input", {type: "checkbox", checked: Boolean(last.western)});
    form.append(
      h("h2", {}, "New game"),
      choice(
        "Game", games.map((game) => [game.name, game.name]),
        games.some((game) => game.name === wanted.game) ? wanted.game : games[0].name,
        (value) => {
          wanted.game = options.value = value;
          choose();
        }),
      h("details", {}, h("summary", {}, "Options and start"),
        h("label", {className: "field"}, h("span", {}, "Game with options"), options),
        h("label", {className: "field"}, h("span", {}, "Start position"), start),
        h("label", {className: "check"}, western, " Western letters on shogi pieces")),
      opponentPlace, strengthPlace, sidePlace, secondPlace,
      choice(
        "Clock", CLOCKS, CLOCKS.some(([name]) => name === wanted.clock) ? wanted.clock : "",
        (value) => {
          wanted.clock = value;
          controlPlace.hidden = value !== "other";
        }),
      controlPlace, problem,
      h("div", {className: "row"}, h("button", {className: "main", type: "submit", value: "play"}, "Play"),
        view ? h("button", {type: "button", onclick: () => setup.close()}, "Cancel") : null));
    form.onsubmit = async (event) => {
      event.preventDefault();
      const kindOf = (who) => opponents.find((one) => one.name === who)?.kind;
      const word = (who) => {
        if (kindOf(who) === "random") return who;
        if (kindOf(who) === "depth") return `${who}@${kindOf(name) === "depth" ? wanted.strength : 3}`;
        return /^\d{2,}$/.test(wanted.strength) ? `${who}@${wanted.strength}` : who;
      };
      const side = wanted.side === "random" ? String(Math.floor(2 * Math.random())) : wanted.side;
      const message = {
        game: wanted.game,
        side,
        clock: wanted.clock === "other" ? control.value.trim() : wanted.clock ?? "",
        start: start.value.trim(),
        western: western.checked,
        vs: word(name)
      };
      if (wanted.side === "none" && second) message.vs2 = word(second);
      if (kindOf(name) === "network" || kindOf(name) === "search") {
        if (wanted.strength === "rating") message.rating = Number(rating.value);
        else if (wanted.strength.endsWith("s")) message.seconds = parseFloat(wanted.strength);
      }
      try {
        const answer = await ask("play.open", message);
        setup.close();
        plies = null;
        render(answer);
        renderShelf();
      } catch (error) { problem.textContent = error.message; }
    };
    setup.replaceChildren(form);
    if (!setup.open) setup.showModal();
    await choose();
  }

  function key(event) {
    if (
      event.target.closest("input, select, dialog, textarea") || event.ctrlKey || event.metaKey || event.altKey ||
      !view)
      return;
    const pressed = event.key.toLowerCase();
    const does = {
      u: buttons.undo,
      h: buttons.hint,
      f: buttons.flip,
      n: buttons.fresh,
      "[": buttons.back,
      "]": buttons.forward
    }[pressed];
    if (does && !does.disabled && !does.hidden) {
      does.click();
      event.preventDefault();
    }
    if (!board.element.contains(document.activeElement)) {
      if (event.key === "ArrowLeft" && view.ply > 0) {
        look(view.ply - 1);
        event.preventDefault();
      }
      if (event.key === "ArrowRight" && view.ply < view.history.length) {
        look(view.ply + 1);
        event.preventDefault();
      }
    }
  }
  addEventListener("keydown", key);

  on("table", (answer) => {
    if (plies === null) render(answer);
    else act("play.view", {ply: plies});
  });
  on("hint", showHint);
  on("trouble", ({says: text}) => toast(text));

  whenOpen(async () => {
    const known =
      view ? Object.fromEntries(new URLSearchParams(location.hash.split("?")[1])) : Object.fromEntries(fields);
    if (known.game) {
      const message = {...known, western: known.western === "true"};
      if (message.flipped !== undefined) message.flipped = message.flipped === "true";
      for (const name of ["seconds", "rating", "resigned"])
        if (message[name] !== undefined) message[name] = Number(message[name]);
      for (const name of ["left", "marked"])
        if (message[name] !== undefined) message[name] = message[name].split(",").map(Number);
      try {
        render(await ask("play.open", message));
        renderShelf();
        return;
      } catch (error) { toast(error.message); }
    }
    try {
      const last = JSON.parse(localStorage.getItem("play") ?? "{}");
      render(await ask("play.open", {game: "connect4", side: "0", ...last, moves: ""}));
    } catch {
      localStorage.removeItem("play");
      render(await ask("play.open", {game: "connect4", side: "0"}));
    }
    renderShelf();
  });

  return () => {
    clearInterval(timer);
    removeEventListener("keydown", key);
  };
}
