// Analyse a game or a position: paste or upload, walk, try moves, review, export.

import {setAddress} from "./address.js";
import {Board, otherMoves} from "./board.js";
import {course} from "./chart.js";
import {choice, download, h, percent, toast} from "./dom.js";
import {moveTree} from "./moves.js";
import {ask, on, whenOpen} from "./wire.js";

const WORDS = {
  "?!": "inaccuracy",
  "?": "mistake",
  "??": "blunder"
};
const PLURALS = {
  inaccuracy: "inaccuracies",
  mistake: "mistakes",
  blunder: "blunders"
};
const MOST_UPLOAD = 900_000;

export function show(main, fields) {
  let view = null, found = null, look = null, points = [], review = null, owned = null,
      isOn = localStorage.getItem("look") !== "off";
  let analyst = fields.get("vs") ?? "", overlay = localStorage.getItem("overlay") ?? "arrows", simulations = "400",
      opponents = [], pasted = {}, tree = [];
  const board = new Board((action) => act("study.move", {action}), "Board to analyse on");
  const bar =
    h("div", {className: "evaluation", role: "meter", "aria-valuemin": 0, "aria-valuemax": 100, hidden: true},
      h("div", {className: "share"}), h("span", {className: "number", "aria-hidden": "true"}));
  board.whole.prepend(bar);
  const says = h("p", {className: "says", role: "status", "aria-live": "polite"});
  const lines = h("ol", {className: "lines"});
  const graph = h("div", {className: "graph"});
  const list = h("ol", {className: "moves", "aria-label": "Moves of the game"});
  const variation = h("p", {className: "variation"});
  const comment = h("div", {className: "comment"});
  const headers = h("details", {className: "panel headers", hidden: true});
  const progress = h("progress", {max: 1, value: 0, hidden: true, "aria-label": "Progress of the review"});
  const summary = h("div", {className: "summary"});
  const controls = h("div", {className: "judging"});
  const captions = h("p", {className: "counts"});
  const other = h("div", {className: "others"});
  const text = h("textarea", {
    rows: 5,
    "aria-label": "A game, a position or moves",
    placeholder: "PGN, SGF, KIF, CSA, FEN, SFEN or moves",
    spellcheck: false
  });
  const file =
    h("input",
      {type: "file", accept: ".pgn,.sgf,.kif,.kifu,.ki2,.csa,.txt", "aria-label": "A file of games", onchange: upload});
  const gameName =
    h("input",
      {type: "text", "aria-label": "Game of the moves", placeholder: "game, if these are moves", spellcheck: false});
  const chooser = h("div", {className: "panel", hidden: true});
  const unlearned = h("p", {className: "dim unlearned", role: "note", hidden: true});
  const faults = h("div", {className: "panel faults", role: "alert", hidden: true});
  const opener =
    h("details", {className: "panel opener", open: !fields.get("game")}, h("summary", {}, "Open a game"), text,
      h("div", {className: "row"}, gameName,
        h("button",
          {type: "button", className: "main", onclick: () => open({text: text.value, game: gameName.value.trim()})},
          "Open"),
        file));
  const button = (label, title, onclick) =>
    h("button", {type: "button", title, "aria-label": /[a-z]/i.test(label) ? null : title, onclick}, label);
  const heading = h("h1", {className: "unseen"}, "Analyse");
  main.append(
    heading, h("section", {className: "stage"}, board.whole, h("div", {className: "panel wide"}, graph, progress, comment)),
    h("section", {className: "side"}, opener, faults, chooser, headers,
      h("div", {className: "panel"}, says, unlearned, controls, lines, captions, other),
      h("div", {className: "panel list"}, list, variation,
        h("div", {className: "row browse"}, button("«", "First position", () => act("study.goto", {ply: 0})),
          button("‹", "One move back", () => act("study.back")), button("›", "One move on", forward),
          button("»", "Last position", () => act("study.goto", {ply: 2000})))),
      h("div", {className: "panel"},
        h("div", {className: "row"}, button("Review the game", "Search every position and mark the mistakes", start),
          choice(
            "Simulations a position", [["50", "50"], ["400", "400"], ["2000", "2000"], ["10000", "10,000"]],
            simulations,
            (value) => {
              simulations = value;
            })),
        summary, h("div", {className: "row exports"}))));

  async function act(what, more = {}) {
    try {
      const answer = await ask(what, more);
      look = null;
      owned = null;
      render(answer);
      if (isOn) searchHere();
    } catch (error) { toast(error.message); }
  }

  /** The next move: of the main line, or the first one of a branch. */
  function forward() {
    const next = tree[view.here + 1]?.after === view.here ? tree[view.here + 1] :
                                                            tree.find((one) => one && one.after === view.here);
    if (next) goto(next.at);
  }

  const goto = (node) => act("study.goto", {node});

  async function upload() {
    const chosen = file.files[0];
    if (!chosen) return;
    if (chosen.size > MOST_UPLOAD)
      return toast(
        `${chosen.name} has ${chosen.size.toLocaleString()} bytes, allowed are ${MOST_UPLOAD.toLocaleString()}.`);
    const bytes = await chosen.arrayBuffer();
    let decoded;
    try {
      decoded = new TextDecoder("utf-8", {fatal: true}).decode(bytes);
    } catch { decoded = new TextDecoder(/\.(kif|csa|ki2)$/i.test(chosen.name) ? "shift_jis" : "latin1").decode(bytes); }
    text.value = decoded;
    open({text: decoded, game: ""});
  }

  async function open(what) {
    try {
      const answer = await ask("study.open", what);
      if (view && view.game !== answer.game) analyst = "";  // the judge of another game knows nothing of this one
      pasted = {text: what.text ?? "", game: what.text ? what.game : undefined, index: what.index};
      found = look = owned = null;
      review = answer.review ?? null;
      points = review?.points ?? [];
      tree = [{at: 0}];
      opener.open = false;
      render(answer);
      opponents = (await ask("games.opponents", {game: answer.game}))
                    .opponents.filter((one) => ["network", "search"].includes(one.kind));
      if (!opponents.some((one) => one.name === analyst)) analyst = opponents[0].name;
      render(view);
      if (isOn) searchHere();
    } catch (error) { toast(error.message); }
  }

  async function searchHere() {
    try {
      await ask("study.look", {on: isOn, vs: analyst, lines: 3});
    } catch (error) { toast(error.message); }
  }

  async function start() {
    try {
      const {positions} = await ask("study.review", {vs: analyst, simulations: Number(simulations)});
      points = new Array(positions).fill(null);
      review = null;
      progress.hidden = false;
      progress.value = 0;
      render(view);
    } catch (error) { toast(error.message); }
  }

  function render(answer) {
    view = answer;
    for (const node of view.tree) tree[node.at] = node;
    view.tree = [];
    heading.textContent = `Analyse ${view.game}`;
    board.mover = view.mover;
    board.choices = view.choices;
    board.show(view.board, view.moves, marks());
    const at = view.variation.length ? null : view.ply;
    const players = view.players ? `${view.players[0]} – ${view.players[1]}. ` : "";
    says.textContent = view.over ? `${players}The game is over: ${view.over}.` :
                                   `${players}${look ? evaluation(look) : `${side(view.mover)} to move.`}`;
    controls.replaceChildren(
      h("button", {
        type: "button",
        "aria-pressed": String(isOn),
        onclick: () => {
          isOn = !isOn;
          localStorage.setItem("look", isOn ? "on" : "off");
          look = isOn ? look : null;
          searchHere();
          render(view);
        }
      },
        "Engine"),
      view.board.turns ?
        h("button", {type: "button", onclick: () => act("study.view", {flipped: !view.board.flipped})}, "Flip") :
        "",
      opponents.length ? choice(
                           "Who judges", opponents.map((one) => [one.name, one.name]), analyst,
                           (value) => {
                             analyst = value;
                             if (isOn) searchHere();
                           }) :
                         "",
      choice(
        "Show",
        [
          ["arrows", "best lines"], ["policy", "policy as heat"], ["visits", "visits as heat"],
          ...(view.hasOwners ? [["ownership", "territory"]] : [])
        ],
        overlay, (value) => {
          overlay = value;
          localStorage.setItem("overlay", value);
          board.mark(marks());
        }));
    lines.replaceChildren(
      ...(look?.lines ?? [])
        .map(
          (line) =>
            h("li", {},
              h("button", {type: "button", className: "quiet", onclick: () => act("study.move", {action: line.action})},
                line.moves[0]),
              h("b", {}, ` ${percent(line.rate)}`),
              h("span", {className: "dim"},
                ` ${percent(line.share)} of visits, prior ${percent(line.prior)}${line.proven ? ", proven" : ""}`),
              h("span", {className: "rest"}, line.moves.slice(1).join(" ")))));
    captions.textContent = (view.board.captions ?? []).join(" ");
    other.replaceChildren(...otherMoves(view.moves, (action) => act("study.move", {action})));
    renderMoves();
    variation.replaceChildren(...(
      view.variation.length ?
        [
          h("span", {className: "dim"}, view.isTried ? "You try: " : "A variation: "), view.variation.join(" "), " ",
          h("button", {type: "button", onclick: () => act("study.goto", {ply: view.ply})}, "Back to the game")
        ] :
        []));
    graph.replaceChildren(
      points.length ?
        course(points, (review?.moves ?? []).map((move) => move.mark), view.ply, (ply) => act("study.goto", {ply})) :
        h("p", {className: "dim"}, "Review the game to see its course: who stood better, and where that changed."));
    renderComment(at);
    renderHeaders();
    renderBar();
    showFaults();
    const isLearned = opponents.some((one) => one.kind === "network");
    unlearned.hidden = !opponents.length || isLearned;
    if (!unlearned.hidden)
      unlearned.replaceChildren(
        `No network here has learned ${
          view
            .game}: random games judge, and their moves are guesses, the more so on a large board. A file of a network is opened by `,
        h("code", {}, "zerosum web CHECKPOINT.json"), ".");
    chooser.hidden = view.others.length < 2;
    chooser.replaceChildren(
      chooser.hidden ? "" :
                       choice(
                         `Game of the file, one of ${view.others.length}`,
                         view.others.map((title, index) => [String(index), `${index + 1}. ${title}`]), view.index,
                         (index) => open({...pasted, index: Number(index)})));
    main.querySelector(".exports")
      .replaceChildren(...(
        review ?
          view.formats.map(
            (format) => h("button", {type: "button", onclick: () => save(format)}, `Save ${format.toUpperCase()}`)) :
          []));
    summary.replaceChildren(
      review ?
        h("table", {},
          h("thead", {},
            h("tr", {}, ["", ...Object.values(PLURALS), "lost a move"].map((word) => h("th", {scope: "col"}, word)))),
          h("tbody", {},
            review.players.map(
              (one, player) =>
                h("tr", {}, h("th", {scope: "row"}, view.players?.[player] ?? side(player)),
                  Object.keys(PLURALS).map((word) => h("td", {}, String(one[word]))),
                  h("td", {}, one.loss === null ? "–" : percent(one.loss, 1)))))) :
        "");
    setAddress(
      "analyse",
      {game: view.game, moves: view.ownMoves, start: view.start, ply: view.ply, branch: view.branch, vs: analyst});
    remember();
  }

  /**
   * What is no part of the address stays in this tab, so that a reload has it: the record's text, and moves that were
   * tried.
   */
  function remember() {
    try {
      sessionStorage.setItem(
        "study", JSON.stringify({of: [view.game, view.start, view.ownMoves], ...pasted, tried: view.tried}));
    } catch { sessionStorage.removeItem("study"); /* the text is larger than the browser's store */ }
  }

  function remembered(known) {
    try {
      const {of, ...rest} = JSON.parse(sessionStorage.getItem("study"));
      return of.join("\n") === [known.game, known.start ?? "", known.moves ?? ""].join("\n") ? rest : {};
    } catch { return {}; }
  }

  /** The bar beside the board: the first player's chance by the search, by the review, or by the result. */
  function renderBar() {
    const ofReview = view.variation.length ? null : points[view.ply];
    const rate = look ? (look.mover === 0 ? look.rate : 1 - look.rate) : ofReview ? ofReview[0] : null;
    bar.hidden = rate === null;
    if (rate === null) return;
    const name = view.sides[0].replace(/^the /, "");
    bar.dataset.colours = view.sides.join(" ").replaceAll("the ", "");
    bar.style.setProperty("--share", rate);
    bar.classList.toggle("turned", Boolean(view.board.flipped));
    bar.ariaLabel = `Expected result of ${view.sides[0]}`;
    bar.ariaValueNow = String(Math.round(100 * rate));
    bar.ariaValueText = bar.title = `${name} ${percent(rate)}`;
    bar.querySelector(".number").textContent = Math.round(100 * rate);
  }

  /** What the record and the review say of the current move. */
  function renderComment(at) {
    const node = tree[view.here] ?? {}, move = at ? review?.moves[at - 1] : null;
    const facts =
      [
        node.value && `evaluation ${node.value}`, node.clock && `${node.clock} left`,
        node.spent && `took ${node.spent}`, node.ending
      ].filter(Boolean)
        .join(", ");
    const said = view.here === 0 ? view.comments : [...(node.before ?? []), ...(node.comments ?? [])];
    comment.replaceChildren(
      ...(
        move ? [h(
                 "p", {},
                 move.mark ?
                   `${view.history[at - 1]} is ${move.mark === "?!" ? "an" : "a"} ${WORDS[move.mark]}: it gives away ${
                     percent(move.loss, 1)}. Better was ${move.better.join(" ")}.` :
                   `${view.history[at - 1]} is fine.`)] :
               []),
      ...said.map((text) => h("p", {className: "said"}, text)), ...(facts ? [h("p", {className: "dim"}, facts)] : []));
  }

  function renderHeaders() {
    headers.hidden = !view.headers.length;
    headers.replaceChildren(
      h("summary", {}, "About this game"),
      h("table", {},
        h("tbody", {},
          view.headers.map(([name, value]) => h("tr", {}, h("th", {scope: "row"}, name), h("td", {}, value))))));
  }

  /** What could not be read of the record; an unchanged list is not said again. */
  function showFaults() {
    const number = view.history.length;
    const words = view.warnings.length ?
      [`${number} move${number === 1 ? "" : "s"} could be read. The record has faults:`, ...view.warnings] :
      [];
    if (faults.dataset.words === words.join("\n")) return;
    faults.dataset.words = words.join("\n");
    faults.hidden = !words.length;
    faults.replaceChildren(
      ...(words.length ? [h("p", {}, words[0]), h("ul", {}, words.slice(1).map((word) => h("li", {}, word)))] : []));
  }

  /** The name of a side at the beginning of a sentence. */
  const side = (player) => view.sides[player].charAt(0).toUpperCase() + view.sides[player].slice(1);

  function evaluation(one) {
    if (one.proven !== null && one.proven !== undefined)
      return `${side(one.mover)} to move: ${
        one.proven > 0   ? "a proven win" :
          one.proven < 0 ? "a proven loss" :
                           "a proven draw"}.`;
    const draw = one.draw === null ? "" : `, draws ${percent(one.draw)}`;
    return `${side(one.mover)} to move: ${percent(one.rate, 1)}${draw} (${
      one.simulations.toLocaleString()} simulations by ${one.by}).`;
  }

  function marks() {
    const isTerritory = overlay === "ownership";
    if (isTerritory && view.hasOwners) return {ownership: owned};
    if (overlay !== "arrows" && !isTerritory) return {heat: look?.heat?.[overlay] ?? []};
    const arrows = (look?.lines ?? []).map((line, index) => [line.cells, line.share, index ? "other" : "best"]);
    const move = review && !view.variation.length ? review.moves[view.ply] : null;
    if (!arrows.length && move?.mark && move.cells.length) arrows.push([move.cells, 0.5, "best"]);
    return {arrows};
  }

  function renderMoves() {
    const drawn = [view.comments, tree.length, view.history, review?.by, review?.moves.map((move) => move.mark)];
    if (JSON.stringify(drawn) !== list.dataset.drawn || list.dataset.of !== view.ownMoves)
      list.replaceChildren(...moveTree({
        tree,
        length: view.history.length,
        comments: view.comments,
        marks: review?.moves.map((move) => move.mark) ?? [],
        goto
      }));
    list.dataset.drawn = JSON.stringify(drawn);
    list.dataset.of = view.ownMoves;
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const current = list.querySelector(`[data-node="${view.here}"]`);
    current?.setAttribute("aria-current", "true");
    if (current)
      list.scrollTop += current.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
    else list.scrollTop = 0;
  }

  async function save(format) {
    try {
      const saved = await ask("study.export", {format});
      download(saved.name, saved.text);
    } catch (error) { toast(error.message); }
  }

  on("look", (event) => {
    if (event.here !== view?.here || !isOn) return;
    look = event;
    const focused = document.activeElement;
    says.textContent = `${view.players ? `${view.players[0]} – ${view.players[1]}. ` : ""}${evaluation(look)}`;
    renderBar();
    if (!lines.contains(focused))
      lines.replaceChildren(...look.lines.map(
        (line) =>
          h("li", {},
            h("button", {type: "button", className: "quiet", onclick: () => act("study.move", {action: line.action})},
              line.moves[0]),
            h("b", {}, ` ${percent(line.rate)}`),
            h("span", {className: "dim"},
              ` ${percent(line.share)} of visits, prior ${percent(line.prior)}${line.proven ? ", proven" : ""}`),
            h("span", {className: "rest"}, line.moves.slice(1).join(" ")))));
    board.mark(marks());
  });
  on("owned", (event) => {
    if (event.here === view?.here) {
      owned = event.ownership;
      board.mark(marks());
    }
  });
  on("progress", ({done, of, points: newest}) => {
    progress.value = done / of;
    if (newest.length) points[done - 1] = newest[0];
    graph.replaceChildren(course(points, [], view.ply, (ply) => act("study.goto", {ply})));
  });
  on("reviewed", (event) => {
    review = event;
    points = event.points;
    progress.hidden = true;
    render(view);
  });
  on("trouble", ({says: said}) => {
    progress.hidden = true;
    toast(said);
  });

  function key(event) {
    if (
      event.target.closest("input, select, dialog, textarea") || event.ctrlKey || event.metaKey || event.altKey ||
      !view)
      return;
    if (board.element.contains(document.activeElement)) return;
    if (event.key === "ArrowLeft") act("study.back");
    else if (event.key === "ArrowRight") forward();
    else return;
    event.preventDefault();
  }
  addEventListener("keydown", key);

  whenOpen(() => {
    const known =
      view ? Object.fromEntries(new URLSearchParams(location.hash.split("?")[1])) : Object.fromEntries(fields);
    const kept = known.game ? remembered(known) : {};
    const place = {ply: Number(known.ply ?? 0), branch: known.branch ?? "", tried: kept.tried};
    if (kept.text) return open({text: kept.text, game: kept.game, index: kept.index, ...place});
    return open({game: known.game ?? "chess", moves: known.moves ?? "", start: known.start ?? "", ...place});
  });
  return () => removeEventListener("keydown", key);
}
