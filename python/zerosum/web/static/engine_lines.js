// What an engine says of the analysed position: a sentence, its lines, its arrows, and the bar beside the board.

import {h, percent} from "./dom.js";

/** The name of a side at the beginning of a sentence. */
export const sideName = (view, player) => view.sides[player].charAt(0).toUpperCase() + view.sides[player].slice(1);

const proof = (value) => (value > 0 ? "a proven win" : value < 0 ? "a proven loss" : "a proven draw");

/** Who leads by how many points, of a search that knows the score; "" otherwise. */
export function leadWords(view, lead) {
  if (lead === null || lead === undefined) return "";
  if (Math.abs(lead) < 0.25) return "an even score";
  return `${view.sides[lead > 0 ? 0 : 1]} leads by ${Math.abs(lead).toFixed(1)} points`;
}

/** The sentence about a search's result. */
export function evaluation(view, found) {
  const side = sideName(view, found.mover);
  if (found.proven !== null && found.proven !== undefined) return `${side} to move: ${proof(found.proven)}.`;
  const draw = found.draw === null ? "" : `, draws ${percent(found.draw)}`;
  const lead = leadWords(view, found.lead);
  const rate = `${percent(found.rate, 1)} for ${view.sides[found.mover]}`;
  return `${side} to move: ${rate}${draw}${lead ? `, ${lead}` : ""} (${found.work} by ${found.by}).`;
}

/** The lines of a search as the rows of a list, with the chances of who is to move; `play` makes a first move. */
export function lineRows(view, found, play) {
  const whose = found ? view.sides[found.mover].replace(/^the (\w+) player$/, "$1") : "";
  return (found?.lines ?? []).map((line) => {
    const facts = found.has_policy ? [`${percent(line.share)} of visits`, `prior ${percent(line.prior)}`] : [];
    if (line.proven) facts.push("proven");
    const shown = facts.flatMap((fact) => [", ", h("span", {className: "whole"}, fact)]);
    return h(
      "li", {}, h("button", {type: "button", className: "quiet", onclick: () => play(line.action)}, line.moves[0]),
      h("b", {}, ` ${percent(line.rate)}`), ` ${whose}`, h("span", {className: "dim"}, shown),
      h("span", {className: "rest"}, line.moves.slice(1).join(" ")));
  });
}

/** Arrows of the lines; a move without a source is a disc with its win rate. The second engine has one arrow. */
export function arrowsOf(first, second) {
  const rate = (line) => String(Math.round(100 * line.rate));
  const arrows =
    (first?.lines ?? []).map((line, index) => [line.cells, line.share, index ? "other" : "best", rate(line)]);
  const best = second?.lines[0];
  if (best) arrows.push([best.cells, best.share, "second", rate(best)]);
  return arrows;
}

/** The bar beside the board: the first player's chance. */
export class EvaluationBar {
  constructor() {
    this.number = h("span", {className: "number", "aria-hidden": "true"});
    this.element =
      h("div", {className: "evaluation", role: "meter", "aria-valuemin": 0, "aria-valuemax": 100, hidden: true},
        h("div", {className: "share"}), this.number);
  }

  /** Show the first player's expected result, in [0, 1]; null hides the bar. */
  show(view, rate) {
    const {element} = this;
    element.hidden = rate === null;
    if (rate === null) return;
    element.dataset.colours = view.sides.join(" ").replaceAll("the ", "");
    element.style.setProperty("--share", rate);
    element.classList.toggle("turned", Boolean(view.board.flipped));
    element.ariaLabel = `Expected result of ${view.sides[0]}`;
    element.ariaValueNow = String(Math.round(100 * rate));
    element.ariaValueText = element.title = `${view.sides[0].replace(/^the /, "")} ${percent(rate)}`;
    this.number.textContent = Math.round(100 * rate);
  }
}
