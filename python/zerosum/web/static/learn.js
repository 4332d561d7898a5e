// The teaching page: nine nodes, one simulation at a time.

import {setAddress} from "./address.js";
import {button, repeating} from "./controls.js";
import {choice, download, h, s, toast} from "./dom.js";
import {ask, whenOpen} from "./wire.js";

// Centres of the boxes: from top to bottom, and from left to right where the screen is narrow.
const TALL = {
  viewBox: "0 0 900 400",
  places: {
    root: [450, 44],
    A: [170, 180],
    B: [450, 180],
    C: [730, 180],
    A1: [80, 330],
    A2: [260, 330],
    B1: [450, 330],
    C1: [640, 330],
    C2: [820, 330]
  },
  box: [124, 58],
  root: "you choose",
  edge: ([x1, y1], [x2, y2]) => ({x1, y1: y1 + 26, x2, y2: y2 - 30}),
  label: ([x1, y1], [x2, y2]) =>
    ({x: (x1 + x2) / 2 + (x2 < x1 ? -8 : 8), y: (y1 + y2) / 2 + 4, "text-anchor": x2 < x1 ? "end" : "start"})
};
const NARROW = {
  viewBox: "0 0 400 436",
  places: {
    root: [44, 218],
    A: [190, 92],
    B: [190, 218],
    C: [190, 344],
    A1: [337, 50],
    A2: [337, 136],
    B1: [337, 222],
    C1: [337, 308],
    C2: [337, 394]
  },
  box: [116, 58],
  root: "you",
  edge: ([x1, y1], [x2, y2]) => ({x1: x1 + (x1 < 60 ? 38 : 58), y1, x2: x2 - 58, y2}),
  label: (_, [x2, y2]) => ({x: x2, y: y2 - 33, "text-anchor": "middle"})
};
const PARENTS = {
  A: "root",
  B: "root",
  C: "root",
  A1: "A",
  A2: "A",
  B1: "B",
  C1: "C",
  C2: "C"
};
const PHASES = ["select", "expand", "evaluate", "back up"];
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

export function show(main, fields) {
  let view = null, phase = 4, texts = null, level = Number(localStorage.getItem("level") ?? 2);
  const tree = s("svg", {class: "tree", role: "img"});
  const isNarrow = matchMedia("(max-width: 560px)");
  const log = h("ol", {className: "log", "aria-label": "Log of simulations"});
  const table = h("div", {className: "weighing"});
  const words = h("div", {className: "words"});
  const tells = h("p", {className: "tells"});
  const status = h("p", {className: "says", role: "status", "aria-live": "polite"});
  const scenarios = h("div", {className: "tabs", role: "group", "aria-label": "Scenario"});
  const slider = h("input", {
    type: "range",
    min: 0,
    max: 5,
    step: 0.05,
    "aria-label": "c, how curious the search is",
    oninput: () => {
      shownC.textContent = Number(slider.value).toFixed(2);
      act("lesson.c", {c: Number(slider.value)}, {keepPhase: true});
    }
  });
  const shownC = h("output", {}, "1.25");
  const speed = h("input", {type: "range", min: 1, max: 20, step: 1, value: 4, "aria-label": "Phases a second"});
  const [running, stop] = repeating("Run until stopped", speed, nextPhase);
  main.append(
    h("h1", {}, "How the search thinks"),
    h("p", {className: "lead"},
      "A network guesses, a search checks the guess. " +
        "Here is a tree of nine positions that you can step through by hand."),
    scenarios, tells,
    h("div", {className: "learn"},
      h("section", {className: "panel drawing"}, h("div", {className: "scroll"}, tree),
        h("div", {className: "row controls"}, button("Phase", "Show the next phase", () => nextPhase(), "main"),
          button("Step", "One simulation", () => steps(1)), button("×10", "Ten simulations", () => steps(10)),
          button("×100", "A hundred simulations", () => steps(100)), running,
          button("Back", "Back by one simulation", () => rewind(view.steps - 1)),
          button("Reset", "Clear the tree", () => act("lesson.reset"))),
        h("div", {className: "row sliders"}, h("label", {}, "c ", slider, shownC), h("label", {}, "Speed ", speed),
          button(
            "Save JSON", "Save the tree as JSON",
            () => download(`${view.tree.scenario}.json`, JSON.stringify(view.tree, null, 1), "application/json"))),
        status, table),
      h("section", {className: "panel reading"}, words),
      h("section", {className: "panel logs"}, h("h2", {}, "Log"),
        h("p", {className: "dim"}, "Choose a line to go back to it."), log)));

  async function act(what, more = {}, {keepPhase = false} = {}) {
    try {
      view = await ask(what, more);
      if (!keepPhase) phase = 4;
      render();
    } catch (error) {
      stop();
      toast(error.message);
    }
  }
  const steps = (number) => act("lesson.step", {number});
  const rewind = (number) => {
    stop();
    if (number >= 0) act("lesson.rewind", {number});
  };

  async function nextPhase() {
    if (phase >= 4) {
      view = await ask("lesson.step", {number: 1});
      phase = 1;
    } else phase += 1;
    render();
  }

  function nodes() {
    const found = {};
    for (const move of view.tree.children) {
      found[move.node] = move;
      for (const reply of move.children) found[reply.node] = reply;
    }
    return found;
  }

  function render() {
    const entry = view.log.at(-1), known = nodes(), scenario = view.scenario;
    const isMid = phase < 4 && entry;
    const before = isMid ? Object.fromEntries(entry.backups.map((one) => [one.node, one])) : {};
    // Until the backup has been shown, the numbers are those before it.
    const number = (name) =>
      (before[name] ? {
        N: before[name].visits - 1,
        Q: before[name].visits > 1 ? (PARENTS[name] === "root" ? 1 : -1) * before[name].q_before : 0
      } :
                      known[name]);
    const weighed = new Map(isMid ? entry.selections.flat().map((one) => [one.move, one.u]) : []);
    const curiosity = (name) => weighed.get(name) ?? known[name].U;
    const played = isMid ? view.log.at(-2)?.played : view.tree.played;
    const path = new Set(entry ? entry.path : []);
    slider.value = view.c;
    shownC.textContent = Number(view.c).toFixed(2);
    const {viewBox, places: PLACES, box, root, edge, label} = isNarrow.matches ? NARROW : TALL;
    tree.setAttribute("viewBox", viewBox);
    const shapes = [], most = Math.max(1, ...["A", "B", "C"].map((name) => number(name).N));
    for (const [name, parent] of Object.entries(PARENTS)) {
      const from = PLACES[parent], to = PLACES[name], {N} = number(name);
      const isOpen =
        parent === "root" || number(parent).N > 0 || (isMid && phase >= 2 && entry.expanded.includes(name));
      shapes.push(s("line", {
        ...edge(from, to),
        class: `edge${path.has(name) && phase >= 1 ? " lit" : ""}${isOpen ? "" : " closed"}`,
        "stroke-width": 1.5 + 7 * Math.sqrt(N / most)
      }));
      shapes.push(
        s("text", {...label(from, to), class: "edge-label"},
          `P ${known[name].P.toFixed(1)}  U ${curiosity(name).toFixed(2)}`));
    }
    for (const [name, [x, y]] of Object.entries(PLACES)) {
      const isRoot = name === "root", node = isRoot ? {N: view.steps - (isMid ? 1 : 0), Q: 0} : number(name);
      const isClosed = !isRoot && PARENTS[name] !== "root" && number(PARENTS[name]).N === 0 &&
        !(isMid && phase >= 2 && entry.expanded.includes(name));
      const isLeaf = entry?.leaf === name && phase === 3, isPlayed = !isRoot && played === name && view.steps > 0;
      const group = s("g", {
        class: `node${path.has(name) || (isRoot && entry) ? " lit" : ""}${isClosed ? " closed" : ""}${
          isLeaf ? " asked" : ""}${isPlayed ? " played" : ""}`
      });
      const shade = isRoot || !node.N ? "" :
        node.Q >= 0                   ? "good" :
                                        "bad",
            width = isRoot && isNarrow.matches ? 76 : box[0];
      group.append(s("rect", {
        x: x - width / 2,
        y: y - box[1] / 2 + 1,
        width,
        height: box[1],
        rx: 12,
        class: `box ${shade}`,
        "fill-opacity": shade ? 0.15 + 0.6 * Math.abs(node.Q) : 1
      }));
      group.append(s("text", {x, y: y - 8, class: "name"}, isRoot ? root : name));
      group.append(
        s("text", {x, y: y + 11, class: "numbers"},
          isRoot ? `ΣN = ${node.N}` : `N ${node.N}  Q ${node.N ? signed(node.Q) : "–"}`));
      if (!isRoot)
        group.append(
          s("text", {x, y: y + 24, class: "small"},
            isPlayed ? "★ would be played" :
              isLeaf ? `v = ${signed(scenario.values[name])}` :
                       `v ${signed(scenario.values[name])}`));
      shapes.push(group);
    }
    tree.replaceChildren(
      s("title", {},
        `Tree of ${scenario.title}: ${["A", "B", "C"].map((name) => `${name} ${known[name].N} visits`).join(", ")}`),
      ...shapes);
    tells.textContent = scenario.tells;
    scenarios.replaceChildren(...view.scenarios.map(
      ([name, title]) =>
        h("button", {
          type: "button",
          "aria-pressed": String(name === scenario.name),
          onclick: () => {
            stop();
            setAddress("learn", {scenario: name});
            act("lesson.open", {scenario: name, c: view.c});
          }
        },
          title)));
    status.textContent = entry ?
      `Simulation ${entry.number}${phase < 4 ? `, ${PHASES[phase - 1]}` : ""}: ${says(entry)}` :
      "Nothing was searched yet. The priors alone would play " + view.tree.played + ".";
    weighing(entry);
    log.replaceChildren(...[...view.log].reverse().map(
      (one) =>
        h("li", {},
          h("button",
            {type: "button", onclick: () => rewind(one.number), "aria-label": `Go back to simulation ${one.number}`},
            h("b", {}, one.number), ` ${one.path.join(" → ")} `,
            h("span", {className: one.value < 0 ? "bad" : "good"}, `v ${signed(one.value)}`),
            ` ${one.backups.map((b) => `Q(${b.node}) ${signed(b.q)}`).join(", ")}`,
            h("span", {className: "dim"}, ` c ${one.c.toFixed(2)}, plays ${one.played}`)))));
    reading();
  }

  function says(entry) {
    if (phase === 1) return `the path ${entry.path.join(" → ")} has the largest Q + U at each node.`;
    if (phase === 2)
      return entry.expanded.length ? `${entry.leaf} gets its replies ${entry.expanded.join(" and ")}.` :
                                     `${entry.leaf} has no replies to add.`;
    if (phase === 3) return `${entry.leaf} is worth ${signed(entry.value)} in our view.`;
    return `${entry.leaf} was worth ${signed(entry.value)}; ${
      entry.backups.map((one) => `${one.node} got ${signed(one.added)}, Q ${signed(one.q_before)} → ${signed(one.q)}`)
        .join("; ")}. Signs flip from level to level. Played now: ${entry.played}.`;
  }

  function weighing(entry) {
    if (!entry) return table.replaceChildren();
    table.replaceChildren(...entry.selections.map(
      (moves, depth) =>
        h("table", {},
          h("caption", {},
            depth ? `At ${entry.path[depth - 1]} the opponent chooses (their view)` :
                    "At the root you choose (your view)"),
          h("thead", {}, h("tr", {}, ["", "N", "P", "Q", "U", "Q + U"].map((head) => h("th", {scope: "col"}, head)))),
          h("tbody", {},
            moves.map(
              (one) =>
                h("tr", {className: one.move === entry.path[depth] ? "lit" : ""}, h("th", {scope: "row"}, one.move),
                  h("td", {}, one.visits), h("td", {}, one.prior.toFixed(2)), h("td", {}, signed(one.q)),
                  h("td", {}, one.u.toFixed(3)), h("td", {}, signed(one.q + one.u))))))));
  }

  function reading() {
    if (!texts) return;
    const name = view.scenario.name;
    if (!texts.levels[level]) level = 0;
    const chosen = texts.levels[level];
    words.replaceChildren(
      h("h2", {}, "In words"),
      choice(
        "Reading level", texts.levels.map((one, index) => [String(index), one.name]), String(level),
        (value) => {
          level = Number(value);
          localStorage.setItem("level", value);
          reading();
        }),
      ...chosen.parts.map(
        (part) =>
          h("p", {className: part.scenario === name ? "now" : "later"},
            part.scenario === name ? "" :
                                     h("button", {
                                       type: "button",
                                       className: "quiet",
                                       onclick: () => act("lesson.open", {scenario: part.scenario, c: view.c})
                                     },
                                       view.scenarios.find(([one]) => one === part.scenario)[1]),
            " ", part.text)),
      h("h3", {}, "Summary"),
      h("ul", {}, texts.summary.map((part) => h("li", {className: part.scenario === name ? "now" : ""}, part.text))));
  }

  whenOpen(async (isAgain) => {
    const constants = view?.log.map((entry) => entry.c) ?? [];
    const scenario = view?.scenario.name ?? fields.get("scenario") ?? "right";
    texts = await ask("lesson.texts");
    let opened = await ask("lesson.open", {scenario, ...(fields.get("c") ? {c: Number(fields.get("c"))} : {})});
    for (const c of isAgain ? constants : []) {
      await ask("lesson.c", {c});
      opened = await ask("lesson.step", {number: 1});
    }
    view = opened;
    render();
  });
  const turn = () => {
    if (view) render();
  };
  isNarrow.addEventListener("change", turn);
  return () => {
    stop();
    isNarrow.removeEventListener("change", turn);
  };
}
