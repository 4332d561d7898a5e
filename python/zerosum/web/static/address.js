// The address behind #: #/play?game=chess&moves=e2e4 …

/** The page and its fields. */
export function address() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return {page: path.split("/")[0] || "play", fields: new URLSearchParams(query ?? "")};
}

/**
 * Write what makes the page again into its address, without a new entry in the browser's history; not if another page
 * is shown by now.
 */
export function setAddress(page, fields) {
  if (address().page !== page) return;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    if (value !== "" && value !== null && value !== undefined) query.set(name, value);
  history.replaceState(null, "", `#/${page}?${query}`);
}
