// Logarithmic axes: a range that holds the values with some air, and ticks that people would choose.
function logAxis(values, air, from, to) {
  let low = Math.log10(Math.min(...values));
  let high = Math.log10(Math.max(...values));
  // A family whose values hardly differ still gets an axis.
  const short = Math.max(0, 0.12 - (high - low)) / 2;
  const more = short + air * (high - low + 2 * short);
  low -= more;
  high += more;
  const at = (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  return { low: 10 ** low, high: 10 ** high, from, to, at };
}

// As many of the densest of these as fit; below a third of a decade evenly spaced values read better.
function ticks(axis, most) {
  const inside = (value) => value >= axis.low * 0.999999 && value <= axis.high * 1.000001;
  const sets = [[1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9], [1, 1.5, 2, 3, 4, 5, 7], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]];
  const first = Math.floor(Math.log10(axis.low));
  const decades = Array.from({ length: Math.ceil(Math.log10(axis.high)) - first + 1 }, (_, at) => first + at);
  for (const set of sets) {
    const found = decades.flatMap((decade) => set.map((digit) => Number(`${digit}e${decade}`))).filter(inside);
    if (found.length >= 3 && found.length <= most) return found;
  }
  if (decades.length <= 3) {
    const step = [1, 2, 5, 10].map((times) => times * 10 ** Math.floor(Math.log10((axis.high - axis.low) / most)))
      .find((wide) => (axis.high - axis.low) / wide <= most);
    const start = Math.ceil(axis.low / step);
    const evenly = Array.from({ length: most + 1 }, (_, at) => Number(((start + at) * step).toPrecision(12))).filter(inside);
    if (evenly.length >= 2) return evenly;
  }
  const every = Math.ceil(decades.length / most);
  return decades.filter((_, at) => at % every === 0).map((decade) => Number(`1e${decade}`)).filter(inside);
}

// 3k, 2.2M, 12B.
function sizeText(value) {
  const [divided, unit] = [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"], [1, ""]].find(([least]) => value >= 0.9995 * least) ?? [1, ""];
  return `${Number((value / divided).toPrecision(3))}${unit}`;
}

// As the page writes numbers: four digits, a real minus, digits of counts in threes.
// As numbers of a result are written elsewhere: four decimals, powers of ten beyond.
function significantText(value) {
  const size = Math.abs(value);
  const text = value === 0 || (size >= 0.001 && size < 1000) ? value.toFixed(4) : value.toExponential(3);
  return text.replace("e+", "e").replaceAll("-", "−");
}

const countText = (value) => value.toLocaleString("en-GB");

