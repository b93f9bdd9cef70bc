"use strict";
/* The page: what the service tells, shown. Nothing is asked of anybody else. events.md is the contract. */

const $ = (id) => document.getElementById(id);
const SILENT = 25000, WAITS = [500, 1000, 2000, 4000, 5000];
const charts = {}, history_ = new History();
let token = sessionStorage.getItem("keepfit-token") || "", model = "", lastEvent = "", failures = 0, control = null, newest = null,
  due = false, alarms = null, timer = null, watch = null;

function state(kind, words) {
  document.body.dataset.state = kind;
  if ($("state").textContent !== words) $("state").textContent = words;
}

function address(path, more) {
  const words = new URLSearchParams(more || {});
  if (model) words.set("model", model);
  return path + (String(words) ? "?" + words : "");
}

async function ask(path, options) {
  const headers = { ...(options && options.headers) };
  if (token) headers.Authorization = "Bearer " + token;
  const answer = await fetch(path, { cache: "no-store", ...options, headers });
  if (answer.status === 401) {
    $("unlock").hidden = false;
    $("token").focus();
  }
  return answer;
}

/* ---- what is shown ---- */

function put(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function share(error, classes) {
  return classes && typeof error === "number" ? (100 * error).toFixed(1) + "%" : say(error);
}

function tiles(now) {
  const proved = (now.proved || 0) + (now.missed || 0) + (now.unproved || 0);
  const held = typeof now.bound === "number" && typeof now.epsilon === "number" ? now.bound <= now.epsilon : null;
  put("v-stage", say(now.stage, true));
  put("v-bound", say(now.bound) + (held === null ? "" : held ? " ✓ held" : " ✗ above epsilon"));
  $("v-bound").className = held === null ? "" : held ? "good" : "bad";
  put("v-epsilon", say(now.epsilon));
  put("v-proved", proved ? (100 * now.proved / proved).toFixed(now.proved === proved ? 0 : 2) + "%" : "–");
  put("v-windowed_loss", say(now.windowed_loss));
  put("v-windowed_error", share(now.windowed_error, newest.about && newest.about.classes.length));
  put("v-auc", say(now.auc));
  put("v-points_per_second", say(Math.round(now.points_per_second)));
  put("v-predictions_per_second", say(Math.round(now.predictions_per_second)));
  put("v-queue", say(now.queue) + (now.queue_limit ? " of " + say(now.queue_limit) : ""));
}

/* The rows of a table become what `fill` makes of each; cells stay where they are, so that nothing jumps under a reader. */
function rows(body, all, fill) {
  while (body.rows.length > all.length) body.deleteRow(-1);
  all.forEach((one, k) => {
    const row = body.rows[k] || body.insertRow();
    fill(one).forEach((cell, c) => {
      let place = row.cells[c];
      if (!place) {
        place = document.createElement(c === 0 ? "th" : "td");
        if (c === 0) place.scope = "row";
        row.append(place);
      }
      if (typeof cell === "function") {
        place.className = "picture";
        place.replaceChildren();
        cell(place);
      } else {
        if (place.textContent !== cell) place.textContent = cell;
      }
    });
  });
}

/* A bar from 0 to value, with a whisker of `error` around its end, on a scale of -most .. most. */
function bar(value, error, most) {
  return (place) => {
    const at = (x) => 50 + 50 * Math.max(-1, Math.min(1, x / most));
    const picture = svg(place, "svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    svg(picture, "rect", { x: Math.min(50, at(value)), width: Math.abs(at(value) - 50), y: 1, height: 8,
      class: value < 0 ? "negative" : "positive" });
    svg(picture, "line", { x1: 50, x2: 50, y1: 0, y2: 10, class: "axis" });
    if (error > 0) svg(picture, "line", { x1: at(value - error), x2: at(value + error), y1: 5, y2: 5, class: "whisker" });
  };
}

function weights(now) {
  const all = now.weights || [];
  const most = Math.max(1e-300, ...all.map((w) => Math.abs(w.value) + (w.error || w.robust || 0)));
  rows($("weights").tBodies[0], all, (w) => [w.name + (w.class === null || w.class === undefined ? "" : " · " + w.class), say(w.value),
    say(w.error), say(w.robust), bar(w.value, w.error || w.robust, most)]);
  put("errors-stage", typeof now.errors_stage === "number" ? "Standard errors are of stage " + say(now.errors_stage, true) + "." : "");
}

function calibration(now) {
  const all = (now.calibration || []).filter((part) => part.count > 0);
  $("calibration").hidden = !all.length;
  $("no-calibration").hidden = all.length > 0;
  rows($("calibration").querySelector("tbody"), all, (part) => [(100 * part.predicted).toFixed(1) + "%",
    (100 * part.happened).toFixed(1) + "%", say(part.count, true), (place) => {
      const picture = svg(place, "svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
      svg(picture, "rect", { x: 0, width: 100 * part.happened, y: 1, height: 8, class: "positive" });
      svg(picture, "line", { x1: 100 * part.predicted, x2: 100 * part.predicted, y1: 0, y2: 10, class: "whisker" });
    }]);
}

function clock(seconds) {
  return new Date(1000 * seconds).toLocaleTimeString();
}

function bad(now) {
  const all = now.bad_requests || [];
  $("bad").hidden = !all.length;
  $("no-bad").hidden = all.length > 0;
  rows($("bad").querySelector("tbody"), all, (one) => [clock(one.time), String(one.request), String(one.status), String(one.message)]);
}

function drift(now) {
  const found = now.drift || {};
  const words = found.alarms ? (found.alarms === 1 ? "One alarm" : say(found.alarms, true) + " alarms") + ", the newest at stage " +
    say(found.last, true) + ": predictions got " + found.direction + " (mean loss " + say(found.before) + ", then " +
    say(found.after) + ")." : "No alarm so far. A false one comes less than once in a million points.";
  put("drift-words", words);
  if (alarms !== null && found.alarms > alarms) {
    $("alarm").hidden = false;
    put("alarm", "Drift: since about stage " + say(found.last, true) + " predictions are " + found.direction + " than before.");
  }
  alarms = found.alarms || 0;
}

function draw() {
  due = false;
  if (!newest || document.hidden) return;
  const now = newest.stage;
  tiles(now);
  weights(now);
  calibration(now);
  bad(now);
  drift(now);
  for (const name in charts) charts[name].draw(history_);
  document.documentElement.dataset.live = "yes";
}

/* However many events come, they are drawn once a frame. */
function redraw() {
  if (!due) requestAnimationFrame(draw);
  due = true;
}

function remember(now) {
  history_.add({ ...now, drift: now.drift && typeof now.drift === "object" ? now.drift.level : now.drift, alarm: 1 });
}

function take(now) {
  newest = { ...newest, stage: now };
  remember(now);
  state(now.ready === false ? "waiting" : "live", now.ready === false ? "taking over the journal" : "live");
  redraw();
}

/* ---- what seldom changes ---- */

function describe(about) {
  const first = !newest || !newest.about;
  const progressive = typeof about.loss === "number" ? about.loss : about.progressive_loss;
  newest = { ...newest, about, stage: newest && newest.stage ? newest.stage : { ...about, loss: progressive } };
  const names = about.models || [];
  $("choice").hidden = names.length < 2;
  if ($("model").length !== names.length) $("model").replaceChildren(...names.map((name) => new Option(name, name)));
  if (about.model) $("model").value = about.model;
  about.classes = about.classes || [];
  put("about", [typeof about.loss === "string" && about.loss + " loss", about.method && "method " + about.method,
    about.features !== undefined && about.features !== null && say(about.features, true) + " features",
    about.classes.length && "classes " + about.classes.join(", "), typeof about.lambda === "number" && "lambda " + say(about.lambda)]
    .filter(Boolean).join(" · "));
  put("version", about.version ? "keepfit " + about.version : "");
  if (first) {
    for (const old of about.history || []) remember(old);
    fields(about.example);
  }
  redraw();
}

async function report() {
  try {
    const answer = await ask(address("v1/report"));
    if (answer.ok) describe(await answer.json());
  } catch (problem) {
    /* the stream says that the connection is gone */
  }
}

/* ---- the stream ---- */

function event(text) {
  let kind = "message", data = "";
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":"), key = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (key === "event") kind = value;
    else if (key === "data") data += value;
    else if (key === "id") lastEvent = value;
  }
  if (kind === "stage" && data) take(JSON.parse(data));
}

async function read(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    heard();
    pending = (pending + value).replace(/\r\n?/g, "\n");
    let end;
    while ((end = pending.indexOf("\n\n")) >= 0) {
      event(pending.slice(0, end));
      pending = pending.slice(end + 2);
    }
  }
}

function heard() {
  clearTimeout(watch);
  watch = setTimeout(() => control && control.abort(), SILENT);
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(listen, WAITS[Math.min(failures++, WAITS.length - 1)]);
}

async function listen() {
  clearTimeout(timer);
  if (control) control.abort();
  const own = control = new AbortController();
  heard();
  try {
    const answer = await ask(address("v1/events"), { signal: own.signal, headers: lastEvent ? { "Last-Event-ID": lastEvent } : {} });
    if (answer.status === 401) return state("broken", "locked: a token is wanted");
    if (!answer.ok) throw new Error("status " + answer.status);
    if (failures) report();
    failures = 0;
    await read(answer);
  } catch (problem) {
    /* whatever broke it, it is opened again */
  }
  if (own !== control) return;
  state("broken", "the connection is broken; trying again");
  later();
}

function again() {
  if (document.body.dataset.state === "broken" && $("unlock").hidden) {
    failures = Math.max(failures, 1);
    listen();
  }
}

/* ---- a prediction ---- */

function fields(example) {
  const place = $("fields"), names = example && !Array.isArray(example) ? Object.keys(example) : [];
  place.replaceChildren();
  const add = (name, value, wide) => {
    const box = document.createElement("div"), label = document.createElement("label");
    const input = document.createElement(wide ? "textarea" : "input");
    label.textContent = name;
    input.id = label.htmlFor = "f-" + place.children.length;
    input.name = name;
    input.value = value;
    input.spellcheck = false;
    if (wide) box.className = "wide";
    box.append(label, input);
    place.append(box);
    return input;
  };
  if (names.length && names.length <= 40)
    for (const name of names) add(name, String(example[name])).dataset.number = typeof example[name] === "number";
  else
    add("features, as JSON", JSON.stringify(example || {}, null, 1), true).dataset.whole = "yes";
}

function filled() {
  const features = {};
  for (const input of $("fields").querySelectorAll("input, textarea")) {
    if (input.dataset.whole) return JSON.parse(input.value);
    const number = input.dataset.number === "true" && input.value.trim() !== "" ? Number(input.value) : NaN;
    features[input.name] = isNaN(number) ? input.value : number;
  }
  return features;
}

function explain(explanation) {
  const all = explanation ? [...explanation.contributions, { name: "(intercept)", value: null, contribution: explanation.intercept },
    { name: "(all others)", value: null, contribution: explanation.rest }] : [];
  const most = Math.max(1e-300, ...all.map((one) => Math.abs(one.contribution)));
  $("explained").hidden = !all.length;
  rows($("explained").querySelector("tbody"), all, (one) => [one.name, say(one.value), say(one.contribution), bar(one.contribution, 0, most)]);
}

function answered(answer) {
  const one = Array.isArray(answer) ? answer[0] : answer, likely = one.probabilities || {};
  const words = Object.keys(likely).map((name) => name + " " + (100 * likely[name]).toFixed(1) + "%");
  put("answer", "Prediction: " + (typeof one.prediction === "number" ? say(one.prediction) : one.prediction) +
    (words.length ? " (" + words.join(", ") + ")" : "") + ", by the model of stage " + say(one.stage, true) + ".");
  explain(one.explanation);
}

async function predict(submitted) {
  submitted.preventDefault();
  try {
    const body = JSON.stringify({ features: filled() });
    const answer = await ask(address("v1/predict", { explain: 12 }), { method: "POST", body,
      headers: { "Content-Type": "application/json" } });
    const said = await answer.json();
    if (answer.ok) return answered(said);
    explain(null);
    put("answer", "Not predicted: " + (said.error ? said.error.message : "status " + answer.status));
  } catch (problem) {
    explain(null);
    put("answer", "Not predicted: " + problem.message);
  }
}

/* ---- the beginning ---- */

function unlock(submitted) {
  submitted.preventDefault();
  token = $("token").value;
  sessionStorage.setItem("keepfit-token", token);
  $("unlock").hidden = true;
  report();
  listen();
}

function choose() {
  model = $("model").value;
  newest = null;
  alarms = null;
  lastEvent = "";
  history_.rows = [];
  report();
  listen();
}

for (const name in CHARTS) charts[name] = new Chart(name);
fields(null);
$("unlock").addEventListener("submit", unlock);
$("try").addEventListener("submit", predict);
$("model").addEventListener("change", choose);
addEventListener("online", again);
addEventListener("resize", () => { for (const name in charts) charts[name].resize(); });
document.addEventListener("visibilitychange", () => { again(); redraw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { for (const name in charts) charts[name].build(); });
report();
listen();
