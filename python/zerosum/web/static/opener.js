// Where a game is opened in Analyse: pasted text, moves of a named game, or a file.

import {h, toast} from "./dom.js";

const MOST_UPLOAD = 900_000;
const KINDS = ".pgn,.sgf,.kif,.kifu,.ki2,.csa,.txt";
const JAPANESE = /\.(kif|csa|ki2)$/i;

/** A file's text: UTF-8, or what older programs of its kind write. */
async function textOf(file) {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", {fatal: true}).decode(bytes);
  } catch { return new TextDecoder(JAPANESE.test(file.name) ? "shift_jis" : "latin1").decode(bytes); }
}

/** The panel; `open({text, game})` opens what was given. */
export function opener(isOpen, open) {
  const text = h("textarea", {
    rows: 5,
    "aria-label": "A game, a position or moves",
    placeholder: "PGN, SGF, KIF, CSA, FEN, SFEN or moves",
    spellcheck: false
  });
  const game =
    h("input",
      {type: "text", "aria-label": "Game of the moves", placeholder: "game, if these are moves", spellcheck: false});

  async function upload(event) {
    const [file] = event.target.files;
    if (!file) return;
    const size = file.size.toLocaleString(), most = MOST_UPLOAD.toLocaleString();
    if (file.size > MOST_UPLOAD) return toast(`${file.name} has ${size} bytes, allowed are ${most}.`);
    text.value = await textOf(file);
    open({text: text.value, game: ""});
  }

  const file = h("input", {type: "file", accept: KINDS, "aria-label": "A file of games", onchange: upload});
  const given = () => open({text: text.value, game: game.value.trim()});
  const button = h("button", {type: "button", className: "main", onclick: given}, "Open");
  return h(
    "details", {className: "panel opener", open: isOpen}, h("summary", {}, "Open a game"), text,
    h("div", {className: "row"}, game, button, file));
}
