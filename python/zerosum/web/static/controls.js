// Controls of a page that shows a search step by step.

import {h, toast} from "./dom.js";

/** A button; its title is its name for those who cannot see it, if its text is no word. */
export function button(text, title, onclick, className = "") {
  return h(
    "button", {type: "button", title, "aria-label": /[a-z]{3}/i.test(text) ? null : title, onclick, className}, text);
}

/**
 * A button that repeats a step, at the pace of a slider in steps a second, until `step` answers that this is enough.
 * Returns the button, and the function that stops it.
 */
export function repeating(title, speed, step) {
  let timer = null;
  const element = button("Run", title, () => timer ? stop() : begin());

  function begin() {
    element.textContent = "Stop";
    const tick = async () => {
      try {
        if (await step()) stop();
        if (timer) timer = setTimeout(tick, 1000 / Number(speed.value));
      } catch (error) {
        stop();
        toast(error.message);
      }
    };
    timer = setTimeout(tick, 0);
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    element.textContent = "Run";
  }
  return [element, stop];
}
