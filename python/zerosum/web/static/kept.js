// What this browser keeps of the pages. Other versions of them and people's hands write there, too: it may be damaged.

/** What JSON makes of a text that was kept; undefined if nothing was, or it is damaged. */
export function keptValue(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch { return undefined; }
}

/** An object that was kept; without any fields if there is none. */
export function keptFields(name) {
  const found = keptValue(name);
  return found && typeof found === "object" && !Array.isArray(found) ? found : {};
}
