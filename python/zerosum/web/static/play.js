// Play a game: setup, board, moves, clocks. The address makes the game again.

import {setAddress} from "./address.js";
import {Bars} from "./bars.js";
import {Board, captionsOf, otherMoves} from "./board.js";
import {download, drawing, h, percent, toast} from "./dom.js";
import {keptFields} from "./kept.js";
import {openSetup} from "./setup.js";
import * as sound from "./sound.js";
import {ask, on, whenOpen} from "./wire.js";

export function show(main, fields) {
  let view = null, plies = null, games = [], isNumbered = localStorage.getItem("numbers") === "on";
  const board = new Board(move, "Board of the game");
  const heading = h("h1", {className: "unseen"}, "Play");
  const says = h("p", {className: "says"});
  const aloud = h("p", {className: "unseen", role: "status", "aria-live": "polite"});  // for who does not see the board
  const others = h("div", {className: "others"});
  const list = h("ol", {className: "moves", "aria-label": "Moves"});
  const bars = new Bars(board);
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
    numbers: button(
      "Numbers", "Show the numbers of the moves on their stones",
      () => {
        isNumbered = !isNumbered;
        localStorage.setItem("numbers", isNumbered ? "on" : "off");
        act("play.view", {numbered: isNumbered, ply: plies});
      }),
    sound: button(
      "♪", "Sounds of moves",
      () => {
        sound.turn();
        buttons.sound.setAttribute("aria-pressed", String(sound.isOn()));
      },
      {"aria-pressed": String(sound.isOn())}),
    fresh: button("New game", "Set up a new game (N)", () => setUp()),
  };
  buttons.fresh.className = "main";
  main.append(
    heading, aloud, h("section", {className: "stage"}, board.whole),
    h("section", {className: "side"}, h("div", {className: "panel"}, says, others, counts, thought),
      h("div", {className: "panel list"}, list,
        h("div", {className: "row browse"}, buttons.first, buttons.back, buttons.forward, buttons.last)),
      h("div", {className: "row actions"}, buttons.undo, buttons.hint, buttons.flip, buttons.numbers, buttons.resign,
        buttons.sound),
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
    const before = view;
    view = answer;
    board.mover = view.mover;
    board.choices = view.choices;
    board.onMark = view.marks && view.ply === view.history.length ? (cell) => act("play.dead", {cell}) : null;
    const atEnd = view.ply === view.history.length;
    plies = atEnd ? null : view.ply;
    const isNext = before && before.game === view.game && view.ply === before.ply + 1 &&
      view.history.slice(0, -1).join() === before.history.join();
    board.show(view.board, view.moves, {ownership: view.ownership, numbers: view.numbers ?? []});
    if (isNext) {
      board.slide(view.moved);
      sound.play(soundOf(before));
    }
    if (before && view.history.length < before.history.length) board.planned = null;
    board.mayPlan = atEnd && !view.over && view.people.length === 1 && !view.people.includes(view.mover);
    board.playPlanned();
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
    counts.textContent = [...pieces, captionsOf(view.board)].join(" ").trim();
    thought.replaceChildren(...(
      view.history.length === 0 && view.people.length === 1 && !view.over ?
        [h("p", {className: "dim"}, welcome()), tourLink()] :
        []));
    renderMoves();
    bars.show(view);
    buttons.undo.disabled = !view.canUndo;
    buttons.flip.hidden = !view.board.turns;
    buttons.numbers.hidden = !view.canNumber;
    buttons.numbers.setAttribute("aria-pressed", String(Boolean(view.numbers)));
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
      people: view.strength.people,
      western: view.board.western || "",
      teach: view.teach || "",
      flipped: !view.board.turns || view.board.flipped === (view.link.side === "1") ? "" : view.board.flipped
    });
    const {moves, left, marked, resigned, ...rest} = view.link;
    localStorage.setItem("play", JSON.stringify({...rest, ...view.strength, teach: view.teach}));
  }

  /** A computer's newest move, and whose turn it is; each text is said once. */
  function sayAloud() {
    const number = view.history.length, mover = view.firsts[number - 1];
    const isAnswer = number > 0 && !view.people.includes(mover);
    const text = `${isAnswer ? `${view.computers[mover]} played ${view.history[number - 1]}. ` : ""}${view.says}`;
    if (aloud.textContent !== text) aloud.textContent = text;
  }

  /** The sound of the newest move. */
  function soundOf(before) {
    if (view.over) return "end";
    if (view.board.check !== null && view.board.check !== undefined) return "check";
    const pieces = (board) => board.cells.filter((cell) => cell[3]).length;
    return pieces(view.board) < pieces(before.board) ? "take" : "move";
  }

  function welcome() {
    const isPlaced = view.moves.every(([, , source]) => source === null);
    const how =
      view.moves.length ? (isPlaced ? "Click the board to move." : "Click a piece, then its target, or drag it.") : "";
    return `${how} Your opponent: ${view.computers.find((_, player) => !view.people.includes(player))}.`.trim();
  }

  /** The first page leads to the tour, which has its game. */
  const tourLink = () =>
    (view.game === "connect4" ? h("p", {className: "dim"}, h("a", {href: "#/tour"}, "Take the tour"),
                                  ": watch a network learn this game here in two minutes.") :
                                "");

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
      {game: view.game, moves: view.link.moves, ply: view.ply, ...(view.link.start ? {start: view.link.start} : {})});
    location.hash = `#/analyse?${query}`;
  }

  function showHint(found) {
    const whose = view.sides[found.mover];
    board.mark({
      arrows: found.lines.map((line, index) => [line.cells, line.share, index ? "other" : "best"]),
      ownership: view.ownership
    });
    thought.replaceChildren(
      h("p", {}, h("b", {}, percent(found.rate)),
        ` for ${whose}, who is to move, says ${found.by} after ${found.work}.`),
      ...(
        /^rollouts/.test(found.by) ?
          [h("p", {className: "dim"}, "Random games have judged, not a network: these moves are guesses.")] :
          []),
      h("ol", {className: "lines"},
        found.lines.map(
          (line) =>
            h("li", {}, h("b", {}, line.moves[0]),
              h("span", {className: "dim"},
                `${found.has_policy ? ` ${percent(line.share)} of visits,` : ""} ${percent(line.rate)} for ${whose}`),
              h("span", {className: "rest"}, line.moves.slice(1, 8).join(" "))))));
  }

  async function setUp(values = {}) {
    if (!games.length) games = await ask("games.list");
    await openSetup(setup, {
      games,
      game: view?.game,
      values,
      begin: async (message) => {
        const answer = await ask("play.open", {...message, numbered: isNumbered});
        plies = null;
        render(answer);
        renderShelf();
      }
    });
  }

  // ---- teaching

  /** A question about the move that was just made. */
  function showDoubt({says: text, ply}) {
    if (view.history.length !== ply) return;
    const answer = (what) => () => {
      thought.replaceChildren();
      act(what);
    };
    const back = h("button", {type: "button", className: "main", onclick: answer("play.undo")}, "Take it back");
    const keep = h("button", {type: "button", onclick: answer("play.keep")}, "Play on");
    thought.replaceChildren(h("div", {className: "doubt"}, h("p", {}, text), h("div", {className: "row"}, back, keep)));
    back.focus({preventScroll: true});
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
  on("doubt", showDoubt);
  on("trouble", ({says: text}) => toast(text));

  whenOpen(async () => {
    const known =
      view ? Object.fromEntries(new URLSearchParams(location.hash.split("?")[1])) : Object.fromEntries(fields);
    if (known.game) {
      const message =
        {...known, western: known.western === "true", teach: known.teach === "true", people: known.people === "true"};
      if (message.flipped !== undefined) message.flipped = message.flipped === "true";
      for (const name of ["seconds", "rating", "resigned"])
        if (message[name] !== undefined) message[name] = Number(message[name]);
      for (const name of ["left", "marked"])
        if (message[name] !== undefined) message[name] = message[name].split(",").map(Number);
      try {
        render(await ask("play.open", {...message, numbered: isNumbered}));
        renderShelf();
        return;
      } catch (error) { toast(error.message); }
    }
    try {
      render(
        await ask("play.open", {game: "connect4", side: "0", ...keptFields("play"), moves: "", numbered: isNumbered}));
    } catch {
      localStorage.removeItem("play");
      render(await ask("play.open", {game: "connect4", side: "0"}));
    }
    renderShelf();
  });

  return () => {
    bars.stop();
    removeEventListener("keydown", key);
  };
}
