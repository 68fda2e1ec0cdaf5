// Pictures of one row: the waterfall, the nomogram, and the density behind a slider. Numbers come from the server; here they are
// only placed.

const NAMESPACE = "http://www.w3.org/2000/svg";

// An element of SVG with these attributes.
export function shape(name, attributes, text) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// A picture that says in words what is to be seen, for those who do not see it.
function picture(width, height, title, description) {
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.setAttribute("aria-label", `${title}. ${description}`);
  return svg;
}

export function shortened(text, most) {
  const letters = [...text];
  return letters.length > most ? letters.slice(0, Math.max(1, most - 1)).join("") + "…" : text;
}

export const signed = (bits) => Number.isFinite(bits) ? (bits < 0 ? "−" : "+") + Math.abs(bits).toFixed(2) : bits < 0 ? "−∞" : "+∞";

export function probability(p) {
  if (p > 0 && p < 5e-5) return p.toExponential(1);
  if (p < 1 && p > 1 - 5e-5) return "1 − " + (1 - p).toExponential(1);
  return p.toFixed(4);
}

// log₂ of the weight of a class over that of all others, from natural logarithms of what they are proportional to. JSON writes −∞ as
// null.
export function logOdds(logs, own) {
  const of = (log) => log === null ? -Infinity : log;
  const others = Object.keys(logs).filter((name) => name !== own).map((name) => of(logs[name]));
  const largest = Math.max(-Infinity, ...others);
  if (largest === -Infinity) return of(logs[own]) === -Infinity ? 0 : Infinity;
  const rest = largest + Math.log(others.reduce((sum, log) => sum + Math.exp(log - largest), 0));
  return (of(logs[own]) - rest) / Math.LN2;
}

// The terms of an explanation: a name and what it adds to each class. Words of a document stand for themselves.
function terms(explanation) {
  const found = [];
  for (const term of explanation.contributions) {
    if (!term.tokens) {
      const value = term.value === null ? term.of ? "" : " missing" : ` = ${term.value}`;
      found.push([term.feature + value + (term.unseen ? " (never met)" : ""), term.log_likelihood]);
      continue;
    }
    const { absent, length, tokens } = term.tokens;
    found.push([`${term.feature}: (nothing there)`, absent]);
    if (length) found.push([`${term.feature}: (its length)`, length]);
    for (const token of tokens) {
      const times = token.occurrences > 1 ? ` × ${token.occurrences}` : "";
      if (token.log_likelihood) found.push([`“${token.token}”${times}`, token.log_likelihood]);
    }
  }
  return found;
}

const says = (logs) => new Set(Object.values(logs)).size > 1;

// From the prior to the posterior of a class, the largest terms first and the smallest together.
export function steps(explanation, own, most) {
  const sum = { ...explanation.log_prior };
  const found = [{ label: "prior", from: 0, to: logOdds(sum, own) }];
  if (explanation.impossible) return found;
  const alone = (logs) => {
    const bits = logOdds(Object.fromEntries(Object.keys(logs).map((name) =>
      [name, logs[name] === null ? null : logs[name] + Math.log(explanation.prior[name])])), own) - logOdds(explanation.log_prior, own);
    return Number.isNaN(bits) ? 0 : Math.abs(bits);
  };
  const impossible = ([, logs]) => Object.values(logs).includes(null);
  let all = terms(explanation).filter(([, logs]) => says(logs)).map((term) => ({ term, size: alone(term[1]) }));
  all.sort((a, b) => impossible(a.term) - impossible(b.term) || b.size - a.size);
  all = all.map(({ term }) => term);
  const possible = all.filter((term) => !impossible(term));
  if (possible.length > most + 1) {
    const small = possible.slice(most);
    const together = Object.fromEntries(Object.keys(sum).map((name) => [name, small.reduce((x, [, logs]) => x + logs[name], 0)]));
    all = [...possible.slice(0, most), [`${small.length} other terms`, together], ...all.filter(impossible)];
  }
  for (const [label, logs] of all) {
    const from = logOdds(sum, own);
    for (const name of Object.keys(sum)) sum[name] = sum[name] === null || logs[name] === null ? null : sum[name] + logs[name];
    found.push({ label, from, to: logOdds(sum, own) });
  }
  return found;
}

// Round numbers between two ends.
function ticks(low, high, most) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((step) => step >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9; i++) found.push(+(i * step).toPrecision(6));
  return found;
}

const PROBABILITIES = [1e-9, 1e-6, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.999999];

// How the log-odds of a class move, term by term.
export function waterfall(explanation, own, target, width) {
  const found = steps(explanation, own, 14);
  const row = 24, top = 46, names = Math.min(220, 0.42 * width), right = 56;
  const height = top + row * (found.length + 1) + 8;
  const described = found.map((step) => `${step.label} ${signed(step.to - step.from)}`).join(", ");
  const p = explanation.posterior[own];
  const svg = picture(width, height, `The log-odds of ${target} = ${own} in bits`, `${described}. The posterior is ${probability(p)}.`);
  const ends = found.flatMap((step) => [step.from, step.to]).filter(Number.isFinite);
  const low = Math.max(-60, Math.min(-1, ...ends)), high = Math.min(60, Math.max(1, ...ends));
  const x = (bits) => names + (Math.min(Math.max(bits, low), high) - low) / (high - low) * (width - names - right);
  let free = -1;
  for (const p of PROBABILITIES) {
    const bits = Math.log2(p / (1 - p)), half = 3.5 * String(p).length;
    if (bits < low || bits > high || x(bits) - half < free) continue;
    svg.append(shape("text", { x: x(bits), y: 14, class: "middle" }, p));
    free = x(bits) + half + 5;
  }
  for (const tick of ticks(low, high, Math.max(2, Math.min(7, (width - names) / 70)))) {
    svg.append(shape("path", { d: `M${x(tick)} ${top - 6}V${height - 8}`, class: "grid" }));
    svg.append(shape("text", { x: x(tick), y: top - 12, class: "middle faint" }, tick));
  }
  svg.append(shape("path", { d: `M${x(0)} ${top - 6}V${height - 8}`, class: "axis" }));
  found.forEach((step, i) => {
    const y = top + row * i, bits = step.to - step.from, [a, b] = [x(step.from), x(step.to)];
    const name = shape("text", { x: names - 8, y: y + 16, class: "end" }, shortened(step.label, Math.floor((names - 8) / 7.2)));
    name.append(shape("title", {}, step.label));
    svg.append(name);
    svg.append(shape("rect", { x: Math.min(a, b), y: y + 4, width: Math.max(1, Math.abs(b - a)), height: row - 8,
      class: bits < 0 ? "against" : "for", "data-bits": bits }));
    svg.append(shape("path", { d: `M${b} ${y + row - 4}v8`, class: "axis" }));
    svg.append(shape("text", { x: Math.max(a, b) + 5, y: y + 16, class: "faint" }, Number.isNaN(bits) ? "" : signed(bits)));
  });
  const y = top + row * found.length, end = found[found.length - 1].to;
  svg.append(shape("text", { x: names - 8, y: y + 16, class: "end strong" }, "posterior"));
  svg.append(shape("path", { d: `M${x(end)} ${y + 5}h6l-6 7l-6 -7z`, class: "for" }));
  svg.append(shape("text", { x: x(end) + 10, y: y + 16, class: "strong", id: "shown-posterior", "data-p": p }, probability(p)));
  return svg;
}

// A line for each column with what its values are worth; rings around those of the row. Lines: {column, points: [{label, bits, now}],
// curve: [bits]}.
export function nomogram(lines, prior, own, target, width) {
  const limit = 24, names = Math.min(180, 0.3 * width), top = 34;
  const heights = lines.map((line) => line.curve ? 66 : 44);
  const height = top + 40 + heights.reduce((sum, height) => sum + height, 0) + 24;
  const all = [prior, 0, ...lines.flatMap((line) => [...line.points.map((point) => point.bits), ...(line.curve || [])])].filter(Number.isFinite);
  let low = Math.max(-limit, Math.min(-1, ...all)), high = Math.min(limit, Math.max(1, ...all));
  const room = 0.06 * (high - low);
  [low, high] = [low - room, high + room];
  const x = (bits) => names + (Math.min(Math.max(bits, low), high) - low) / (high - low) * (width - names - 16);
  const described = lines.map((line) => {
    const bits = [...line.points.map((point) => point.bits), ...(line.curve || [])].filter(Number.isFinite);
    return `${line.column} from ${signed(Math.min(0, ...bits))} to ${signed(Math.max(0, ...bits))}`;
  });
  const svg = picture(width, height, `What values are worth to ${target} = ${own}, in bits`, described.join("; "));
  const bottom = height - 24;
  for (const tick of ticks(low, high, Math.max(2, Math.min(8, (width - names) / 60)))) {
    svg.append(shape("path", { d: `M${x(tick)} ${top - 6}V${bottom}`, class: "grid" }));
    svg.append(shape("text", { x: x(tick), y: bottom + 16, class: "middle faint" }, tick));
  }
  svg.append(shape("path", { d: `M${x(0)} ${top - 6}V${bottom}`, class: "axis" }));
  svg.append(shape("text", { x: x((low + high) / 2), y: 14, class: "middle faint" }, "← against it, in bits, for it →"));
  const name = (text, y) => {
    const label = shape("text", { x: names - 10, y: y + 4, class: "end" }, shortened(text, Math.floor((names - 12) / 7.2)));
    label.append(shape("title", {}, text));
    svg.append(label);
  };
  const dot = (point, y) => {
    svg.append(shape("circle", { cx: x(point.bits), cy: y, r: 4, class: "for" }));
    if (point.now) svg.append(shape("circle", { cx: x(point.bits), cy: y, r: 8, class: "ring" }));
  };
  const label = (point, y, placed) => {
    const text = shortened(point.label, 14), half = 3.5 * [...text].length;
    const at = Math.min(Math.max(x(point.bits), names + half), width - half);
    const free = [y - 10, y + 20].find((line) => placed.every(([y, from, to]) => y !== line || at + half + 4 < from || to + 4 < at - half));
    if (free === undefined) return;
    placed.push([free, at - half, at + half]);
    svg.append(shape("text", { x: at, y: free, class: point.now ? "middle strong" : "middle" }, text));
  };
  let y = top;
  name("prior", y + 20);
  dot({ bits: prior }, y + 20);
  y += 40;
  lines.forEach((line, i) => {
    const middle = y + heights[i] / 2;
    name(line.column, middle);
    if (line.curve) {
      const from = y + heights[i] - 8, tall = heights[i] - 16, share = (at) => from - at * tall;
      const d = line.curve.map((bits, k) => `${k ? "L" : "M"}${x(bits).toFixed(1)} ${share(k / (line.curve.length - 1)).toFixed(1)}`).join("");
      svg.append(shape("path", { d, class: "line" }));
      for (const point of line.points) {
        const at = share(point.share), left = x(point.bits) + 10 + 7 * point.label.length > width;
        dot(point, at);
        svg.append(shape("text", { x: x(point.bits) + (left ? -11 : 11), y: at + 4, class: (left ? "end" : "") + (point.now ? " strong" : "") }, point.label));
      }
    } else if (line.points.length) {
      const bits = line.points.map((point) => point.bits).map((bits) => Math.min(Math.max(bits, low), high));
      svg.append(shape("path", { d: `M${x(Math.min(...bits))} ${middle}H${x(Math.max(...bits))}`, class: "axis" }));
      const placed = [];
      for (const point of line.points) dot(point, middle);
      for (const point of [...line.points].sort((a, b) => (b.now || 0) - (a.now || 0))) label(point, middle, placed);
    }
    y += heights[i];
  });
  return svg;
}

// The densities of all classes behind a slider.
export function densities(density, classes) {
  const svg = shape("svg", { viewBox: "0 0 300 46", preserveAspectRatio: "none", "aria-hidden": "true" });
  const curves = classes.map((name) => (density.classes[name] || []).map((p) => p || 0));
  const tops = curves.flat().sort((a, b) => a - b);
  // A narrow peak would make everything else look flat.
  const top = Math.max(1e-300, Math.min(tops[tops.length - 1], 4 * tops[Math.floor(0.9 * tops.length)] || Infinity));
  curves.forEach((curve, k) => {
    const point = (p, i) => `${(i / Math.max(1, curve.length - 1) * 300).toFixed(1)} ${(46 - 44 * Math.min(1, p / top)).toFixed(1)}`;
    if (curve.length) svg.append(shape("path", { d: `M0 46L${curve.map(point).join("L")}L300 46z`, class: `density c${k % 8}`, "vector-effect": "non-scaling-stroke" }));
  });
  return svg;
}
