// The page: which model, what is known of the row, and what the model answers to that. Nothing is worked out here that the server
// could say; whatever it says is written as text, never as markup.

import { Form, element, light, rounded, span } from "/form.js";
import { logOdds, nomogram, probability, shortened, signed, waterfall } from "/pictures.js";

const by = (id) => document.getElementById(id);
const MOST_CLASSES = 12, MOST_VALUES = 24, MOST_EXPLAINED = 20, CURVE = 33;

let model = null, form = null, last = null, side = null;
// Each question has a number, so that an answer to an older one is not shown.
let asked = 0, later = null;

async function ask(path, options) {
  const answer = await fetch(path, options);
  const is_json = (answer.headers.get("content-type") || "").includes("json");
  const said = is_json ? await answer.json() : await answer.text();
  if (answer.ok) return said;
  const why = is_json ? said.error || said.message || said.detail || said.title : said;
  throw new Error(typeof why === "string" ? why : (why && (why.message || why.why)) || answer.statusText);
}

const post = (what, body, headers) => ask(`/v1/models/${encodeURIComponent(model.name)}/${what}`, {
  method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body),
});

// Rows that nobody has, asked about to see what would be. Explanations are not counted among what the model was asked; of models with
// many columns they are too long.
const whatIf = async (rows) => (await post(model.columns.length <= MOST_EXPLAINED ? "explain" : "predict", { rows })).rows;

function trouble(error) {
  by("trouble").hidden = !error;
  by("trouble").textContent = error ? error.message : "";
}

async function start() {
  const { models } = await ask("/v1/models");
  by("model").replaceChildren(...models.map(({ name, target }) => element("option", { value: name }, target ? `${name}: ${target}` : name)));
  by("models").hidden = models.length < 2;
  by("model").addEventListener("change", () => open(by("model").value).catch(trouble));
  const wanted = new URLSearchParams(location.search).get("model");
  const first = models.find(({ name }) => name === wanted) || models[0];
  if (!first) return trouble(new Error("The server has no model."));
  by("model").value = first.name;
  await open(first.name);
}

async function open(name) {
  trouble(null);
  model = await ask(`/v1/models/${encodeURIComponent(name)}`);
  document.title = `${name}: ask a model`;
  side = null;
  describe();
  form = new Form(by("form"), model, refresh);
  by("teaching").hidden = model.read_only;
  by("classes").replaceChildren(...model.classes.slice(0, 200).map(({ name }) => element("option", { value: name })));
  by("side").replaceChildren(element("option", { value: "" }, "the answer"),
    ...model.classes.slice(0, 200).map(({ name }) => element("option", { value: name }, shortened(name, 40))));
  await refresh();
}

function describe() {
  const { name, target, rows, classes, version, judged } = model;
  by("about").textContent = `${name} tells ${classes.length} classes of “${target}” apart. It has learnt ${rows.toLocaleString("en")} rows` +
    `${judged ? " and was judged" : ""}. Version ${version}.`;
  drifted();
}

// Asks about the row; what takes more questions waits until nothing has changed for a moment.
async function refresh() {
  const number = ++asked;
  clearTimeout(later);
  busy(true);
  const row = form.row();
  try {
    const { rows: [explanation] } = await post("explain", { rows: [row] });
    if (number !== asked) return;
    trouble(null);
    last = explanation;
    show(explanation);
  } catch (error) {
    if (number === asked) {
      trouble(error);
      busy(false);
    }
    return;
  }
  later = setTimeout(async () => {
    await further(number, row).catch((error) => number === asked && trouble(error));
    if (number === asked) busy(false);
  }, 200);
}

// Says to programs that read the page aloud, or test it, whether more is to come.
const busy = (is) => document.querySelector("main").setAttribute("aria-busy", is);

const classOf = (explanation) => side && side in explanation.posterior ? side
  : explanation.prediction in explanation.posterior ? explanation.prediction
  : Object.entries(explanation.posterior).reduce((best, next) => next[1] > best[1] ? next : best)[0];

function show(explanation) {
  by("prediction").textContent = `${model.target} = ${explanation.prediction}`;
  const sorted = Object.entries(explanation.posterior).sort((a, b) => b[1] - a[1]);
  // Classes keep their places, so that bars move and do not jump; of many only the most probable are there.
  const shown = sorted.length <= MOST_CLASSES ? Object.entries(explanation.posterior) : sorted.slice(0, MOST_CLASSES);
  const list = by("posterior");
  while (list.children.length > shown.length) list.lastChild.remove();
  while (list.children.length < shown.length) {
    list.append(element("li", {}, element("span", { class: "name" }),
      element("span", { class: "track", "aria-hidden": "true" }, element("div", { class: "fill" })), element("span", { class: "p" })));
  }
  shown.forEach(([name, p], i) => {
    const [label, track, number] = list.children[i].children;
    list.children[i].classList.toggle("best", name === sorted[0][0]);
    list.children[i].dataset.class = name;
    list.children[i].dataset.p = p;
    label.textContent = label.title = name;
    track.firstChild.style.width = `${100 * p}%`;
    number.textContent = probability(p);
  });
  by("outcome").textContent = explanation.impossible ? "Impossible in every class: this is the prior."
    : explanation.no_evidence ? "Nothing is known: this is the prior." : "";
  draw();
  lightWords(explanation);
}

function draw() {
  if (!last) return;
  const width = Math.max(300, by("waterfall").clientWidth || 560);
  by("waterfall").replaceChildren(waterfall(last, classOf(last), model.target, width));
}

// Words by what they speak for, in bits for the class that is looked at.
function lightWords(explanation) {
  const own = classOf(explanation);
  for (const field of form.fields.filter((field) => field.kind === "text")) {
    const bits = new Map();
    const term = explanation.contributions.find((term) => term.feature === field.column.name && term.tokens);
    for (const token of term ? term.tokens.tokens : []) {
      if (!token.log_likelihood) continue;
      const with_prior = Object.fromEntries(Object.entries(token.log_likelihood)
        .map(([name, log]) => [name, log === null ? null : log + Math.log(explanation.prior[name])]));
      bits.set(token.token, logOdds(with_prior, own) - logOdds(explanation.log_prior, own));
    }
    light(field, bits);
  }
}

// Log-odds from the probabilities that predictions come with.
function odds(posterior, own) {
  const others = Object.entries(posterior).reduce((sum, [name, p]) => name === own ? sum : sum + p, 0);
  return Math.log2(posterior[own] / others);
}

// The values of a field that are worth asking about: a number over its range, or the most frequent values.
function candidates(field) {
  if (field.kind === "number") {
    const [low, high] = span(field.column);
    const whole = field.column.whole && high - low <= 200;
    const values = Array.from({ length: CURVE }, (_, i) => rounded(low + i / (CURVE - 1) * (high - low), [low, high], whole));
    return [...new Set(values)];
  }
  if (field.kind === "choice" || (field.column.values || []).length && field.columns.length === 1 && field.column.word !== "date") {
    return field.column.values.slice(0, MOST_VALUES).map(({ value }) => value);
  }
  return [];
}

async function further(number, row) {
  await changes(number, row);
  if (number === asked) await worth(number, row);
}

// The smallest change of each column that gives another answer.
async function changes(number, row) {
  const now = last.prediction;
  const wanted = [];
  for (const field of form.fields) {
    for (const value of candidates(field)) if (value !== row[field.name]) wanted.push({ field, value, row: { ...row, [field.name]: value } });
    for (const without of withoutWords(field, row)) wanted.push({ field, ...without });
  }
  const answers = wanted.length ? await whatIf(wanted.map(({ row }) => row)) : [];
  if (number !== asked) return;
  let found = [];
  for (const field of form.fields) {
    const others = wanted.map((of, i) => ({ ...of, answer: answers[i] })).filter((of) => of.field === field && of.answer.prediction !== now);
    if (!others.length) continue;
    const here = row[field.name];
    const far = (of) => field.kind === "number" ? Math.abs(of.value - (typeof here === "number" ? here : field.column.median ?? 0))
      : -of.answer.posterior[of.answer.prediction] || 0;
    found.push(others.reduce((best, next) => far(next) < far(best) ? next : best));
  }
  found = await nearer(found, row, now);
  if (number !== asked) return;
  const written = (value) => value === undefined ? "open" : shortened(String(value), 60);
  by("changes").tBodies[0].replaceChildren(...found.map(({ field, value, say, answer }) => element("tr", { "data-column": field.name, "data-value": value },
    element("th", { scope: "row" }, field.name), element("td", {}, written(row[field.name])), element("td", {}, say || written(value)),
    element("td", {}, answer.prediction), element("td", { class: "number" }, probability(answer.posterior[answer.prediction] ?? 0)))));
  by("changes").hidden = !found.length;
  by("no-change").hidden = found.length > 0;
  by("no-change").textContent = "No single column changes the answer.";
}

// A text without one of its words.
function withoutWords(field, row) {
  if (field.kind !== "text" || !row[field.name]) return [];
  const words = [...new Set(row[field.name].match(/[\p{L}\p{N}_'’]+/gu) || [])].slice(0, 40);
  return words.map((word) => {
    const text = row[field.name].split(/([\p{L}\p{N}_'’]+)/u).filter((piece) => piece !== word).join("");
    return { value: word, say: `without “${word}”`, row: { ...row, [field.name]: text } };
  });
}

// Numbers that change the answer, as near as they can be to what is there: one more look between two candidates.
async function nearer(found, row, now) {
  const looks = [];
  found.forEach((of, k) => {
    const here = row[of.field.name] ?? of.field.column.median;
    if (of.field.kind !== "number" || typeof here !== "number" || of.field.column.whole) return;
    const [low, high] = span(of.field.column), step = (high - low) / (CURVE - 1);
    const back = Math.sign(here - of.value) * Math.min(step, Math.abs(here - of.value));
    for (let i = 1; i < 16; i++) {
      const value = rounded(of.value + back * i / 16, [low, high], false);
      looks.push({ k, value, row: { ...row, [of.field.name]: value } });
    }
  });
  if (!looks.length) return found;
  const answers = await whatIf(looks.map(({ row }) => row));
  looks.forEach(({ k, value }, i) => {
    const { field } = found[k], here = row[field.name] ?? field.column.median;
    if (answers[i].prediction !== now && Math.abs(value - here) < Math.abs(found[k].value - here)) found[k] = { ...found[k], value, answer: answers[i] };
  });
  return found;
}

// What every value is worth alone: the log-odds where it is known and nothing else, less those where nothing is.
async function worth(number, row) {
  const rows = [{}], lines = [];
  for (const field of form.fields) {
    const values = candidates(field), here = row[field.name];
    if (here !== undefined && !values.includes(here)) values.push(here);
    if (!values.length) continue;
    lines.push({ field, values, first: rows.length });
    rows.push(...values.map((value) => ({ [field.name]: value })));
  }
  const answers = await whatIf(rows);
  if (number !== asked) return;
  const own = classOf(last), prior = odds(answers[0].posterior, own);
  let sum = prior;
  const drawn = lines.map(({ field, values, first }) => {
    const here = row[field.name];
    const points = values.map((value, i) => {
      const moved = odds(answers[first + i].posterior, own) - prior;
      return { label: shortened(String(value), 24), value, bits: Number.isNaN(moved) ? 0 : moved, now: value === here };
    });
    sum += points.find((point) => point.now)?.bits ?? 0;
    if (field.kind !== "number") return { column: field.name, points: points.filter((point, i) => i < 12 || point.now) };
    const [low, high] = span(field.column), share = (x) => Math.min(1, Math.max(0, (x - low) / (high - low)));
    const curve = points.filter((point) => typeof point.value === "number" && !(point.now && values.indexOf(point.value) >= CURVE)).map((point) => point.bits);
    // Round about the value of the row there is room for no other.
    const far = (point) => typeof here !== "number" || Math.abs(share(point.value) - share(here)) > 0.2;
    const marks = points.filter((point, i) => point.now || (i < CURVE && i % 16 === 0 && far(point)));
    return { column: field.name, curve, points: marks.map((point) => ({ ...point, share: share(point.value) })) };
  });
  const spread = ({ points, curve }) => {
    const bits = [...points.map((point) => point.bits), ...(curve || [])].filter(Number.isFinite);
    return Math.max(0, ...bits) - Math.min(0, ...bits);
  };
  drawn.sort((a, b) => spread(b) - spread(a));
  const width = Math.max(300, by("nomogram").clientWidth || 900);
  by("nomogram").replaceChildren(nomogram(drawn.slice(0, 30), prior, own, model.target, width));
  const model_says = odds(last.posterior, own);
  const close = Math.abs(sum - model_says) < 0.005;
  by("sum").textContent = `The prior and the rings add up to ${signed(sum)} bits, P = ${probability(1 / (1 + 2 ** -sum))}. ` + (close
    ? "That is what the model comes to."
    : `The model comes to ${signed(model_says)} bits, P = ${probability(last.posterior[own])}: ${model.judged ? "it knows that columns repeat each other" : "it knows the other classes apart"}.`);
}

function table(head, rows) {
  return element("table", {}, element("thead", {}, element("tr", {}, ...head.map((cell) => element("th", { scope: "col" }, cell)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, i) => i ? element("td", {}, cell) : element("th", { scope: "row" }, cell))))));
}

// A line of CSV as cells; quotes are undone.
function cells(line) {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted === undefined ? plain : quoted.replaceAll('""', '"'));
}

async function score() {
  const body = by("table").value;
  if (!body.trim()) return trouble(new Error("There is no table to answer: paste one first."));
  trouble(null);
  const answers = await ask(`/v1/models/${encodeURIComponent(model.name)}/predict?probabilities=true`, {
    method: "POST", headers: { "content-type": "text/csv", accept: "text/csv" }, body: body.endsWith("\n") ? body : body + "\n",
  });
  const lines = answers.trimEnd().split(/\r?\n/);
  const given = body.trimEnd().split(/\r?\n/);
  const beside = given.length === lines.length;
  const shown = lines.slice(0, 101).map((line, i) => [String(i), ...cells(line), ...(beside ? cells(given[i]) : [])]);
  by("scored").hidden = false;
  by("scored").replaceChildren(table(["row", ...shown[0].slice(1)], shown.slice(1)));
  if (lines.length > 101) by("scored").append(element("p", { class: "soft" }, `and ${lines.length - 101} more`));
  const link = by("download");
  if (link.href) URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([answers], { type: "text/csv" }));
  link.hidden = false;
}

async function teach(what) {
  const truth = by("truth").value, token = by("token").value;
  if (!truth) return taught(new Error("Say the true class first."));
  const row = { ...form.row(), [model.target]: truth };
  const said = await post(what, { rows: [row], id: crypto.randomUUID ? crypto.randomUUID() : String(Math.random()) }, { authorization: `Bearer ${token}` });
  by("taught").textContent = `${what === "learn" ? "Learnt" : "Forgotten"}: ${said.learnt ?? said.forgotten} row. The model has version ${said.version} now.`;
  // The form stays as it is; what the model answers to it may be something else now.
  model = await ask(`/v1/models/${encodeURIComponent(model.name)}?consistency=latest`);
  form.model = model;
  describe();
  await refresh();
}

function taught(error) {
  by("taught").textContent = error.message;
}

function drifted() {
  const { drift } = model;
  const percent = (share) => share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)} %`;
  by("asked").textContent = !drift || !drift.rows ? "It was asked about no rows yet." : `${drift.rows.toLocaleString("en")} rows. ` +
    `Answers: ${Object.entries(drift.predicted).slice(0, 12).map(([name, share]) => `${name} ${percent(share)}`).join(", ")}.` +
    (drift.learnt && drift.learnt.rows ? ` Of ${drift.learnt.rows} rows that it has learnt since, it knew ${percent(drift.learnt.accuracy)} before.` : "");
  by("drifted").hidden = !drift || !drift.rows;
  if (!drift || !drift.rows) return;
  const before = new Map(model.columns.map((column) => [column.name, column.missing]));
  const rows = Object.entries(drift.columns).map(([name, of]) => [name, percent(of.missing), percent(before.get(name)), percent(of.unseen)]);
  by("drifted").replaceChildren(table(["column", "missing", "in training", "never met"], rows));
}

by("clear").addEventListener("click", () => form && form.clear());
by("form").addEventListener("submit", (event) => event.preventDefault());
by("side").addEventListener("change", () => {
  side = by("side").value || null;
  refresh();
});
by("score").addEventListener("click", () => score().catch(trouble));
by("learn").addEventListener("click", () => teach("learn").catch(taught));
by("forget").addEventListener("click", () => teach("forget").catch(taught));
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width || !form) return;
  width = innerWidth;
  refresh();
});
start().catch(trouble);
