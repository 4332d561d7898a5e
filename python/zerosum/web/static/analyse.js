// Analyse a game or a position: paste or upload, walk, try moves, review, export.

import { setAddress } from "./address.js";
import { Board, otherMoves } from "./board.js";
import { course } from "./chart.js";
import { choice, download, h, percent, toast } from "./dom.js";
import { ask, on, whenOpen } from "./wire.js";

const WORDS = { "?!": "inaccuracy", "?": "mistake", "??": "blunder" };
const PLURALS = { inaccuracy: "inaccuracies", mistake: "mistakes", blunder: "blunders" };
const MOST_UPLOAD = 900_000;

export function show(main, fields) {
  let view = null, found = null, look = null, points = [], review = null, owned = null, isOn = localStorage.getItem("look") !== "off";
  let analyst = fields.get("vs") ?? "", overlay = localStorage.getItem("overlay") ?? "arrows", simulations = "400", opponents = [], pasted = "";
  const board = new Board((action) => act("study.move", { action }), "Board to analyse on");
  const says = h("p", { className: "says", role: "status", "aria-live": "polite" });
  const lines = h("ol", { className: "lines" });
  const graph = h("div", { className: "graph" });
  const list = h("ol", { className: "moves", "aria-label": "Moves of the game" });
  const variation = h("p", { className: "variation" });
  const comment = h("p", { className: "comment" });
  const progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress of the review" });
  const summary = h("div", { className: "summary" });
  const controls = h("div", { className: "row" });
  const other = h("div", { className: "others" });
  const text = h("textarea", { rows: 5, "aria-label": "A game, a position or moves", placeholder: "PGN, SGF, KIF, CSA, FEN, SFEN or moves", spellcheck: false });
  const file = h("input", { type: "file", accept: ".pgn,.sgf,.kif,.kifu,.ki2,.csa,.txt", "aria-label": "A file of games", onchange: upload });
  const gameName = h("input", { type: "text", "aria-label": "Game of the moves", placeholder: "game, if these are moves", spellcheck: false });
  const chooser = h("div", { className: "panel", hidden: true });
  const unlearned = h("p", { className: "dim unlearned", role: "note", hidden: true });
  const faults = h("div", { className: "panel faults", role: "alert", hidden: true });
  const opener = h("details", { className: "panel opener", open: !fields.get("game") }, h("summary", {}, "Open a game"), text, h("div", { className: "row" }, gameName, h("button", { type: "button", className: "main", onclick: () => open({ text: text.value, game: gameName.value.trim() }) }, "Open"), file));
  const button = (label, title, onclick) => h("button", { type: "button", title, "aria-label": /[a-z]/i.test(label) ? null : title, onclick }, label);
  main.append(
    h("section", { className: "stage" }, board.whole, h("div", { className: "panel wide" }, graph, progress, comment)),
    h("section", { className: "side" }, opener, faults, chooser,
      h("div", { className: "panel" }, says, unlearned, controls, lines, other),
      h("div", { className: "panel list" }, list, variation, h("div", { className: "row browse" }, button("«", "First position", () => act("study.goto", { ply: 0 })), button("‹", "One move back", () => act("study.back")), button("›", "One move on", forward), button("»", "Last position", () => act("study.goto", { ply: 2000 })))),
      h("div", { className: "panel" }, h("div", { className: "row" }, button("Review the game", "Search every position and mark the mistakes", start), choice("Simulations a position", [["50", "50"], ["400", "400"], ["2000", "2000"], ["10000", "10,000"]], simulations, (value) => { simulations = value; })), summary, h("div", { className: "row exports" }))));

  async function act(what, more = {}) {
    try {
      const answer = await ask(what, more);
      look = null;
      owned = null;
      render(answer);
      if (isOn) searchHere();
    } catch (error) { toast(error.message); }
  }

  function forward() {
    if (!view.variation.length && view.ply < view.history.length) act("study.goto", { ply: view.ply + 1 });
  }

  async function upload() {
    const chosen = file.files[0];
    if (!chosen) return;
    if (chosen.size > MOST_UPLOAD) return toast(`${chosen.name} has ${chosen.size.toLocaleString()} bytes, allowed are ${MOST_UPLOAD.toLocaleString()}.`);
    const bytes = await chosen.arrayBuffer();
    let decoded;
    try { decoded = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { decoded = new TextDecoder(/\.(kif|csa|ki2)$/i.test(chosen.name) ? "shift_jis" : "latin1").decode(bytes); }
    text.value = decoded;
    open({ text: decoded, game: "" });
  }

  async function open(what) {
    try {
      const answer = await ask("study.open", what);
      if (view && view.game !== answer.game) analyst = ""; // the judge of another game knows nothing of this one
      pasted = what.text ?? "";
      found = review = look = owned = null;
      points = [];
      opener.open = false;
      render(answer);
      opponents = (await ask("games.opponents", { game: answer.game })).opponents.filter((one) => ["network", "search"].includes(one.kind));
      if (!opponents.some((one) => one.name === analyst)) analyst = opponents[0].name;
      render(view);
      if (isOn) searchHere();
    } catch (error) { toast(error.message); }
  }

  async function searchHere() {
    try { await ask("study.look", { on: isOn, vs: analyst, lines: 3 }); } catch (error) { toast(error.message); }
  }

  async function start() {
    try {
      const { positions } = await ask("study.review", { vs: analyst, simulations: Number(simulations) });
      points = new Array(positions).fill(null);
      review = null;
      progress.hidden = false;
      progress.value = 0;
      render(view);
    } catch (error) { toast(error.message); }
  }

  function render(answer) {
    view = answer;
    board.mover = view.mover;
    board.choices = view.choices;
    board.show(view.board, view.moves, marks());
    const at = view.variation.length ? null : view.ply;
    const players = view.players ? `${view.players[0]} – ${view.players[1]}. ` : "";
    says.textContent = view.over ? `${players}The game is over: ${view.over}.` : `${players}${look ? evaluation(look) : `${side(view.mover)} to move.`}`;
    controls.replaceChildren(
      h("button", { type: "button", "aria-pressed": String(isOn), onclick: () => { isOn = !isOn; localStorage.setItem("look", isOn ? "on" : "off"); look = isOn ? look : null; searchHere(); render(view); } }, "Engine"),
      view.board.turns ? h("button", { type: "button", onclick: () => act("study.view", { flipped: !view.board.flipped }) }, "Flip") : "",
      opponents.length ? choice("Who judges", opponents.map((one) => [one.name, one.name]), analyst, (value) => { analyst = value; if (isOn) searchHere(); }) : "",
      choice("Show", [["arrows", "best lines"], ["policy", "policy as heat"], ["visits", "visits as heat"], ...(view.hasOwners ? [["ownership", "territory"]] : [])], overlay, (value) => { overlay = value; localStorage.setItem("overlay", value); board.mark(marks()); }));
    lines.replaceChildren(...(look?.lines ?? []).map((line) => h("li", {}, h("button", { type: "button", className: "quiet", onclick: () => act("study.move", { action: line.action }) }, line.moves[0]), h("b", {}, ` ${percent(line.rate)}`), h("span", { className: "dim" }, ` ${percent(line.share)} of visits, prior ${percent(line.prior)}${line.proven ? ", proven" : ""}`), h("span", { className: "rest" }, line.moves.slice(1).join(" ")))));
    other.replaceChildren(...otherMoves(view.moves, (action) => act("study.move", { action })));
    renderMoves(at);
    variation.replaceChildren(...(view.variation.length ? [h("span", { className: "dim" }, "You try: "), view.variation.join(" "), " ", h("button", { type: "button", onclick: () => act("study.goto", { ply: view.ply }) }, "Back to the game")] : []));
    graph.replaceChildren(points.length ? course(points, (review?.moves ?? []).map((move) => move.mark), view.ply, (ply) => act("study.goto", { ply })) : h("p", { className: "dim" }, "Review the game to see its course: who stood better, and where that changed."));
    const move = at ? review?.moves[at - 1] : null;
    comment.textContent = move ? (move.mark ? `${view.history[at - 1]} is ${move.mark === "?!" ? "an" : "a"} ${WORDS[move.mark]}: it gives away ${percent(move.loss, 1)}. Better was ${move.better.join(" ")}.` : `${view.history[at - 1]} is fine.`) : "";
    showFaults();
    const isLearned = opponents.some((one) => one.kind === "network");
    unlearned.hidden = !opponents.length || isLearned;
    if (!unlearned.hidden) unlearned.replaceChildren(`No network here has learned ${view.game}: random games judge, and their moves are guesses, the more so on a large board. A file of a network is opened by `, h("code", {}, "zerosum web CHECKPOINT.json"), ".");
    chooser.hidden = view.others.length < 2;
    chooser.replaceChildren(chooser.hidden ? "" : choice(`Game of the file, one of ${view.others.length}`, view.others.map((title, index) => [String(index), `${index + 1}. ${title}`]), view.index, (index) => open({ text: pasted, index: Number(index) })));
    main.querySelector(".exports").replaceChildren(...(review ? view.formats.map((format) => h("button", { type: "button", onclick: () => save(format) }, `Save ${format.toUpperCase()}`)) : []));
    summary.replaceChildren(review ? h("table", {}, h("thead", {}, h("tr", {}, ["", ...Object.values(PLURALS), "lost a move"].map((word) => h("th", { scope: "col" }, word)))), h("tbody", {}, review.players.map((one, player) => h("tr", {}, h("th", { scope: "row" }, view.players?.[player] ?? side(player)), Object.keys(PLURALS).map((word) => h("td", {}, String(one[word]))), h("td", {}, one.loss === null ? "–" : percent(one.loss, 1)))))) : "");
    setAddress("analyse", { game: view.game, moves: view.ownMoves, start: view.start, ply: view.ply, vs: analyst });
  }

  /** What could not be read of the record; an unchanged list is not said again. */
  function showFaults() {
    const number = view.history.length;
    const words = view.warnings.length ? [`${number} move${number === 1 ? "" : "s"} could be read. The record has faults:`, ...view.warnings] : [];
    if (faults.dataset.words === words.join("\n")) return;
    faults.dataset.words = words.join("\n");
    faults.hidden = !words.length;
    faults.replaceChildren(...(words.length ? [h("p", {}, words[0]), h("ul", {}, words.slice(1).map((word) => h("li", {}, word)))] : []));
  }

  /** The name of a side at the beginning of a sentence. */
  const side = (player) => view.sides[player].charAt(0).toUpperCase() + view.sides[player].slice(1);

  function evaluation(one) {
    if (one.proven !== null && one.proven !== undefined) return `${side(one.mover)} to move: ${one.proven > 0 ? "a proven win" : one.proven < 0 ? "a proven loss" : "a proven draw"}.`;
    const draw = one.draw === null ? "" : `, draws ${percent(one.draw)}`;
    return `${side(one.mover)} to move: ${percent(one.rate, 1)}${draw} (${one.simulations.toLocaleString()} simulations by ${one.by}).`;
  }

  function marks() {
    const isTerritory = overlay === "ownership";
    if (isTerritory && view.hasOwners) return { ownership: owned };
    if (overlay !== "arrows" && !isTerritory) return { heat: look?.heat?.[overlay] ?? [] };
    const arrows = (look?.lines ?? []).map((line, index) => [line.cells, line.share, index ? "other" : "best"]);
    const move = review && !view.variation.length ? review.moves[view.ply] : null;
    if (!arrows.length && move?.mark && move.cells.length) arrows.push([move.cells, 0.5, "best"]);
    return { arrows };
  }

  function renderMoves(at) {
    const rows = [];
    let row = null;
    view.history.forEach((name, index) => {
      const player = view.firsts[index], mark = review?.moves[index]?.mark ?? "";
      if (player === 0 || row === null || row.dataset.full) {
        row = h("li", {}, player === 1 ? h("span", { className: "gap" }, "…") : null);
        rows.push(row);
      }
      if (player === 1) row.dataset.full = "1";
      row.append(h("button", { type: "button", className: mark ? `marked m${mark.length}${mark === "?!" ? "i" : ""}` : "", "aria-label": `Move ${index + 1}: ${name}${mark ? `, ${WORDS[mark]}` : ""}`, "aria-current": at === index + 1 ? "true" : null, onclick: () => act("study.goto", { ply: index + 1 }) }, name + mark));
    });
    list.replaceChildren(...rows);
    const current = list.querySelector("[aria-current]");
    if (current) list.scrollTop = current.offsetTop - list.clientHeight / 2;
  }

  async function save(format) {
    try {
      const saved = await ask("study.export", { format });
      download(saved.name, saved.text);
    } catch (error) { toast(error.message); }
  }

  on("look", (event) => {
    if (event.depth !== view?.depth || !isOn) return;
    look = event;
    const focused = document.activeElement;
    says.textContent = `${view.players ? `${view.players[0]} – ${view.players[1]}. ` : ""}${evaluation(look)}`;
    if (!lines.contains(focused)) lines.replaceChildren(...look.lines.map((line) => h("li", {}, h("button", { type: "button", className: "quiet", onclick: () => act("study.move", { action: line.action }) }, line.moves[0]), h("b", {}, ` ${percent(line.rate)}`), h("span", { className: "dim" }, ` ${percent(line.share)} of visits, prior ${percent(line.prior)}${line.proven ? ", proven" : ""}`), h("span", { className: "rest" }, line.moves.slice(1).join(" ")))));
    board.mark(marks());
  });
  on("owned", (event) => { if (event.depth === view?.depth) { owned = event.ownership; board.mark(marks()); } });
  on("progress", ({ done, of, points: newest }) => {
    progress.value = done / of;
    if (newest.length) points[done - 1] = newest[0];
    graph.replaceChildren(course(points, [], view.ply, (ply) => act("study.goto", { ply })));
  });
  on("reviewed", (event) => {
    review = event;
    points = event.points;
    progress.hidden = true;
    render(view);
  });
  on("trouble", ({ says: said }) => { progress.hidden = true; toast(said); });

  function key(event) {
    if (event.target.closest("input, select, dialog, textarea") || event.ctrlKey || event.metaKey || event.altKey || !view) return;
    if (board.element.contains(document.activeElement)) return;
    if (event.key === "ArrowLeft") act("study.back");
    else if (event.key === "ArrowRight") forward();
    else return;
    event.preventDefault();
  }
  addEventListener("keydown", key);

  whenOpen(() => {
    const known = view ? Object.fromEntries(new URLSearchParams(location.hash.split("?")[1])) : Object.fromEntries(fields);
    return open({ game: known.game ?? "chess", moves: known.moves ?? "", start: known.start ?? "", ply: Number(known.ply ?? 0) });
  });
  return () => removeEventListener("keydown", key);
}
