// Line charts as SVG: series of [x, y, error?], several colours, a crosshair that tells values.

import {axis, smoothed, ticks} from "./axes.js";
import {h, s} from "./dom.js";

const COLOURS = 5;
const WIDTH = 460, HEIGHT = 230, LEFT = 46, RIGHT = 12, TOP = 12, BOTTOM = 30;
const FEW = 40;  // points that are drawn as dots, too

const short = (value) =>
  (Math.abs(value) >= 1e6 ? `${+ (value / 1e6).toPrecision(3)}M` :
     Math.abs(value) >= 1e4 ? `${+ (value / 1e3).toPrecision(3)}k` :
                              String(+value.toPrecision(4)));

/**
 * A figure: series is [{name, points: [[x, y, error, words]]}].
 * Options: {title, x, low, high, format, smoothing, isLogX, isLogY}; with smoothing in (0, 1) the values themselves are
 * drawn pale behind their average.
 */
export function chart(series, options = {}) {
  const {title, x = "", low = null, high = null, format = short, smoothing = 0} = options;
  const all = series.flatMap((one) => one.points), told = (point) => point[3] ?? format(point[1]);
  if (!all.length) return empty(title);
  const ys = all.flatMap(([, y, error]) => (error ? [y - error, y + error] : [y]));
  const across = axis(all.map((point) => point[0]), {from: LEFT, to: WIDTH - RIGHT, isLog: options.isLogX, count: 6});
  const up = axis(ys, {from: HEIGHT - BOTTOM, to: TOP, low, high, isLog: options.isLogY});
  const last = (one) => `${one.name} ${one.points.length ? told(one.points.at(-1)) : "nothing"}`;
  const picture = s(
    "svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img"}, s("title", {}, `${title}: ${series.map(last).join(", ")}`),
    grid(across, up, format, x), series.map((one, index) => drawn(one, index, across, up, smoothing)));
  const said = h("span", {className: "dim"});
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect(), at = across.value(((event.clientX - box.left) / box.width) * WIDTH);
    said.textContent = series.map((one) => nearest(one, at, series.length > 1, told)).join("; ");
  });
  const keys = series.map((one, index) => h("span", {className: `key c${index % COLOURS}`}, one.name));
  return h(
    "figure", {className: "chart"}, h("figcaption", {}, h("b", {}, title), " ", said), picture,
    series.length > 1 ? h("p", {className: "legend"}, keys) : null);
}

function empty(title) {
  const words = h("p", {className: "dim"}, "Nothing is recorded yet.");
  return h("figure", {className: "chart"}, h("figcaption", {}, title), words);
}

/** Lines and numbers of both axes. */
function grid(across, up, format, name) {
  const text = (x, y, anchor, words) => s("text", {x, y, class: "tick", "text-anchor": anchor}, words);
  return [
    up.ticks.map(
      (value) =>
        [s("line", {x1: LEFT, x2: WIDTH - RIGHT, y1: up.at(value), y2: up.at(value), class: "grid"}),
         text(LEFT - 6, up.at(value) + 4, "end", format(value))]),
    across.ticks.map((value) => text(across.at(value), HEIGHT - 16, "middle", short(value))),
    text(WIDTH - RIGHT, HEIGHT - 4, "end", name)
  ];
}

/** One series: bars of errors, the line, and dots where they are few. */
function drawn(one, index, across, up, smoothing) {
  const colour = `c${index % COLOURS}`, points = one.points.filter(([x, y]) => across.shows(x) && up.shows(y));
  const path = (line, kind) => {
    const places = line.map(([x, y]) => `${across.at(x).toFixed(1)} ${up.at(y).toFixed(1)}`);
    const d = places.length ? `M${places.join("L")}` : "";
    return s("path", {d, class: `${kind} ${colour} d${Math.floor(index / COLOURS)}`});
  };
  const bars = points.filter(([, y, error]) => error && up.shows(y - error)).map(([x, y, error]) => {
    const place = {x1: across.at(x), x2: across.at(x), y1: up.at(y - error), y2: up.at(y + error)};
    return s("line", {...place, class: `bar ${colour}`});
  });
  const dots = points.map(([x, y]) => s("circle", {cx: across.at(x), cy: up.at(y), r: 2.6, class: `dot ${colour}`}));
  const lines =
    smoothing ? [path(points, "line raw"), path(smoothed(points, smoothing), "line")] : [path(points, "line")];
  return [bars, lines, points.length < FEW && !smoothing ? dots : null];
}

/** The value of a series next to a place, in words. */
function nearest(one, at, isNamed, told) {
  const closer = (best, point) => (best === null || Math.abs(point[0] - at) < Math.abs(best[0] - at) ? point : best);
  const found = one.points.reduce(closer, null);
  return found ? `${isNamed ? `${one.name}: ` : ""}${told(found)} at ${short(found[0])}` : "";
}

/**
 * Shares that add up to at most one, as areas on top of each other: points are [[x, [shares]]], `names` the areas'
 * names.
 */
export function areas(points, names, {title, x = ""}) {
  if (points.length < 2)
    return h(
      "figure", {className: "chart"}, h("figcaption", {}, h("b", {}, title)),
      h("p", {className: "dim"}, "Too few games are recorded yet."));
  const width = 920, height = 260, left = 46, right = 12, top = 12, bottom = 30;
  const x0 = points[0][0], x1 = Math.max(points.at(-1)[0], x0 + 1);
  const px = (value) => left + ((value - x0) / (x1 - x0)) * (width - left - right),
        py = (share) => height - bottom - share * (height - top - bottom);
  const below = points.map(() => 0);
  const shapes = names.map((name, index) => {
    const under = points.map(([at], number) => `${px(at).toFixed(1)} ${py(below[number]).toFixed(1)}`);
    points.forEach(([, shares], number) => {
      below[number] += shares[index];
    });
    const over = points.map(([at], number) => `${px(at).toFixed(1)} ${py(below[number]).toFixed(1)}`);
    return s(
      "path", {d: `M${over.join("L")}L${under.reverse().join("L")}z`, class: `area a${index}`},
      s("title", {},
        `${name}: ${Math.round(100 * points[0][1][index])} % at first, ${
          Math.round(100 * points.at(-1)[1][index])} % at last`));
  });
  const last = points.at(-1)[1];
  return h(
    "figure", {className: "chart wide-chart"}, h("figcaption", {}, h("b", {}, title)),
    s("svg", {viewBox: `0 0 ${width} ${height}`, role: "img"},
      s("title", {},
        `${title}, at last: ${names.map((name, index) => `${name}: ${Math.round(100 * last[index])} %`).join(", ")}`),
      s("rect", {x: left, y: top, width: width - left - right, height: height - top - bottom, class: "area rest"}),
      shapes,
      [0, 0.25, 0.5, 0.75, 1].map(
        (share) =>
          [s("line", {x1: left, x2: width - right, y1: py(share), y2: py(share), class: "grid"}),
           s("text", {x: left - 6, y: py(share) + 4, class: "tick", "text-anchor": "end"}, `${100 * share} %`)]),
      ticks(x0, x1, 8).map(
        (value) => s("text", {x: px(value), y: height - 16, class: "tick", "text-anchor": "middle"}, short(value))),
      s("text", {x: width - right, y: height - 4, class: "tick", "text-anchor": "end"}, x)),
    h("p", {className: "legend"},
      names.map(
        (name, index) => h("span", {className: `key a${index}`}, `${name}: ${Math.round(100 * last[index])} %`)),
      h("span", {className: "key rest"}, "others")));
}

/** The course of a game: win, draw and loss of the first player from top to bottom; `marks` are signs at plies. */
export function course(points, marks, ply, onpick) {
  const width = 600, height = 150, n = Math.max(points.length - 1, 1);
  const px = (index) => (index / n) * width, py = (share) => height * (1 - share);
  const radius = (mark) => (mark === "??" ? 6 : 4.5);
  const loss = [], win = [];
  points.forEach((point, index) => {
    if (!point) return;
    const [rate, draw] = point, d = draw ?? 0;
    win.push(`${px(index).toFixed(1)} ${py(Math.max(rate - d / 2, 0)).toFixed(1)}`);
    loss.push(`${px(index).toFixed(1)} ${py(Math.min(rate + d / 2, 1)).toFixed(1)}`);
  });
  const last = points.reduce((found, point, index) => (point ? index : found), 0);
  const picture =
    s("svg", {viewBox: `0 0 ${width} ${height}`, class: "course", role: "img", preserveAspectRatio: "none"},
      s("title", {},
        `Win rate of the first player: ${
          points.filter(Boolean).map((point) => Math.round(100 * point[0])).join(", ")} percent`),
      s("rect",
        {width: points.some(Boolean) ? px(last) : 0, height, class: "second"}),  // not beyond the last known position
      loss.length ? s("path", {d: `M0 ${height}L${loss.join("L")}L${px(last)} ${height}z`, class: "drawn"}) : null,
      win.length ? s("path", {d: `M0 ${height}L${win.join("L")}L${px(last)} ${height}z`, class: "first"}) : null,
      s("line", {x1: 0, x2: width, y1: height / 2, y2: height / 2, class: "middle"}),
      marks.map(
        (mark, index) =>
          (mark && points[index + 1] ? s("circle", {
            cx: px(index + 1),
            cy: Math.min(Math.max(py(points[index + 1][0]), radius(mark)), height - radius(mark)),
            r: radius(mark),
            class: `mark m${mark.length}${mark === "?!" ? "i" : ""}`
          }) :
                                       null)),
      s("line", {x1: px(ply), x2: px(ply), y1: 0, y2: height, class: "here"}));
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    onpick(Math.round(((event.clientX - box.left) / box.width) * n));
  });
  return picture;
}
