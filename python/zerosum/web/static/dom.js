// Elements without a framework: h("button", {onclick}, "Play"). Texts are set as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !(element instanceof SVGElement) && !["list", "form", "type", "role"].includes(name))
      element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3))
    if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
export const s = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

/** A drawing from the server as an element; it has no scripts, and none would run. */
export function drawing(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}

/** A text whose words in `backticks` are code. */
export const rich = (text) => text.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));

export function choice(label, options, value, onchange, more = {}) {
  const select =
    h("select", {onchange: (event) => onchange(event.target.value), "aria-label": label, ...more},
      options.map(([name, text]) => h("option", {value: name, selected: String(name) === String(value)}, text)));
  return h("label", {className: "field"}, h("span", {}, label), select);
}

export function toast(text) {
  const place = document.getElementById("toast");
  place.textContent = text;
  place.classList.add("shown");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => place.classList.remove("shown"), 6000);
}

export function download(name, text, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([text], {type}));
  const link = h("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 5000);
}

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;

export function compact(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)} M`;
  if (number >= 1e4) return `${(number / 1e3).toFixed(0)} k`;
  return String(number);
}

/** Draw anew below an element; what had the focus there has it again, found by its data-key, label or text. */
export function keepingFocus(root, draw) {
  const name = (element) => element.dataset.key ?? element.getAttribute("aria-label") ?? element.textContent;
  const active = document.activeElement, had = root.contains(active) ? [active.tagName, name(active)] : null;
  draw();
  if (had && document.activeElement !== active)
    [...root.querySelectorAll(had[0])].find((one) => name(one) === had[1])?.focus({preventScroll: true});
}
