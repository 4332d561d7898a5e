// Runs: curves of one or several, newest games to click through, checkpoints to play.

import {setAddress} from "./address.js";
import {showBlindSpots} from "./blind_spots.js";
import {Board} from "./board.js";
import {areas, chart, course} from "./chart.js";
import {choice, download, h, keepingFocus, percent, toast} from "./dom.js";
import {keptFields} from "./kept.js";
import {settingsTable} from "./run_settings.js";
import {ask, whenOpen} from "./wire.js";

const AXES = [["minutes", "minutes"], ["step", "learner steps"], ["games", "games"], ["evaluations", "evaluations"]];
const SMOOTHINGS = [0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.99];
const POLL = 5000;

export function show(main, fields) {
  let runs = [], chosen = (fields.get("runs") ?? "").split(",").filter(Boolean), axis = fields.get("axis") ?? "minutes",
      timer = null, board = null, loaded = [];
  const list = h("div", {className: "run-list"}), curves = h("div", {className: "curves"}), facts = h("div"),
        openings = h("div", {className: "curves"}), blind = h("section"),
        games = h("section", {className: "panel run-games"});
  let mayTrain = false, isLeft = false, drawn = "", newestOf = null;
  const starter = h("div"), settings = h("div");
  const kept = keptFields("curves");
  const shown = {
    smoothing: kept.smoothing > 0 && kept.smoothing < 1 ? kept.smoothing : 0,
    isLogX: kept.isLogX === true,
    isLogY: kept.isLogY === true
  };
  main.append(
    h("h1", {}, "Runs"),
    h("p", {}, h("a", {href: "#/tour"}, "Take the tour"),
      ": watch a network learn Connect Four here in two minutes, and see what it learned when."),
    list, starter, facts, blind, curves, settings, openings, games);

  async function train(what, fields_) {
    try {
      const {command} = await ask(what, fields_);
      toast(command);
      setTimeout(refresh, 1500);
    } catch (error) { toast(error.message); }
  }

  async function offerTraining() {
    ({allowed: mayTrain} = await ask("runs.may_train"));
    if (!mayTrain) return;
    const known = await ask("games.list");
    let game = "connect4";
    const
      name = h(
        "input",
        {type: "text", value: "", placeholder: "name of the run", "aria-label": "Name of the run", spellcheck: false}),
      minutes = h("input", {type: "number", value: 10, min: 1, "aria-label": "Minutes"});
    starter.replaceChildren(
      h("details", {className: "panel"}, h("summary", {}, "Begin a training"),
        choice(
          "Game to learn", known.filter((one) => !one.own).map((one) => [one.name, one.name]), game,
          (value) => {
            game = value;
          }),
        h("div", {className: "row inputs"}, name, minutes,
          h("button", {
            type: "button",
            className: "main",
            onclick: () => train("runs.train", {run: name.value.trim(), game, minutes: Number(minutes.value)})
          },
            "Begin")),
        h("p", {className: "dim"},
          "The command line is shown when it has begun; the training continues when this page is closed.")));
  }

  async function refresh() {
    clearTimeout(timer);
    if (isLeft) return;
    try {
      runs = await ask("runs.list");
      if (!chosen.length && runs.length) chosen = [runs.find((run) => !run.trouble)?.name].filter(Boolean);
      loaded = (await Promise.all(chosen.map((run) => ask("runs.curves", {run}).catch((error) => {
                 toast(error.message);
                 return null;
               }))))
                 .filter(Boolean);
      const now = JSON.stringify([runs, chosen, loaded]);
      if (now !== drawn) render();
      drawn = now;
    } catch (error) { toast(error.message); }
    if (!isLeft) timer = setTimeout(() => refresh().then(moreGames), POLL);
  }

  const render = () => keepingFocus(main, draw);

  function drawCharts(rows, rated) {
    const look = {x: AXES.find(([one]) => one === axis)[1], ...shown};
    const share = (value) => percent(value, 1);
    curves.replaceChildren(
      chart(rated, {...look, title: "Elo (random play is 0)", smoothing: 0, isLogY: false}),
      chart(rows("mistakes"), {...look, title: "Mistakes in solved positions", low: 0, format: share}),
      chart(rows("policy_loss"), {...look, title: "Policy loss, nats"}),
      chart(rows("value_error"), {...look, title: "Squared error of the value", low: 0}),
      chart(rows("evaluations_per_second"), {...look, title: "Evaluations a second", low: 0}),
      chart(rows("positions"), {...look, title: "Recorded positions", low: 0}));
  }

  /** How the curves are drawn: their axis, smoothing and logarithms. */
  function chartControls() {
    const set = (name, value) => {
      shown[name] = value;
      localStorage.setItem("curves", JSON.stringify(shown));
      render();
    };
    const check = (label, name) =>
      h("label", {className: "check"},
        h("input", {type: "checkbox", checked: shown[name], onchange: (event) => set(name, event.target.checked)}),
        ` ${label}`);
    const percents = SMOOTHINGS.map((value) => [String(value), value ? value.toFixed(2) : "none"]);
    return h(
      "div", {className: "row chart-controls"},
      choice(
        "Against", AXES, axis,
        (value) => {
          axis = value;
          render();
        }),
      choice("Smoothing", percents, String(shown.smoothing), (value) => set("smoothing", Number(value))),
      check("logarithmic x", "isLogX"), check("logarithmic y", "isLogY"));
  }

  /** The settings of the shown runs side by side. */
  async function showSettings() {
    const wanted = chosen.join();
    const found = await Promise.all(chosen.map((run) => ask("runs.settings", {run}).catch(() => null)));
    if (wanted !== chosen.join() || isLeft) return;
    const known = found.filter(Boolean), place = h("div", {className: "scroll"});
    const all = h("input", {type: "checkbox", checked: known.length < 2, onchange: () => fill()});
    const fill = () => place.replaceChildren(settingsTable(known, all.checked));
    fill();
    settings.replaceChildren(...(
      known.length ?
        [h(
          "details", {className: "panel run-settings", open: settings.querySelector("details")?.open ?? false},
          h("summary", {}, known.length > 1 ? "Settings side by side" : "Settings"),
          known.length > 1 ? h("label", {className: "check"}, all, " also those in which they agree") : "", place)] :
        []));
  }

  async function saveCsv(run) {
    try {
      const {name, text} = await ask("runs.csv", {run});
      download(name, text, "text/csv");
    } catch (error) { toast(error.message); }
  }

  function draw() {
    if (!runs.length)
      return list.replaceChildren(
        h("p", {}, "There are no runs in the given directories. "), h("code", {}, "zerosum train connect4"),
        " begins one.");
    setAddress("runs", {runs: chosen.join(","), axis});
    list.replaceChildren(h(
      "div", {className: "panel scroll"},
      h("table", {},
        h("thead", {},
          h("tr", {},
            ["", "run", "game", "steps", "games", "minutes", "Elo", ""].map(
              (word) => (word ? h("th", {scope: "col"}, word) : h("td", {}))))),
        h("tbody", {},
          runs.map(
            (run) => h(
              "tr", {}, h("td", {}, h("input", {
                            type: "checkbox",
                            checked: chosen.includes(run.name),
                            disabled: Boolean(run.trouble),
                            "aria-label": `Show ${run.name}`,
                            onchange: (event) => {
                              chosen = event.target.checked ? [...chosen, run.name] :
                                                              chosen.filter((name) => name !== run.name);
                              refresh().then(newest).then(showOpenings).then(showSettings);
                            }
                          })),
              h("th", {scope: "row"}, run.name),
              run.trouble ?
                h("td", {colSpan: 6, className: "bad"}, run.trouble) :
                [run.game, run.step?.toLocaleString(), run.games?.toLocaleString(), run.minutes, run.elo ?? "–"].map(
                  (cell) => h("td", {}, String(cell))),
              h("td", {}, run.live ? h("span", {className: "live"}, "learning") : "")))))));
    const rows = (field, extra) =>
      loaded.map((run) => ({
                   name: run.name,
                   points: run.rows.filter((row) => row[field] !== null)
                             .map((row) => [row[axis], row[field], ...(extra ? [row[extra]] : [])])
                 }));
    const rated = loaded.map((run) => ({
                               name: run.name,
                               points: run.checkpoints.filter((one) => one.elo !== null)
                                         .map(
                                           (one) =>
                                             [axis === "minutes" ? one.minutes :
                                                axis === "step"  ? one.step :
                                                                   at(run, one.step),
                                              one.elo, one.error, one.says])
                             }));
    drawCharts(rows, rated);
    facts.replaceChildren(
      chartControls(),
      ...loaded.map(
        (run) => h(
          "div", {className: "panel fact"}, h("h2", {}, run.name, " ", h("span", {className: "dim"}, run.game)),
          h("p", {}, h("b", {}, "Is it learning? "), run.verdict),
          h("p", {className: "dim"},
            `Budget ${run.budget}; ${run.left || "nothing is recorded yet"}. Begun or continued with `,
            h("code", {}, run.command)),
          run.cores && h("p", {className: "dim"}, run.cores),
          mayTrain ?
            h("p", {},
              run.live ?
                h("button",
                  {type: "button", "data-key": `train ${run.name}`, onclick: () => train("runs.stop", {run: run.name})},
                  "Stop learning") :
                h("button", {
                  type: "button",
                  "data-key": `train ${run.name}`,
                  onclick: () =>
                    train("runs.train", {run: run.name, minutes: Math.round((run.rows.at(-1)?.minutes ?? 0) + 10)})
                },
                  "Learn for 10 more minutes")) :
            "",
          h("p", {},
            h("a", {className: "button main", href: `#/play?${new URLSearchParams({game: run.game, vs: run.name})}`},
              "Play it"),
            " ",
            h("a", {className: "button", href: `#/search?${new URLSearchParams({game: run.game, vs: run.name})}`},
              "Watch it search"),
            " ",
            h("button",
              {type: "button", "data-key": `blind ${run.name}`, onclick: () => showBlindSpots(blind, run.name)},
              "Blind spots"),
            " ",
            h("button", {type: "button", "data-key": `csv ${run.name}`, onclick: () => saveCsv(run.name)}, "Save CSV"),
            " ",
            ...(
              run.checkpoints.length > 1 ?
                [
                  h("a",
                    {
                      className: "button",
                      href: `#/match?${new URLSearchParams({
                        game: run.game,
                        first: run.name,
                        second: `${run.name} step ${run.checkpoints.at(-2).step}`
                      })}`
                    },
                    "Pit two checkpoints"),
                  " ", h("span", {className: "dim"}, "or an earlier one: "),
                  ...run.checkpoints.slice(-12).map(
                    (one) =>
                      h("a",
                        {
                          className: "step",
                          href: `#/play?${new URLSearchParams({game: run.game, vs: `${run.name} step ${one.step}`})}`
                        },
                        String(one.step)))
                ] :
                [])))));
  }

  const at = (run, step) => run.rows.find((row) => row.step >= step)?.[axis] ?? run.rows.at(-1)?.[axis] ?? 0;

  async function newest() {
    const run = chosen[0];
    if (!run) return games.replaceChildren();
    try {
      const found = await ask("runs.games", {run});
      newestOf = {run, ids: ids(found), at: progress(run)};
      games.replaceChildren(
        h("h2", {}, `Newest games of ${run}`),
        found.games.length ? h("div", {className: "game-browser"},
                               h("ol", {className: "game-list"}, found.games.map((game) => gameLine(run, game))),
                               h("div", {className: "replay"})) :
                             h("p", {className: "dim"}, "No game is finished yet."));
      if (found.games.length) look(run, found.games[0].id, found.games[0].opening);
    } catch (error) { games.replaceChildren(h("p", {className: "dim"}, error.message)); }
  }

  const gameLine = (run, game) =>
    h("li", {},
      h("button", {type: "button", "data-key": `game ${game.id}`, onclick: () => look(run, game.id, game.opening)},
        `Game ${game.id}: `,
        h("b", {},
          game.outcome > 0   ? "first player won" :
            game.outcome < 0 ? "second player won" :
                               "drawn"),
        h("span", {className: "dim"}, ` ${game.plies} plies, ${game.ending}, step ${game.step}`)));
  const ids = (found) => found.games.map((game) => game.id).join();
  const progress = (name) => {
    const run = runs.find((one) => one.name === name);
    return `${run?.step} ${run?.games}`;
  };

  /** New games of a run that learns; the game that is looked at stays. */
  async function moreGames() {
    const run = chosen[0];
    if (
      isLeft || !run || newestOf?.run !== run ||
      (!runs.find((one) => one.name === run)?.live && newestOf.at === progress(run)))
      return;
    try {
      const found = await ask("runs.games", {run}), list_ = games.querySelector(".game-list");
      if (isLeft || newestOf?.run !== run) return;
      if (!list_) return found.games.length ? newest() : undefined;
      newestOf.at = progress(run);
      if (ids(found) === newestOf.ids) return;
      newestOf.ids = ids(found);
      keepingFocus(games, () => list_.replaceChildren(...found.games.map((game) => gameLine(run, game))));
    } catch { /* the next poll asks again */
    }
  }

  /** The first moves of all shown runs over time. */
  async function showOpenings() {
    const wanted = chosen.join();
    const found = await Promise.all(chosen.map((run) => ask("runs.openings", {run}).catch(() => null)));
    if (wanted !== chosen.join()) return;
    openings.replaceChildren(...found.flatMap(
      (one, index) =>
        (one?.points.length ?
           [areas(
             one.points, one.moves,
             {title: `First moves of ${chosen[index]}`, x: "games; those with a random first move are left out"})] :
           [])));
  }

  async function look(run, number, ply) {
    try {
      const game = await ask("runs.game", {run, number, ply});
      const place = games.querySelector(".replay");
      board = new Board(() => {}, "Position of a recorded game");
      const thought = game.thought;
      const go = (to) => look(run, number, Math.min(Math.max(to, 0), game.history.length));
      place.replaceChildren(
        board.whole,
        h("div", {className: "row browse"},
          [
            ["«", "First position", 0], ["‹", "One move back", game.ply - 1], ["›", "One move on", game.ply + 1],
            ["»", "Last position", game.history.length]
          ].map(([text, title,
                  to]) => h("button", {type: "button", "aria-label": title, onclick: () => go(to)}, text))),
        h("p", {role: "status"},
          game.ply < game.history.length ?
            `Move ${game.ply + 1} of ${game.history.length}: ${game.history[game.ply]}. ` :
            `The end: ${game.ending}. `,
          thought && !thought.opening ? `The search gave the mover ${percent(thought.rate)} (the network alone ${
                                          percent(thought.net)}) after ${thought.simulations} simulations.` :
            thought ? "A random move of the opening, without a search." :
                      ""),
        thought?.moves.length ?
          h("p", {className: "dim"},
            "Shares of the search: ", thought.moves.map((one) => `${one.move}: ${percent(one.share)}`).join(", ")) :
          "",
        course([...game.values.map((value) => [value, null]), [(1 + game.outcome) / 2, null]], [], game.ply, go));
      board.show(game.board, [], {
        arrows: (thought?.moves ?? []).slice(0, 3).map((one, index) => [one.cells, one.share, index ? "other" : "best"])
      });
    } catch (error) { toast(error.message); }
  }

  whenOpen(() => offerTraining().then(refresh).then(newest).then(showOpenings).then(showSettings));
  return () => {
    isLeft = true;
    clearTimeout(timer);
  };
}
