// A game's moves as a tree: two columns for the main line, below a move its comments and the variations to it.

import {h} from "./dom.js";

/**
 * Rows of a list.
 * @param tree nodes by their numbers: {at, after, text, player, signs?, before?, comments?, clock?, tried?}; 1 … length
 *   are the main line
 * @param marks the review's mark of each move of the main line
 */
export function moveTree({tree, length, comments = [], marks = [], goto}) {
  const after = new Map();
  for (const node of tree)
    if (node?.at) after.set(node.after, [...(after.get(node.after) ?? []), node]);
  const offset = tree[1]?.player ?? 0;
  const words = {"?!": "inaccuracy", "?": "mistake", "??": "blunder"};

  function button(node, mark = "") {
    const signs = node.signs ?? [], shown = signs.includes(mark) ? "" : mark,
          all = [...signs, shown].filter(Boolean).join("");
    const kind = mark ? ` marked m${mark.length}${mark === "?!" ? "i" : ""}` : "";
    const name = node.at <= length ? `Move ${node.at}: ${node.text}` : `Variation: ${node.text}`;
    return h(
      "button", {
        type: "button",
        className: `${node.tried ? "tried" : ""}${kind}`.trim(),
        "data-node": node.at,
        "data-clock": node.clock ?? null,
        "aria-label": `${name}${signs.join("")}${shown ? `, ${words[shown]}` : ""}`,
        onclick: () => goto(node.at)
      },
      node.text + all);
  }
  const said = (texts) => (texts ?? []).map((text) => h("span", {className: "said"}, text));

  /** A variation in one paragraph, with its own variations in paragraphs below. */
  function branch(node, depth) {
    const place = h("div", {className: "branch"});
    let isNumbered = false, plies = depth;
    for (let one = node; one; plies += 1) {
      const number = Math.floor((plies + offset) / 2) + 1;
      place.append(...said(one.before));
      if (one.player === 0 || !isNumbered)
        place.append(h("span", {className: "dim"}, one.player === 0 ? `${number}.` : `${number}…`));
      place.append(button(one), ...said(one.comments));
      const [, ...others] = one === node ? [one] : after.get(one.after);
      place.append(...others.map((other) => branch(other, plies)));
      isNumbered = !one.comments && !others.length;
      one = after.get(one.at)?.[0];
    }
    return place;
  }

  const rows = [], extra = (...parts) => rows.push(h("li", {className: "extra"}, ...parts));
  if (comments.length) extra(...said(comments));
  let row = null;
  for (let at = 1; at <= length; at += 1) {
    const node = tree[at];
    if (node.player === 0 || row === null || row.dataset.full) {
      const goesOn = node.player === 1 && rows.length > 0 && row === null;
      row =
        h("li", {className: goesOn ? "goes-on" : ""}, node.player === 1 ? h("span", {className: "gap"}, "…") : null);
      rows.push(row);
    }
    if (node.player === 1) row.dataset.full = "1";
    row.append(button(node, marks[at - 1]));
    const variations = (after.get(node.after) ?? []).filter((other) => other.at > length);
    if (variations.length || node.comments?.length) {
      extra(...said(node.comments), ...variations.map((other) => branch(other, at - 1)));
      row = null;
    }
  }
  const last = (after.get(length) ?? []).filter((other) => other.at > length);
  if (last.length) extra(...last.map((other) => branch(other, length)));
  return rows;
}
