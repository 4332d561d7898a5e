// The games: a card each, and a page about one with rules, options and planes.

import {setAddress} from "./address.js";
import {drawing, h, rich, s, toast} from "./dom.js";
import {ask, whenOpen} from "./wire.js";

export function show(main, fields) {
  whenOpen(async () => {
    try {
      if (fields.get("name"))
        page(
          await ask("games.page", {game: fields.get("name"), moves: fields.get("moves") ?? ""}),
          fields.get("moves") ?? "");
      else list(await ask("games.list"));
    } catch (error) {
      toast(error.message);
      list(await ask("games.list"));
    }
  });

  function list(games) {
    main.replaceChildren(
      h("h1", {}, "Games"),
      h("ul", {className: "cards"},
        games.map(
          (game) =>
            h("li", {},
              h("a", {href: `#/games?${new URLSearchParams({name: game.name})}`, "aria-label": `About ${game.name}`},
                h("span", {className: "thumb", "aria-hidden": "true"}, drawing(game.svg)), h("b", {}, game.name),
                h("span", {className: "dim"}, `${game.board}`))))));
  }

  function page(game, moves) {
    const grid = (plane) => {
      const rows = plane.values.length, columns = plane.values[0].length;
      return s(
        "svg", {viewBox: `0 0 ${columns} ${rows}`, class: "plane", role: "img", "aria-label": plane.name},
        s("rect", {width: columns, height: rows, class: "ground"}),
        plane.values.flatMap(
          (row, y) => row.map(
            (value, x) =>
              (value ? s("rect", {
                x: x + 0.06,
                y: y + 0.06,
                width: 0.88,
                height: 0.88,
                "fill-opacity": Math.min(Math.abs(value), 1),
                class: "bit"
              }) :
                       null))));
    };
    const play = new URLSearchParams({game: game.name});
    main.replaceChildren(
      h("p", {}, h("a", {href: "#/games"}, "← All games")), h("h1", {}, game.name),
      h("div", {className: "about"}, h("div", {className: "board-still"}, drawing(game.board.svg)),
        h("div", {className: "panel"}, h("p", {}, rich(game.about)), h("p", {}, rich(game.rules)),
          h("p", {}, h("a", {className: "button main", href: `#/play?${play}`}, "Play"), " ",
            h("a", {className: "button", href: `#/analyse?${play}`}, "Analyse"), " ",
            h("a", {className: "button", href: `#/search?${play}`}, "Watch a search")),
          h("dl", {},
            [
              ["Actions", game.actions], ["Planes", game.numPlanes], ["Symmetries", game.symmetries],
              ["Ends after", `${game.maxPlies} plies`], ["Starts", game.starts]
            ].map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))])))),
      game.options.length ?
        h("section", {className: "panel"}, h("h2", {}, "Options"),
          h("table", {},
            h("thead", {}, h("tr", {}, ["option", "default", "values"].map((one) => h("th", {scope: "col"}, one)))),
            h("tbody", {}, game.options.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell))))))) :
        "",
      h("section", {className: "panel"}, h("h2", {}, "What a network is told"), h("p", {}, rich(game.planesText)),
        h("p", {}, rich(game.actionsText)),
        h("form",
          {
            className: "row",
            onsubmit:
              async (event) => {
                event.preventDefault();
                const moves = event.target.elements.moves.value;
                try {
                  page(await ask("games.page", {game: game.name, moves}), moves);
                  setAddress("games", {name: game.name, moves});
                } catch (error) { toast(error.message); }
              }
          },
          h("input", {
            name: "moves",
            type: "text",
            "aria-label": "Moves of the position",
            placeholder: "moves that lead to a position",
            value: moves
          }),
          h("button", {type: "submit"}, "Show")),
        h("ul", {className: "planes"},
          game.planes.map((plane, index) => h("li", {}, grid(plane), h("span", {}, `${index}: ${plane.name}`)))),
        game.numPlanes > game.planes.length ?
          h("p", {className: "dim"}, `and ${game.numPlanes - game.planes.length} more planes`) :
          ""));
  }
}
