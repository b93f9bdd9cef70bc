"use strict";
/* Charts: a line for each series over time, drawn by uPlot, with a legend that is text. */

const CHARTS = {
  bound: { log: true, series: [["bound", "proved bound", "--a"], ["epsilon", "epsilon", "--b", [6, 4]]] },
  loss: { series: [["windowed_loss", "newest predictions", "--a"], ["loss", "all", "--b", [6, 4]]] },
  error: { series: [["windowed_error", "newest predictions", "--a"], ["error", "all", "--b", [6, 4]]] },
  drift: { least: [0, 1.05], series: [["drift", "level", "--a"], ["alarm", "alarm at 1", "--b", [6, 4]]] },
  work: { log: true, series: [["gradients_per_point", "gradients a point", "--a"],
    ["microseconds_per_point", "microseconds a point", "--c", [2, 3]]] },
  rates: { least: [0, 1], series: [["points_per_second", "points a second", "--a"],
    ["predictions_per_second", "predictions a second", "--c", [2, 3]], ["queue", "queue", "--b", [6, 4]]] },
};
const SVG = "http://www.w3.org/2000/svg";
const KEPT = 1200;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/* 4 digits, whatever the size; a count keeps all of its own. */
function say(number, count) {
  if (typeof number !== "number" || !isFinite(number)) return "–";
  if (count || (number === Math.round(number) && Math.abs(number) < 1e15)) return number.toLocaleString("en");
  const size = Math.abs(number);
  if (size < 1e-3 || size >= 1e6) return number.toExponential(2);
  return String(Number(number.toPrecision(4)));
}

function svg(parent, name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  parent.append(made);
  return made;
}

/* Rows of numbers by the time they were said; when there are too many, every other one of the older half goes. */
class History {
  constructor() { this.rows = []; }
  add(row) {
    const last = this.rows[this.rows.length - 1];
    if (last && row.time < last.time) this.rows = this.rows.filter((old) => old.time < row.time);
    if (last && row.time === last.time) this.rows.pop();
    this.rows.push(row);
    if (this.rows.length > KEPT) this.rows = this.rows.filter((_, k) => k >= KEPT / 2 || k % 2 === 0);
  }
  column(key, log) {
    return this.rows.map((row) => {
      const value = row[key];
      return typeof value === "number" && isFinite(value) && (!log || value > 0) ? value : null;
    });
  }
}

class Chart {
  constructor(name) {
    this.about = CHARTS[name];
    this.figure = document.getElementById("c-" + name);
    this.title = document.getElementById("h-" + name).textContent;
    this.place = document.createElement("div");
    this.place.className = "plot";
    this.place.setAttribute("role", "img");
    this.place.setAttribute("aria-label", this.title + ": nothing yet");
    this.caption = document.createElement("figcaption");
    this.figure.append(this.place, this.caption);
    this.values = this.about.series.map(([, label, paint, dash]) => {
      const item = document.createElement("span"), line = svg(item, "svg", { viewBox: "0 0 22 10", "aria-hidden": "true" });
      svg(line, "line", { x1: 0, x2: 22, y1: 5, y2: 5, stroke: "var(" + paint + ")", "stroke-width": 2.5,
        "stroke-dasharray": (dash || []).join(" ") });
      const value = document.createElement("span");
      item.append(label + " ", value);
      this.caption.append(item);
      return value;
    });
    this.build();
  }
  range(log) {
    return (_, low, high) => {
      if (low === null || high === null || !isFinite(low) || !isFinite(high)) return log ? [0.1, 1] : [0, 1];
      if (log) return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high) + 1e-9)];
      if (this.about.least) return [Math.min(low, this.about.least[0]), Math.max(high * 1.05, this.about.least[1])];
      const room = (high - low || Math.abs(high) || 1) * 0.1;
      return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
    };
  }
  build() {
    if (this.plot) this.plot.destroy();
    const log = this.about.log, axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1 }, font: "12px system-ui, sans-serif" };
    const ticks = (_, all) => all.map((v) => v === null || (log && Math.abs(Math.log10(v) % 1) > 1e-6) ? "" : say(v));
    this.plot = new uPlot({
      width: Math.max(200, this.place.clientWidth), height: 190, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: true }, y: { distr: log ? 3 : 1, range: this.range(log) } },
      axes: [axis, { ...axis, size: 62, values: ticks }],
      series: [{}, ...this.about.series.map(([, label, paint, dash]) => ({ label, stroke: colour(paint), width: 2, dash: dash || [],
        spanGaps: true, points: { show: false } }))],
    }, this.data || [[], ...this.about.series.map(() => [])], this.place);
  }
  resize() {
    const width = Math.max(200, this.place.clientWidth);
    if (width !== this.plot.width) this.plot.setSize({ width, height: 190 });
  }
  draw(history) {
    this.data = [history.rows.map((row) => row.time), ...this.about.series.map(([key]) => history.column(key, this.about.log))];
    this.plot.setData(this.data);
    const last = history.rows[history.rows.length - 1] || {}, words = [];
    this.about.series.forEach(([key, label], k) => {
      const text = say(last[key]);
      if (this.values[k].textContent !== text) this.values[k].textContent = key === "alarm" ? "" : text;
      if (key !== "alarm") words.push(label + " " + text);
    });
    this.place.setAttribute("aria-label", this.title + ", a line over time; now: " + words.join(", "));
  }
}
