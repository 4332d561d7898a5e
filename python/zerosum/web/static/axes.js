// Axes of charts, linear or logarithmic, and the smoothing of noisy lines.

function linearTicks(low, high, count) {
  const span = high - low || 1, raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= count) ?? power * 10;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-6; value += step)
    found.push(Number(value.toPrecision(12)));
  return found;
}

/** Powers of ten with 2 and 5 between them, or fewer if they are too many. */
function logarithmicTicks(low, high, count) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1)
    for (const factor of [1, 2, 5]) found.push(Number((factor * 10 ** power).toPrecision(3)));
  const inside = found.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  if (inside.length <= count + 3) return inside;
  const powers = inside.filter((value) => Number.isInteger(Number(Math.log10(value).toFixed(9))));
  return powers.length > 1 ? powers.filter((_, index) => index % Math.ceil(powers.length / count) === 0) : inside;
}

export const ticks = linearTicks;

/** The ends of an axis: those of its values, or for a single value zero and its double (0 and 1 if it is zero). */
const ends = (low, high) => (low < high ? [low, high] : low < 0 ? [2 * low, 0] : [0, 2 * low || 1]);

/**
 * An axis of a chart.
 * @param values what it has to show
 * @param from, to its ends in pixels
 * @param low, high its ends, if they are fixed
 * @param isLog whether it is logarithmic; it is linear if no value is above zero
 * @returns at(value) in pixels, value(pixel), the values of its ticks, and shows(value): zero has no logarithm
 */
export function axis(values, {from, to, low = null, high = null, isLog = false, count = 5}) {
  const positive = values.filter((value) => value > 0);
  if (isLog && positive.length) {
    const [least, most] = [Math.min(...positive), Math.max(...positive)];
    const [first, last] = least < most ? [least, most] : [least / 2, least * 2];
    const scale = (to - from) / Math.log(last / first);
    return {
      at: (value) => from + Math.log(value / first) * scale,
      value: (pixel) => first * Math.exp((pixel - from) / scale),
      ticks: logarithmicTicks(first, last, count),
      shows: (value) => value > 0
    };
  }
  const least = Math.min(...values), most = Math.max(...values), isOne = least === most && low !== null;
  const [first, last] = ends(low ?? least, high ?? (isOne ? 2 * most : most));
  const scale = (to - from) / (last - first);
  return {
    at: (value) => from + (value - first) * scale,
    value: (pixel) => first + (pixel - from) / scale,
    ticks: linearTicks(first, last, count),
    shows: () => true
  };
}

/**
 * The exponential moving average of a line, as TensorBoard draws it: `weight` in [0, 1) is that of the past, and the
 * first values are corrected for the missing past.
 */
export function smoothed(points, weight) {
  let past = 0;
  return points.map(([x, y, ...rest], index) => {
    past = weight * past + (1 - weight) * y;
    return [x, past / (1 - weight ** (index + 1)), ...rest];
  });
}
