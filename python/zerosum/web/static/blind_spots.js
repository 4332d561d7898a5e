// Blind spots of a run: solved positions in which its network alone errs, each to be analysed and searched.

import {drawing, h, toast} from "./dom.js";
import {ask} from "./wire.js";

/** Looks for the blind spots of a run and shows them in a place. */
export async function showBlindSpots(place, run) {
  place.replaceChildren(
    h("h2", {}, `Blind spots of ${run}`), h("p", {className: "dim", role: "status"}, "The network is examined…"));
  try {
    const found = await ask("runs.blind_spots", {run});
    place.replaceChildren(
      h("h2", {}, `Blind spots of ${run}`),
      h("p", {className: "dim"}, "Solved positions in which the move that the network prefers without a search errs."),
      h("pre", {className: "scroll"}, found.text), h("ol", {className: "blind-spots"}, found.spots.map(card)));
  } catch (error) {
    place.replaceChildren();
    toast(error.message);
  }
}

function card(spot) {
  const address = new URLSearchParams(spot.link);
  return h(
    "li", {className: "panel"}, h("div", {className: "board-still", "aria-hidden": "true"}, drawing(spot.svg)),
    h("p", {}, spot.sentence),
    h("p", {}, h("a", {className: "button", href: `#/analyse?${address}`}, "Analyse"), " ",
      h("a", {className: "button", href: `#/search?${address}`}, "Watch a search")));
}
