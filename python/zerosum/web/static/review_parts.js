// What a review says: of the current move, of all moves as coloured dots, and of each player in a table.

import {h, percent} from "./dom.js";
import {sideName} from "./engine_lines.js";

const WORDS = {
  "?!": "an inaccuracy",
  "?": "a mistake",
  "??": "a blunder"
};
const PLURALS = {
  inaccuracy: "inaccuracies",
  mistake: "mistakes",
  blunder: "blunders"
};

// A loss of at least so much has the next level: in points where the score is known, else in win rate.
const POINTS = [0.5, 1.5, 3, 6, 12];
const RATES = [0.02, 0.05, 0.1, 0.15, 0.3];

/** The level of what a move lost, 0 (nothing) to 5. */
export function lossLevel({points, loss}) {
  const [lost, bounds] = points === null || points === undefined ? [loss, RATES] : [points, POINTS];
  return bounds.filter((bound) => lost >= bound).length;
}

/** What a move lost, in words. */
export const lossWords = ({points, loss}) =>
  `${points === null || points === undefined ? "" : `${points.toFixed(1)} points, `}${percent(loss, 1)}`;

/**
 * The dots of the moves on the board: on all stones that have numbers, or on the piece that has just moved; none on a
 * move in doubt.
 */
export function lossDots(view, review) {
  if (!review || view.variation.length) return [];
  const placed = view.canNumber ? view.numbers : view.moved.slice(-1).map((cell) => [cell, view.ply]);
  const isJudged = (move) => move && !move.hindsight;
  return placed.filter(([, number]) => isJudged(review.moves[number - 1])).map(([cell, number]) => {
    const move = review.moves[number - 1];
    return [cell, lossLevel(move), `Move ${number} lost ${lossWords(move)}`];
  });
}

/** What the record and the review say of the current move; `at` is its number on the main line, or null. */
export function commentParts(view, node, review, at) {
  const move = at ? review?.moves[at - 1] : null;
  const facts = [
    node.value && `evaluation ${node.value}`, node.clock && `${node.clock} left`, node.spent && `took ${node.spent}`,
    node.ending
  ];
  const said = view.here === 0 ? view.comments : [...(node.before ?? []), ...(node.comments ?? [])];
  const known = facts.filter(Boolean).join(", ");
  return [
    ...(move ? [h("p", {}, verdict(view.history[at - 1], move))] : []),
    ...said.map((text) => h("p", {className: "said"}, text)), ...(known ? [h("p", {className: "dim"}, known)] : [])
  ];
}

function verdict(text, move) {
  if (move.hindsight)
    return `${text}: not sure. The review saw no loss here; by what it saw later in the game, the move may give away ${
      percent(move.hindsight, 1)}.`;
  if (move.unsure)
    return `${text}: not sure. It may give away ${
             lossWords(move)}, and chance alone may show as much; a longer review ` +
      "tells more.";
  if (!move.mark) return `${text}: the review found no mistake.`;
  return `${text} is ${WORDS[move.mark]}: it gives away ${lossWords(move)}. Better was ${move.better.join(" ")}.`;
}

/** The table of a review: marks of each player, and the mean loss. */
export function summaryTable(view, review) {
  const heads = ["", ...Object.values(PLURALS), "mean loss"].map((word) => h("th", {scope: "col"}, word));
  const points = (player) => {
    const lost = review.moves.filter((move, index) => view.firsts[index] === player && move.points !== null);
    return lost.length ? ` (${(lost.reduce((sum, move) => sum + move.points, 0) / lost.length).toFixed(1)} points)` :
                         "";
  };
  const rows = review.players.map((one, player) => {
    const loss = one.loss === null ? "–" : `${percent(one.loss, 1)}${points(player)}`;
    const marks = Object.keys(PLURALS).map((word) => h("td", {}, String(one[word])));
    return h(
      "tr", {}, h("th", {scope: "row"}, view.players?.[player] ?? sideName(view, player)), marks, h("td", {}, loss));
  });
  return h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows));
}
