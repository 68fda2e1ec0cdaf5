// The columns of a model as a form. What is known of the row is read from it; what is left open is not part of it.

import { densities, shortened } from "/pictures.js";

// Values beyond this are typed, with proposals.
const MOST_CHOICES = 40;
const STEPS = 200;

export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const percent = (share) => share === null || share === undefined ? "" : ` (${(100 * share).toFixed(share < 0.01 ? 1 : 0)} %)`;

// Columns that are read from one column of the table are asked for together.
export function sources(columns) {
  const found = new Map();
  for (const column of columns) {
    const name = column.from || column.name;
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(column);
  }
  return [...found].map(([name, columns]) => ({ name, columns, column: columns[0] }));
}

const isNumber = (column) => ["number", "moments", "group"].includes(column.kind) && column.word !== "date";

// What a source can be asked about: a slider over its range, a choice of its values, a text, or anything that can be typed.
function look({ columns, column }) {
  if (columns.length > 1 || column.word === "date") return "typed";
  if (column.kind === "text") return "text";
  if (isNumber(column)) return "number";
  return column.values && column.values.length && column.values.length <= MOST_CHOICES && !column.more_values ? "choice" : "typed";
}

// A number with as many digits as tell it from its neighbours on the slider.
export function rounded(x, [low, high], whole) {
  if (whole) return Math.round(x);
  const digits = Math.max(0, Math.min(12, 2 - Math.floor(Math.log10((high - low) || 1))));
  return +x.toFixed(digits);
}

// The part of the range that is drawn and slid over: without the tail that the density leaves out.
export function span(column) {
  const drawn = column.density && column.density.classes ? [column.density.low, column.density.high] : null;
  const [low, high] = column.range || drawn || [0, 1];
  if (!drawn) return low < high ? [low, high] : [low - 1, high + 1];
  return [Math.max(drawn[0], Math.min(low, drawn[1])), Math.min(drawn[1], Math.max(high, drawn[0]))];
}

export class Form {
  // `changed` is called whenever the row is another one.
  constructor(root, model, changed) {
    this.root = root;
    this.model = model;
    this.changed = changed;
    this.classes = model.classes.map((of) => of.name);
    this.fields = sources(model.columns).map((source, i) => this.field(source, `field-${i}`));
    root.replaceChildren(...this.fields.map((field) => field.element));
  }

  // The row as it is known: a name and a value for each source that is not left open.
  row() {
    const row = {};
    for (const field of this.fields) {
      const value = field.value();
      if (value !== null) row[field.name] = value;
    }
    return row;
  }

  clear() {
    for (const field of this.fields) field.set(null);
    this.changed();
  }

  set(name, value) {
    const field = this.fields.find((field) => field.name === name);
    if (field) field.set(value);
    this.changed();
  }

  field(source, id) {
    const { column } = source;
    const kind = look(source);
    const family = kind === "text" ? "text" : source.columns.map((column) => column.family).filter(Boolean).join(", ");
    const label = element("label", { for: id }, source.name, " ", element("span", { class: "family" }, family));
    const open = element("button", { type: "button", class: "open", "aria-label": `Leave ${source.name} open`, title: "Leave it open" }, "×");
    const head = element("div", { class: "head" }, label);
    const made = element("div", { class: "field" }, head);
    const field = { ...source, kind, element: made, name: source.name };
    if (kind === "number") this.number(field, id, head, made);
    else if (kind === "choice") this.choice(field, id, head);
    else if (kind === "text") this.text(field, id, made);
    else this.typed(field, id, head);
    const set = field.set;
    field.set = (value) => {
      set(value);
      made.classList.toggle("known", field.value() !== null);
    };
    open.addEventListener("click", () => {
      field.set(null);
      this.changed();
    });
    made.addEventListener("input", () => {
      made.classList.toggle("known", field.value() !== null);
      this.changed();
    });
    head.append(open);
    return field;
  }

  number(field, id, head, made) {
    const { column } = field;
    const [low, high] = span(column);
    const input = element("input", { id, type: "text", inputmode: "decimal", placeholder: "open" });
    head.append(input);
    const start = column.median ?? (low + high) / 2;
    const place = (x) => Math.round(Math.min(1, Math.max(0, (x - low) / (high - low))) * STEPS);
    const slider = element("input", { type: "range", min: 0, max: STEPS, value: place(start), "aria-label": `${field.name}, over its range` });
    const say = () => slider.setAttribute("aria-valuetext", input.value === "" ? "open" : input.value);
    slider.addEventListener("input", () => {
      input.value = rounded(low + slider.value / STEPS * (high - low), [low, high], column.whole);
      say();
    });
    input.addEventListener("input", () => {
      const typed = Number(input.value);
      if (input.value.trim() !== "" && Number.isFinite(typed)) slider.value = place(typed);
      say();
    });
    const slide = element("div", { class: "slide" });
    if (column.density && column.density.classes) slide.append(densities(column.density, this.classes));
    slide.append(slider);
    made.append(slide, element("div", { class: "ends", "aria-hidden": "true" },
      element("span", {}, String(rounded(low, [low, high], false))), element("span", {}, String(rounded(high, [low, high], false)))));
    // What is no number is sent as it is: the server says what is wrong with it.
    field.value = () => {
      const text = input.value.trim();
      return text === "" ? null : Number.isFinite(Number(text)) ? Number(text) : text;
    };
    field.set = (value) => {
      input.value = value === null ? "" : String(value);
      slider.value = place(value === null ? start : Number(value));
      say();
    };
    say();
  }

  choice(field, id, head) {
    const choices = field.column.values.map(({ value, share }) => element("option", { value }, shortened(value, 60) + percent(share)));
    const select = element("select", { id }, element("option", { value: "", "data-open": true }, "open"), ...choices);
    head.append(select);
    field.value = () => select.selectedIndex > 0 ? select.value : null;
    field.set = (value) => {
      const at = value === null ? -1 : field.column.values.findIndex((of) => of.value === value);
      select.selectedIndex = at + 1;
    };
  }

  typed(field, id, head) {
    const input = element("input", { id, type: "text", placeholder: "open" });
    head.append(input);
    const values = field.column.values || [];
    if (values.length) {
      const list = element("datalist", { id: `${id}-values` }, ...values.slice(0, 200).map(({ value, share }) => element("option", { value }, percent(share))));
      input.setAttribute("list", list.id);
      head.append(list);
    }
    field.value = () => input.value === "" ? null : input.value;
    field.set = (value) => { input.value = value === null ? "" : String(value); };
  }

  text(field, id, made) {
    const area = element("textarea", { id, rows: 5, placeholder: "open" });
    const lit = element("div", { class: "lit", "aria-hidden": "true" });
    made.append(area, lit);
    field.lit = lit;
    field.value = () => area.value === "" ? null : area.value;
    field.set = (value) => { area.value = value === null ? "" : value; };
  }
}

// Lights up the words of a text by what they speak for, in bits for the class.
export function light(field, bits) {
  const text = field.value() || "";
  const pieces = text.slice(0, 20000).split(/([\p{L}\p{N}_'’]+)/u);
  field.lit.replaceChildren(...pieces.map((piece, i) => {
    const evidence = i % 2 ? bits.get(piece) ?? bits.get(piece.toLowerCase()) : undefined;
    if (evidence === undefined || Math.abs(evidence) < 0.1) return piece;
    const mark = element("mark", { class: evidence > 0 ? "for" : "against", title: `${evidence.toFixed(2)} bits` }, piece);
    return mark;
  }));
}
