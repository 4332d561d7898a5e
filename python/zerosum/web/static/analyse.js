// Analyse a game or a position: paste or upload, walk, try moves, review, export.

import {setAddress} from "./address.js";
import {Board, captionsOf, otherMoves} from "./board.js";
import {course} from "./chart.js";
import {choice, download, h, toast} from "./dom.js";
import {arrowsOf, evaluation, EvaluationBar, leadWords, lineRows, sideName} from "./engine_lines.js";
import {keepReview, reviewedGames} from "./mistakes.js";
import {moveTree} from "./moves.js";
import {opener} from "./opener.js";
import {REVIEWS, SEARCHES} from "./players.js";
import {commentParts, lossDots, summaryTable} from "./review_parts.js";
import {ask, on, whenOpen} from "./wire.js";

const SPOKEN_SECONDS = 2;  // of a search, after which its value is said aloud

export function show(main, fields) {
  let view = null, look = null, second = null, points = [], review = null, owned = null;
  let isOn = localStorage.getItem("look") !== "off", isNumbered = localStorage.getItem("numbers") === "on";
  let analyst = fields.get("vs") ?? "", rival = fields.get("vs2") ?? "", opponents = [], pasted = {}, tree = [];
  let overlay = localStorage.getItem("overlay") ?? "arrows", simulations = "400";
  let spoken = {here: null, isJudged: false};  // of which position something was said aloud, and whether its value
  const board = new Board((action) => act("study.move", {action}), "Board to analyse on");
  const bar = new EvaluationBar();
  board.whole.prepend(bar.element);
  const names = h("span", {className: "names"}), said = h("span");
  const says = h("p", {className: "says"}, names, " ", said);
  const aloud =
    h("p", {className: "unseen", role: "status", "aria-live": "polite"});  // once a position, not each report
  const lines = h("ol", {className: "lines"});
  const secondSays = h("p", {className: "second-says"}), secondLines = h("ol", {className: "lines second"});
  const more = h("details", {className: "more-engines", open: Boolean(rival)});
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
  const effort = h("div"), flip = h("span", {className: "flip"});
  const chooser = h("div", {className: "chooser", hidden: true});
  const unlearned = h("p", {className: "dim unlearned", role: "note", hidden: true});
  const faults = h("div", {className: "panel faults", role: "alert", hidden: true});
  const opening = opener(!fields.get("game"), open);
  const button = (label, title, onclick) =>
    h("button", {type: "button", title, "aria-label": /[a-z]/i.test(label) ? null : title, onclick}, label);
  const heading = h("h1", {className: "unseen"}, "Analyse");
  main.append(
    heading,
    h("section", {className: "stage"}, board.whole, h("div", {className: "panel wide"}, graph, progress, comment)),
    h("section", {className: "side"}, h("div", {className: "files"}, opening, headers, chooser), faults,
      h("div", {className: "panel"}, aloud, says, unlearned, controls, lines, secondSays, secondLines,
        h("div", {className: "more-row"}, other, more), captions),
      h("div", {className: "panel list"}, list, variation,
        h("div", {className: "row browse"}, button("«", "First position", () => act("study.goto", {ply: 0})),
          button("‹", "One move back", () => act("study.back")), button("›", "One move on", forward),
          button("»", "Last position", () => act("study.goto", {ply: 2000})), flip)),
      h("div", {className: "panel"},
        h("div", {className: "row reviewing"},
          button("Review the game", "Search every position and mark the mistakes", start), effort),
        summary, h("div", {className: "row exports"}))));

  async function act(what, more = {}) {
    try {
      const answer = await ask(what, more);
      look = second = owned = null;
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

  async function open(what) {
    try {
      const answer = await ask("study.open", what);
      if (view && view.game !== answer.game) analyst = "";  // the judge of another game knows nothing of this one
      pasted = {text: what.text ?? "", game: what.text ? what.game : undefined, index: what.index};
      look = second = owned = null;
      review = answer.review ?? null;
      points = review?.points ?? [];
      tree = [{at: 0}];
      opening.open = false;
      render(answer);
      opponents =
        (await ask("games.opponents", {game: answer.game})).opponents.filter((one) => SEARCHES.includes(one.kind));
      if (!opponents.some((one) => one.name === analyst)) analyst = opponents[0].name;
      if (!opponents.some((one) => one.name === rival)) rival = "";
      if (isNumbered) view = await ask("study.view", {numbered: true});
      render(view);
      if (isOn) searchHere();
    } catch (error) { toast(error.message); }
  }

  async function searchHere() {
    try {
      await ask("study.look", {on: isOn, vs: analyst, vs2: rival || null, lines: 3});
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
    names.textContent = names.title = view.players ? view.players.join(" – ") : "";
    const plain = view.over ? `The game is over: ${view.over}.` : `${sideName(view, view.mover)} to move.`;
    said.textContent = look && !view.over ? evaluation(view, look) : plain;
    if (spoken.here !== view.here || view.over) say(plain);
    renderControls();
    lines.replaceChildren(...lineRows(view, look, tryMove));
    renderSecond();
    captions.textContent = captionsOf(view.board);
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
    const isLearned = opponents.some((one) => /network/.test(one.kind));
    unlearned.hidden = !opponents.length || isLearned;
    if (!unlearned.hidden)
      unlearned.replaceChildren(
        `No network here has learned ${view.game}: random games judge, and their moves are guesses, ` +
          "the more so on a large board. A file of a network is opened by ",
        h("code", {}, "zerosum web CHECKPOINT.json"), ".");
    chooser.hidden = view.others.length < 2;
    chooser.replaceChildren(
      chooser.hidden ?
        "" :
        choice(
          `Game of the file, one of ${view.others.length}`,
          view.others.map((title, index) => [String(index), `${index + 1} of ${view.others.length}: ${title}`]),
          view.index, (index) => open({...pasted, index: Number(index)})));
    main.querySelector(".exports")
      .replaceChildren(...(
        review ?
          view.formats.map(
            (format) => h("button", {type: "button", onclick: () => save(format)}, `Save ${format.toUpperCase()}`)) :
          []));
    summary.replaceChildren(review ? summaryTable(view, review) : "", puzzles());
    setAddress("analyse", {
      game: view.game,
      moves: view.ownMoves,
      start: view.start,
      ply: view.ply,
      branch: view.branch,
      vs: analyst,
      vs2: rival
    });
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

  /** Say a text aloud, once. */
  function say(text, isJudged = false) {
    spoken = {here: view.here, isJudged};
    if (aloud.textContent !== text) aloud.textContent = text;
  }

  const tryMove = (action) => act("study.move", {action});
  const engines = () => opponents.map((one) => [one.name, one.name]);
  const toggle = (label, isPressed, onclick) =>
    h("button", {type: "button", "aria-pressed": isPressed === null ? null : String(isPressed), onclick}, label);

  function renderControls() {
    const turnEngine = () => {
      isOn = !isOn;
      localStorage.setItem("look", isOn ? "on" : "off");
      if (!isOn) look = second = null;
      searchHere();
      render(view);
    };
    const judge = (value) => {
      analyst = value;
      if (isOn) searchHere();
      render(view);
    };
    const shown = [["arrows", "best lines"], ["policy", "policy as heat"], ["visits", "visits as heat"]];
    if (view.hasOwners) shown.push(["ownership", "territory"]);
    const numbers = REVIEWS[opponents.find((one) => one.name === analyst)?.kind ?? "network"];
    if (!numbers.some(([value]) => value === simulations)) simulations = numbers[1][0];
    effort.replaceChildren(choice("Search of a position", numbers, simulations, (value) => {
      simulations = value;
    }));
    flip.replaceChildren(
      view.board.turns ? toggle("Flip", null, () => act("study.view", {flipped: !view.board.flipped})) : "");
    flip.hidden = !view.board.turns;
    controls.replaceChildren(
      toggle("Engine", isOn, turnEngine), opponents.length ? choice("Who judges", engines(), analyst, judge) : "",
      choice("Show", shown, overlay, (value) => {
        overlay = value;
        localStorage.setItem("overlay", value);
        board.mark(marks());
      }));
  }

  /** The second engine, and what is wanted less often. */
  function renderSecond() {
    const choose = (value) => {
      rival = value;
      second = null;
      if (isOn) searchHere();
      render(view);
    };
    const number = () => {
      isNumbered = !isNumbered;
      localStorage.setItem("numbers", isNumbered ? "on" : "off");
      act("study.view", {numbered: isNumbered});
    };
    if (more.dataset.drawn !== JSON.stringify([opponents, rival, view.canNumber, isNumbered])) {
      more.dataset.drawn = JSON.stringify([opponents, rival, view.canNumber, isNumbered]);
      more.replaceChildren(
        h("summary", {}, view.canNumber ? "Second engine, move numbers" : "Second engine"),
        choice("Second engine", [["", "none"], ...engines()], rival, choose),
        view.canNumber ? toggle("Move numbers", isNumbered, number) : "");
    }
    const isShown = Boolean(rival && second);
    secondSays.hidden = secondLines.hidden = !isShown;
    if (isShown) secondSays.textContent = evaluation(view, second);
    if (!secondLines.contains(document.activeElement)) secondLines.replaceChildren(...lineRows(view, second, tryMove));
  }

  /** Links to the mistakes of the review, and of all games that were reviewed here, as positions to solve. */
  function puzzles() {
    const number = (review?.moves ?? []).filter((move) => move.mark && move.mark !== "?!").length;
    const all = reviewedGames().reduce((sum, one) => sum + one.puzzles.length, 0), links = [];
    if (number) {
      const query = new URLSearchParams({game: view.game, moves: view.ownMoves, vs: analyst});
      if (view.start) query.set("start", view.start);
      const words = `Solve ${number === 1 ? "the mistake" : `the ${number} mistakes`}`;
      links.push(h("a", {className: "button", href: `#/puzzles?${query}`}, words), " ");
    }
    if (all > number) links.push(h("a", {href: "#/puzzles"}, `All ${all} mistakes of your reviewed games`));
    return links.length ? h("p", {}, links) : "";
  }

  /** This browser keeps the mistakes of the review. */
  function keepMistakes() {
    const {game, start, ownMoves: moves, players} = view;
    const title = players ? players.join(" – ") : `${view.history.length} moves`;
    keepReview(
      {game, start, moves, vs: analyst, title, day: new Date().toISOString().slice(0, 10), puzzles: review.puzzles});
  }

  /** The bar beside the board: by the search, or by the review. */
  function renderBar() {
    const ofReview = view.variation.length ? null : points[view.ply];
    bar.show(view, look ? (look.mover === 0 ? look.rate : 1 - look.rate) : ofReview ? ofReview[0] : null);
  }

  function renderComment(at) {
    comment.replaceChildren(...commentParts(view, tree[view.here] ?? {}, review, at));
    const lead = view.variation.length ? "" : leadWords(view, review?.leads?.[view.ply]);
    if (lead) comment.append(h("p", {className: "dim"}, `By the review, ${lead}.`));
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

  function marks() {
    const isTerritory = overlay === "ownership";
    if (isTerritory && view.hasOwners) return {ownership: owned, arrows: arrowsOf(look, second)};
    if (overlay !== "arrows" && !isTerritory) return {heat: look?.heat?.[overlay] ?? []};
    const arrows = arrowsOf(look, second);
    const move = review && !view.variation.length ? review.moves[view.ply] : null;
    if (!arrows.length && move?.mark && move.cells.length) arrows.push([move.cells, 0.5, "best"]);
    return {arrows, dots: lossDots(view, review), numbers: isNumbered ? view.numbers : []};
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
    said.textContent = evaluation(view, look);
    if (!spoken.isJudged && (look.stop_reason || look.seconds >= SPOKEN_SECONDS)) say(said.textContent, true);
    renderBar();
    if (!lines.contains(document.activeElement)) lines.replaceChildren(...lineRows(view, look, tryMove));
    board.mark(marks());
  });
  on("look2", (event) => {
    if (event.here !== view?.here || !isOn) return;
    second = event;
    renderSecond();
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
    keepMistakes();
    render(view);
    if (isOn) searchHere();  // the review has ended the search of the position
  });
  on("trouble", ({says: words}) => {
    progress.hidden = true;
    toast(words);
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
  // An engine looks as long as somebody looks at it.
  const rest = () => {
    if (isOn && view)
      ask("study.look", {on: !document.hidden, vs: analyst, vs2: rival || null, lines: 3}).catch(() => {});
  };
  document.addEventListener("visibilitychange", rest);
  return () => {
    removeEventListener("keydown", key);
    document.removeEventListener("visibilitychange", rest);
  };
}
