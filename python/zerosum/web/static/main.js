// Chooses the page by its address.

import {address} from "./address.js";
import {h, toast} from "./dom.js";
import {connect, forgetListeners} from "./wire.js";

const PAGES = {
  play: ["Play", () => import("./play.js")],
  analyse: ["Analyse", () => import("./analyse.js")],
  match: ["Match", () => import("./match.js")],
  search: ["Watch a search", () => import("./search.js"), "Search"],
  learn: ["How it thinks", () => import("./learn.js"), "Lesson"],
  runs: ["Runs", () => import("./runs.js")],
  games: ["Games", () => import("./games.js")],
  tour: ["Tour", () => import("./tour.js")],
  puzzles: ["Puzzles", () => import("./puzzles.js")],
};
const WITHOUT_A_TAB = ["tour", "puzzles"];  // other pages lead there

let leave = () => {};
let shown = "";
let latest = 0;  // number of the latest call of `show`: an earlier one that still waits for its module shows nothing

async function show() {
  const turn = ++latest;
  const {page, fields} = address();
  const name = Object.hasOwn(PAGES, page) ? page : "play";
  if (name !== page) {
    toast(`There is no page ${page.slice(0, 40)} here: this is the first one.`);
    history.replaceState(null, "", `#/${name}`);
  }
  leave();
  leave = () => {};
  forgetListeners();
  const main = document.getElementById("main");
  main.replaceChildren();
  main.className = `page-${name}`;
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.page === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${PAGES[name][0]} · zerosum`;
  try {
    const module = await PAGES[name][1]();
    if (turn !== latest) return;
    leave = module.show(main, fields) ?? (() => {});
    if (shown && shown !== name) main.focus();
    shown = name;
  } catch (error) { toast(error.message); }
}

function theme() {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const current = () => localStorage.getItem("theme") ?? (system.matches ? "dark" : "light");
  const apply = () => {
    document.documentElement.dataset.theme = current();
    button.textContent = current() === "dark" ? "☀" : "☾";
  };
  button.onclick = () => {
    localStorage.setItem("theme", current() === "dark" ? "light" : "dark");
    apply();
  };
  system.onchange = apply;
  apply();
}

document.getElementById("nav").append(
  ...Object.entries(PAGES)
    .filter(([page]) => !WITHOUT_A_TAB.includes(page))
    .map(
      ([page, [name, , short]]) =>
        h("a", {href: `#/${page}`, "data-page": page},
          short ? [h("span", {className: "long"}, name), h("span", {className: "short"}, short)] : name)));
theme();
addEventListener("hashchange", show);
addEventListener("unhandledrejection", (event) => toast(event.reason?.message ?? String(event.reason)));
connect();
show();
