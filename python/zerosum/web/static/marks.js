// Marks over a board: arrows, rings with win rates, heat, territory, numbers of moves, and dots of lost points.

import {s} from "./dom.js";

const LEAST_OWNED = 0.3;  // a smaller share of a point is nobody's

const number = (x, y, size, kind, text) => s("text", {x, y: y + 0.35 * size, class: kind, "font-size": size}, text);

function heatOf(board, heat) {
  return heat.flatMap(([cell, share]) => {
    const [x, y] = board.cells[cell] ?? [];
    if (x === undefined) return [];
    const r = board.side * (0.14 + 0.3 * Math.sqrt(share));
    const spot = s("circle", {cx: x, cy: y, r, class: "heat", "fill-opacity": 0.25 + 0.6 * share});
    return share < 0.01 ? [spot] :
                          [spot, s("text", {x, y: y + 4, class: "heat-text"}, String(Math.round(100 * share)))];
  });
}

function territory(board, ownership) {
  return (ownership ?? []).flatMap((share, cell) => {
    if (Math.abs(share) < LEAST_OWNED || !board.cells[cell]) return [];
    const [x, y] = board.cells[cell], size = board.side * 0.42 * Math.abs(share);
    const kind = share > 0 ? "own-first" : "own-second";
    return [s("rect", {x: x - size / 2, y: y - size / 2, width: size, height: size, class: kind})];
  });
}

/** A move without a source: a ring, or a disc with its win rate. */
function ring(board, cell, share, kind, words) {
  const [x, y] = board.cells[cell], {side} = board;
  if (!words)
    return [s("circle", {cx: x, cy: y, r: side * 0.36, class: `ring ${kind}`, "stroke-width": 2 + 5 * share})];
  return [
    s("circle", {cx: x, cy: y, r: side * 0.44, class: `candidate ${kind}`, "fill-opacity": 0.55 + 0.45 * share}),
    number(x, y, side * 0.36, "candidate-text", words)
  ];
}

function arrow(board, from, to, share, kind) {
  const [x1, y1] = board.cells[from], [x2, y2] = board.cells[to];
  const length = Math.hypot(x2 - x1, y2 - y1), width = 4 + 8 * share, head = 10 + width;
  const ux = (x2 - x1) / length, uy = (y2 - y1) / length, half = head * 0.55;
  const bx = x2 - ux * head, by = y2 - uy * head;
  const tip = `M${x2} ${y2}L${bx - uy * half} ${by + ux * half}L${bx + uy * half} ${by - ux * half}z`;
  return [
    s("path", {d: `M${x1 + ux * 8} ${y1 + uy * 8}L${bx} ${by}`, class: `arrow ${kind}`, "stroke-width": width}),
    s("path", {d: tip, class: `head ${kind}`})
  ];
}

function moves(board, arrows) {
  return [...arrows].reverse().flatMap(([cells, share, kind = "best", words = ""]) => {
    const [from, to] = cells.length > 1 ? cells : [null, cells[0]];
    if (to === undefined || !board.cells[to]) return [];
    return from === null ? ring(board, to, share, kind, words) : arrow(board, from, to, share, kind);
  });
}

/** Numbers on stones, dark on light ones. */
const numbered = (board, numbers) => numbers.map(([cell, text]) => {
  const [x, y, , name] = board.cells[cell], isLight = /^(white|yellow)/.test(name);
  return number(x, y, board.side * 0.36, `move-number${isLight ? " dark" : ""}`, text);
});

/** Dots on stones, coloured by what their moves lost; level 0 is nothing. */
const dotted = (board, dots) => dots.map(([cell, level, words]) => {
  const [x, y] = board.cells[cell];
  return s("circle", {cx: x, cy: y, r: board.side * 0.17, class: `loss l${level}`}, s("title", {}, words));
});

/** The shapes of marks over a board: see `Board.mark`. */
export function shapes(board, {arrows = [], heat = [], ownership = null, numbers = [], dots = []}) {
  return [
    ...heatOf(board, heat), ...territory(board, ownership), ...moves(board, arrows), ...dotted(board, dots),
    ...numbered(board, numbers)
  ];
}
