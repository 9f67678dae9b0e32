// The figure that moves with k. It is drawn from the JSON inside the page; the numbers beside it are copied, with their
// places, from the table of all laws.
{
  const place = document.getElementById("data");
  if (place) explore(JSON.parse(place.textContent));
}

function explore(data) {
  const [section, svg, tip, slider, said, numbers] =
    ["explore", "explore-figure", "tip", "k", "explore-said", "explore-numbers"].map((id) => document.getElementById(id));
  // Half of a 95 % error bar in standard errors.
  const BAR = 1.959963984540054;
  // Families by their lines, as corpora have the colours.
  const DASHES = ["none", "12 3 2 3", "2 3"];
  const SPACE = { left: 62, right: 14, top: 12, bottom: 46 };
  // The mark that the arrow keys stand on: [series, point].
  let focus = [0, 0];

  makeSwitches(data);
  slider.max = data.grid.length - 1;
  section.hidden = false;
  document.documentElement.classList.add("moves");

  const k = () => data.grid[slider.value];
  const shown = () => data.groups.filter((group) => shownGroup(group.family, group.corpus));
  const seriesAt = (k) => shown().flatMap((group) => {
    const law = group.laws.find((law) => law.k === k && law.points.length > 0);
    return law ? [{ group, law }] : [];
  });
  const name = (group) => data.corpora[group.corpus] + (data.families.length > 1 ? ` · ${data.families[group.family]}` : "");
  const bar = (point) => point[3] === null ? null : [point[2] * Math.exp(-BAR * point[3]), point[2] * Math.exp(BAR * point[3])];
  const source = (series, at, member) => `laws.json#/groups/${series.group.at}/rank_laws/${series.law.at}/points/${at}/${member}`;

  // The line and its band at S. At the middle of the sizes value and slope err independently but for what a text moves in both.
  function line(fit, size) {
    const away = Math.log(size / fit.centre);
    const value = fit.value[0] * Math.exp(-fit.exponent[0] * away);
    if (!fit.value[1] || !fit.exponent[1]) return { value };
    const middle = Math.log(fit.value[1][1] / fit.value[1][0]) / 2;
    const slope = ((fit.exponent[1][1] - fit.exponent[1][0]) / 2) * away;
    const half = Math.sqrt(Math.max(0, middle ** 2 - 2 * fit.correlation * middle * slope + slope ** 2));
    return { value, low: value * Math.exp(-half), high: value * Math.exp(half) };
  }
  const along = (fit) => Array.from({ length: 25 }, (_, at) => fit.range[0] * (fit.range[1] / fit.range[0]) ** (at / 24));

  const make = (tag, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const path = (points) => points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

  function mark(shape, x, y) {
    const r = 4.5;
    const corners = {
      1: [[-r, -r], [r, -r], [r, r], [-r, r]].map(([a, b]) => [a * 0.88, b * 0.88]),
      2: [[0, -1.25 * r], [1.15 * r, 0.8 * r], [-1.15 * r, 0.8 * r]],
      3: [[0, -1.3 * r], [1.3 * r, 0], [0, 1.3 * r], [-1.3 * r, 0]],
      4: [[0, 1.25 * r], [1.15 * r, -0.8 * r], [-1.15 * r, -0.8 * r]],
    }[shape];
    if (!corners) return make("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r });
    return make("path", { d: path(corners.map(([a, b]) => [x + a, y + b])) + "Z" });
  }

  function draw() {
    const series = seriesAt(k());
    const width = Math.max(300, svg.parentElement.clientWidth);
    const height = Math.min(400, Math.max(270, width * 0.5));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.style.height = `${height}px`;
    svg.replaceChildren();
    hideTip();
    if (series.length === 0) {
      svg.append(make("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "No model that is switched on has a point at this k."));
      return;
    }
    // The horizontal axis stays when k moves.
    const sizes = shown().flatMap((group) => group.laws.flatMap((law) => law.points.map((point) => point[1])));
    const x = logAxis(sizes, 0.04, SPACE.left, width - SPACE.right);
    const heights = series.flatMap(({ law }) => [
      ...law.points.flatMap((point) => [point[2], ...(bar(point) ?? [])]),
      ...(law.fit ? law.fit.range.map((size) => line(law.fit, size).value) : []),
    ]);
    const y = logAxis(heights, 0.06, height - SPACE.bottom, SPACE.top);
    axes(x, y, width, height);
    for (const { group, law } of series) if (law.fit) band(group, law.fit, x, y);
    for (const { group, law } of series) if (law.fit) {
      const points = along(law.fit).map((size) => [x.at(size), y.at(line(law.fit, size).value)]);
      svg.append(make("path", { d: path(points), class: "line", stroke: group.colour, fill: "none", "stroke-dasharray": law.fit.claimed ? DASHES[group.family % DASHES.length] : "6 4" }));
    }
    series.forEach((one, number) => one.law.points.forEach((point, at) => svg.append(pointMark(one, number, point, at, x, y))));
    current()?.setAttribute("tabindex", "0");
  }

  function axes(x, y, width, height) {
    const base = height - SPACE.bottom;
    for (const value of ticks(x, Math.floor((width - 76) / 58))) {
      const at = x.at(value).toFixed(1);
      svg.append(make("path", { d: `M${at},${SPACE.top}V${base}`, class: "grid" }));
      svg.append(make("text", { x: at, y: base + 17, "text-anchor": "middle" }, sizeText(value)));
    }
    for (const value of ticks(y, Math.floor((base - SPACE.top) / 34))) {
      const at = y.at(value).toFixed(1);
      svg.append(make("path", { d: `M${SPACE.left},${at}H${width - SPACE.right}`, class: "grid" }));
      svg.append(make("text", { x: SPACE.left - 7, y: Number(at) + 4, "text-anchor": "end" }, String(Number(value.toPrecision(6)))));
    }
    svg.append(make("path", { d: `M${SPACE.left},${SPACE.top}V${base}H${width - SPACE.right}`, class: "axis" }));
    svg.append(make("text", { x: (SPACE.left + width - SPACE.right) / 2, y: height - 8, "text-anchor": "middle" }, "non-embedding parameters S"));
    const middle = (SPACE.top + base) / 2;
    const title = make("text", { x: 15, y: middle, "text-anchor": "middle", transform: `rotate(-90 15 ${middle})` }, "−ln RBP");
    title.append(make("tspan", { dy: 4, "font-size": "9" }, String(k())), make("tspan", { dy: -4 }, " (nats)"));
    svg.append(title);
  }

  function band(group, fit, x, y) {
    const ends = along(fit).map((size) => [size, line(fit, size)]);
    if (ends[0][1].low === undefined) return;
    const clamp = (value) => Math.min(Math.max(y.at(value), SPACE.top), y.from);
    const upper = ends.map(([size, at]) => [x.at(size), clamp(at.high)]);
    const lower = ends.map(([size, at]) => [x.at(size), clamp(at.low)]).reverse();
    svg.append(make("path", { d: path([...upper, ...lower]) + "Z", class: "band", fill: group.colour, stroke: "none" }));
  }

  function pointMark(one, number, point, at, x, y) {
    const { group, law } = one;
    const [px, py] = [x.at(point[1]), y.at(point[2])];
    const ends = bar(point);
    const text = `${point[0]} on ${name(group)}: ${significantText(point[2])} nats` +
      (ends ? `, 95 % from ${significantText(ends[0])} to ${significantText(ends[1])}` : "");
    const holder = make("g", { class: law.fit && !law.fit.claimed ? "point hollow" : "point", role: "img", tabindex: "-1", "aria-label": text, "data-series": number, "data-point": at, style: `--corpus: ${group.colour}` });
    holder.append(make("circle", { cx: px, cy: py, r: 11, class: "reach" }));
    if (ends) {
      const [low, high] = ends.map((value) => y.at(value).toFixed(1));
      holder.append(make("path", { d: `M${px.toFixed(1)},${low}V${high}M${(px - 4).toFixed(1)},${low}h8M${(px - 4).toFixed(1)},${high}h8`, stroke: group.colour, fill: "none", "stroke-width": 1.3 }));
    }
    const shape = mark(group.corpus % 5, px, py);
    shape.setAttribute("class", "mark");
    shape.setAttribute("stroke", group.colour);
    shape.setAttribute("fill", group.colour);
    holder.append(shape);
    const show = () => showTip(one, point, at, px, py);
    holder.addEventListener("pointerenter", show);
    holder.addEventListener("pointerleave", hideTip);
    holder.addEventListener("focus", () => { focus = [number, at]; show(); });
    holder.addEventListener("blur", hideTip);
    return holder;
  }

  const number = (text, value, source) => {
    const element = Object.assign(document.createElement("data"), { value: String(value), textContent: text });
    element.dataset.source = source;
    return element;
  };

  function showTip(one, point, at, px, py) {
    const [model, parameters, value, , misses, tokens] = point;
    const ends = bar(point);
    const title = document.createElement("b");
    title.textContent = model;
    tip.replaceChildren(title, ` on ${name(one.group)}`, document.createElement("br"), "S = ", number(countText(parameters), parameters, source(one, at, "x")),
      document.createElement("br"), "−ln RBP = ", number(significantText(value), value, source(one, at, "value")), " nats");
    if (ends) tip.append(document.createElement("br"), `95 %: ${significantText(ends[0])} to ${significantText(ends[1])}`);
    if (misses !== null) tip.append(document.createElement("br"), number(countText(misses), misses, source(one, at, "misses")), " of ", number(countText(tokens), tokens, source(one, at, "tokens")), " tokens missed");
    tip.hidden = false;
    const room = svg.parentElement.clientWidth;
    tip.style.left = `${Math.max(0, Math.min(px + 12, room - tip.offsetWidth - 4))}px`;
    tip.style.top = `${py > tip.offsetHeight + 24 ? py - tip.offsetHeight - 14 : py + 16}px`;
  }

  function hideTip() {
    tip.hidden = true;
  }

  const current = () => svg.querySelector(`[data-series="${focus[0]}"][data-point="${focus[1]}"]`) ?? svg.querySelector(".point");

  // Left and right along the models of a corpus, up and down between corpora.
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Escape") hideTip();
    if (!step) return;
    event.preventDefault();
    const series = seriesAt(k());
    const row = Math.min(Math.max(focus[0] + step[0], 0), series.length - 1);
    focus = [row, Math.min(Math.max(focus[1] + step[1], 0), series[row].law.points.length - 1)];
    svg.querySelectorAll('[tabindex="0"]').forEach((point) => point.setAttribute("tabindex", "-1"));
    current().setAttribute("tabindex", "0");
    current().focus();
  });

  // What stands in the table of all laws of a group at k: the cells, and their places with them.
  function row(group) {
    const table = document.querySelector(`table[data-laws="${data.groups.indexOf(group)}"]`);
    return table?.querySelector(`tr[data-k="${k()}"]`);
  }

  function tell() {
    document.getElementById("k-value").textContent = countText(k());
    slider.setAttribute("aria-valuetext", `k = ${countText(k())}`);
    const rows = [];
    const sentences = [];
    for (const group of shown()) {
      const found = row(group);
      if (!found) continue;
      const [, exponent, r, , , models, misses, finding] = [...found.cells].map((cell) => cell.cloneNode(true));
      const head = document.createElement("th");
      head.scope = "row";
      const dot = Object.assign(document.createElement("span"), { className: "swatch" });
      dot.style.setProperty("--corpus", group.colour);
      head.append(dot, name(group));
      const line = document.createElement("tr");
      line.append(head, exponent, r, misses, models, finding);
      rows.push(line);
      const alone = exponent.cloneNode(true);
      alone.querySelectorAll("small, .parts").forEach((part) => part.remove());
      sentences.push(`${name(group)} α ${alone.textContent.trim()}, R² ${r.textContent.trim()}`);
    }
    numbers.tBodies[0].replaceChildren(...rows);
    said.textContent = `k = ${countText(k())}: ${sentences.join("; ")}${sentences.length ? "." : "no law that is switched on."}`;
  }

  const update = () => { tell(); draw(); };
  slider.addEventListener("input", update);
  switches.listeners.push(update);
  new ResizeObserver(draw).observe(svg.parentElement);
  update();
}
