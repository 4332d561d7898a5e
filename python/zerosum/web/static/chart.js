// Line charts as SVG: series of [x, y, error?], several colours, a crosshair that tells values.

import {h, s} from "./dom.js";

const COLOURS = 5;

function ticks(low, high, count) {
  const span = high - low || 1, raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= count) ?? power * 10;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-6; value += step)
    found.push(Number(value.toPrecision(12)));
  return found;
}

const short = (value) =>
  (Math.abs(value) >= 1e6 ? `${+ (value / 1e6).toPrecision(3)}M` :
     Math.abs(value) >= 1e4 ? `${+ (value / 1e3).toPrecision(3)}k` :
                              String(+value.toPrecision(4)));

/** The ends of an axis: those of its values, or for a single value zero and its double (0 and 1 if it is zero). */
const ends = (low, high) => (low < high ? [low, high] : low < 0 ? [2 * low, 0] : [0, 2 * low || 1]);

/** A figure: series is [{name, points: [[x, y, error, words]]}]; options: {title, x, low, high, format, onpick}. */
export function chart(series, {title, x = "", low = null, high = null, format = short} = {}) {
  const width = 460, height = 230, left = 46, right = 12, top = 12, bottom = 30;
  const all = series.flatMap((one) => one.points), told = (point) => point[3] ?? format(point[1]);
  if (!all.length)
    return h(
      "figure", {className: "chart"}, h("figcaption", {}, title),
      h("p", {className: "dim"}, "Nothing is recorded yet."));
  const xs = all.map((point) => point[0]), ys = all.flatMap(([, y, error]) => (error ? [y - error, y + error] : [y]));
  const [x0, x1] = ends(Math.min(...xs), Math.max(...xs)),
             [y0, y1] = ends(low ?? Math.min(...ys), high ?? Math.max(...ys));
  const px = (value) => left + ((value - x0) / (x1 - x0)) * (width - left - right);
  const py = (value) => height - bottom - ((value - y0) / (y1 - y0)) * (height - top - bottom);
  const picture =
    s("svg", {viewBox: `0 0 ${width} ${height}`, role: "img"},
      s("title", {},
        `${title}: ${
          series.map((one) => `${one.name} ${one.points.length ? told(one.points.at(-1)) : "nothing"}`).join(", ")}`),
      ticks(y0, y1, 5).map(
        (value) =>
          [s("line", {x1: left, x2: width - right, y1: py(value), y2: py(value), class: "grid"}),
           s("text", {x: left - 6, y: py(value) + 4, class: "tick", "text-anchor": "end"}, format(value))]),
      ticks(x0, x1, 6).map(
        (value) => s("text", {x: px(value), y: height - 12, class: "tick", "text-anchor": "middle"}, short(value))),
      s("text", {x: width - right, y: height - 1, class: "tick", "text-anchor": "end"}, x),
      series.map(
        (one, index) =>
          [one.points.filter(([, , error]) => error)
             .map(
               ([vx, vy, error]) =>
                 s("line",
                   {x1: px(vx), x2: px(vx), y1: py(vy - error), y2: py(vy + error), class: `bar c${index % COLOURS}`})),
           s("path", {
             d: one.points.map(([vx, vy], number) => `${number ? "L" : "M"}${px(vx).toFixed(1)} ${py(vy).toFixed(1)}`)
                  .join(""),
             class: `line c${index % COLOURS} d${Math.floor(index / COLOURS)}`
           }),
           one.points.length < 40 ?
             one.points.map(
               ([vx, vy]) => s("circle", {cx: px(vx), cy: py(vy), r: 2.6, class: `dot c${index % COLOURS}`})) :
             null,
  ]));
  const said = h("span", {className: "dim"});
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect(),
          at = x0 + (((event.clientX - box.left) / box.width) * width - left) / (width - left - right) * (x1 - x0);
    said.textContent =
      series
        .map((one) => {
          const nearest = one.points.reduce(
            (best, point) => (best === null || Math.abs(point[0] - at) < Math.abs(best[0] - at) ? point : best), null);
          return nearest ? `${series.length > 1 ? `${one.name}: ` : ""}${told(nearest)} at ${short(nearest[0])}` : "";
        })
        .join("; ");
  });
  return h(
    "figure", {className: "chart"}, h("figcaption", {}, h("b", {}, title), " ", said), picture,
    series.length > 1 ? h("p", {className: "legend"},
                          series.map((one, index) => h("span", {className: `key c${index % COLOURS}`}, one.name))) :
                        null);
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
        `${title}, at last: ${names.map((name, index) => `${name} ${Math.round(100 * last[index])} %`).join(", ")}`),
      s("rect", {x: left, y: top, width: width - left - right, height: height - top - bottom, class: "area rest"}),
      shapes,
      [0, 0.25, 0.5, 0.75, 1].map(
        (share) =>
          [s("line", {x1: left, x2: width - right, y1: py(share), y2: py(share), class: "grid"}),
           s("text", {x: left - 6, y: py(share) + 4, class: "tick", "text-anchor": "end"}, `${100 * share} %`)]),
      ticks(x0, x1, 8).map(
        (value) => s("text", {x: px(value), y: height - 12, class: "tick", "text-anchor": "middle"}, short(value))),
      s("text", {x: width - right, y: height - 1, class: "tick", "text-anchor": "end"}, x)),
    h("p", {className: "legend"},
      names.map((name, index) => h("span", {className: `key a${index}`}, `${name} ${Math.round(100 * last[index])} %`)),
      h("span", {className: "key rest"}, "others")));
}

/** The course of a game: win, draw and loss of the first player from top to bottom; `marks` are signs at plies. */
export function course(points, marks, ply, onpick) {
  const width = 600, height = 150, n = Math.max(points.length - 1, 1);
  const px = (index) => (index / n) * width, py = (share) => height * (1 - share);
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
            cy: py(points[index + 1][0]),
            r: mark === "??" ? 6 : 4.5,
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
