// The settings of runs side by side.

import {h} from "./dom.js";

/** A table with a column for each run; settings in which all runs agree are left out unless `hasAll`. */
export function settingsTable(runs, hasAll) {
  const values = new Map();
  runs.forEach(({settings}, index) => {
    for (const [name, value] of settings) {
      if (!values.has(name)) values.set(name, runs.map(() => "–"));
      values.get(name)[index] = value;
    }
  });
  const rows = [...values].filter(([, row]) => hasAll || new Set(row).size > 1);
  if (!rows.length) return h("p", {className: "dim"}, "These runs have the same settings.");
  const heads = ["setting", ...runs.map((run) => run.name)].map((word) => h("th", {scope: "col"}, word));
  const body =
    rows.map(([name, row]) => h("tr", {}, h("th", {scope: "row"}, name), row.map((value) => h("td", {}, value))));
  return h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body));
}
