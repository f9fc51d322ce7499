// Draws the form of an operation, and keeps the two views of a JSON body in step.

import { by, el, say } from "./dom.js";
import { bodyTrouble, bodyValue, setMember, setText, state, toggleMember } from "./request.js";

let view = "form";
const form = by("form");
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const EMPTY = { list: [], object: {}, integer: 0, number: 0, boolean: false };

export function draw() {
  const operation = state.operation;
  const again = document.activeElement?.id;
  form.replaceChildren(
    el("p", { class: "address" }, `${operation.method} ${operation.path}`),
    operation.description ? el("p", { class: "about" }, operation.description) : "",
    notes(),
    ...["path", "query"].map((place) => part(place, operation.parameters.filter((each) => each.place === place))),
    body(operation.body),
    headers(operation.headers),
  );
  if (again) by(again)?.focus();
}

function notes() {
  const list = el("ul", { class: "notes" });
  if (state.fault) list.append(el("li", { class: "fault" }, `One fault: ${state.fault}`));
  for (const note of state.notes) list.append(el("li", {}, note));
  return list.children.length ? list : "";
}

const TITLES = { path: "Path", query: "Query", headers: "Headers" };
let headersOpen = false;

/** Headers are seldom touched, so they stand folded below, unless one of them differs. */
function headers(described) {
  const changed = Object.values(state.parts.headers).filter((each) => each.out || each.value !== each.standard).length;
  const words = changed ? `Headers (${changed} changed)` : "Headers (as documented)";
  const fold = el("details", { class: "fold-out", id: "f-headers", ".open": headersOpen || changed > 0 }, el("summary", {}, words), el("div", {}, part("headers", described, true)));
  fold.addEventListener("toggle", () => (headersOpen = fold.open));
  return fold;
}

function part(place, described, bare = false) {
  const values = state.parts[place];
  const known = new Set(described.map((each) => each.name));
  const rows = described.map((each) => parameter(place, each, values[each.name]));
  for (const name of Object.keys(values)) {
    if (!known.has(name)) rows.push(parameter(place, { name, about: "not described" }, values[name]));
  }
  if (!rows.length) return "";
  return el("fieldset", { class: "part", "aria-label": TITLES[place] }, bare ? "" : el("legend", {}, TITLES[place]), rows);
}

function parameter(place, about, entry) {
  const id = `f-${place}-${about.name}`;
  const input = el("input", { id, ".value": entry.value, spellcheck: "false", list: about.choices?.length ? `${id}-list` : null });
  const calm = entry.absent && !about.required;
  const out =
    place !== "path" && leaveOut(about.name, id, entry.out, calm, () => {
      entry.out = !entry.out;
      draw();
    });
  input.addEventListener("input", () => {
    entry.value = input.value;
    if (entry.out) {
      entry.out = false;
      mark(row);
    }
  });
  const hint = [about.rules, about.about].filter(Boolean).join(". ");
  const row = field(about.name, about.required, about.required ? "required" : "", input, out, entry.out && (calm ? "absent" : "out"), hinted(input, hint));
  if (about.choices?.length) row.append(el("datalist", { id: `${id}-list` }, about.choices.map((each) => el("option", { value: each }))));
  return row;
}

function field(name, required, words, input, out, isOut, trouble) {
  const star = required ? el("span", { class: "required", "aria-hidden": "true" }, " *") : "";
  const label = el("label", { for: input.id }, el("b", {}, name), star, words ? el("small", {}, words) : "");
  return el("div", { class: `field${isOut ? ` is-${isOut}` : ""}` }, label, input, out || el("span"), trouble || "");
}

function hinted(input, words) {
  if (!words) return "";
  input.setAttribute("aria-describedby", `${input.id}-hint`);
  return el("p", { class: "hint", id: `${input.id}-hint` }, words);
}

/** Show that a row whose value was typed takes part again. */
function mark(row) {
  row.classList.remove("is-out", "is-absent");
  const out = row.querySelector(".out");
  if (out) Object.assign(out, { textContent: "Leave out", ariaPressed: "false" });
}

/** A button that leaves a part out, or puts it in; `calm` where the part is not expected. */
function leaveOut(name, id, isOut, calm, flip) {
  const words = isOut ? (calm ? "Put in" : "Left out") : "Leave out";
  const has = { type: "button", class: "out", id: `${id}-out`, "aria-label": `${isOut && calm ? "Put in" : "Leave out"} ${name}`, onclick: flip };
  if (!calm) has["aria-pressed"] = isOut;
  return el("button", has, words);
}

// The body

function body(described) {
  if (described.kind === "none" && state.body.kind === "none") return "";
  const without = state.body.kind === "none";
  const head = el("div", { class: "part-head" }, el("span", {}, "Body", described.kind === "file" ? " (the file itself)" : ""));
  if (!without && state.body.kind === "json") head.append(views());
  head.append(leaveOut("the body", "f-body", without, false, () => {
    state.body.kind = without ? state.keptKind : "none";
    draw();
  }));
  const inside = el("div", { class: "part", role: "group", "aria-label": "Body" }, head);
  if (without) return inside;
  if (described.kind === "file") inside.append(...file());
  else if (state.body.kind === "text") inside.append(...plain());
  else if (state.body.kind === "base64") inside.append(el("p", { class: "soft" }, "These bytes are no text; they are sent as they passed."));
  else if (view === "form" && isObject(bodyValue())) inside.append(...members(described));
  else inside.append(...json());
  return inside;
}

function views() {
  const button = (name, words) =>
    el("button", { type: "button", id: `view-${name}`, "aria-pressed": view === name, onclick: () => show(name) }, words);
  return el("div", { class: "seg", role: "group", "aria-label": "View of the body" }, button("form", "Form"), button("json", "JSON"));
}

export function show(name) {
  if (view === "form" && Object.keys(state.wrong).length) return say(`${bodyTrouble()}; mend it first`);
  say("");
  view = name ?? (view === "form" ? "json" : "form");
  draw();
}

function members(described) {
  const value = bodyValue();
  const rows = described.members.map((each) => member(each, value));
  const known = new Set(described.members.map((each) => each.name));
  for (const name of Object.keys(value)) {
    if (!known.has(name)) rows.push(member({ name, kind: "value", type: "not described", about: "" }, value));
  }
  for (const name of Object.keys(state.left)) {
    if (!known.has(name) && !(name in value)) rows.push(member({ name, kind: "value", type: "not described", about: "" }, value));
  }
  return rows;
}

function member(about, body) {
  const name = about.name;
  const isOut = !(name in body);
  const value = isOut ? state.left[name]?.value : body[name];
  // What the description calls no text is written as JSON, so that it can be given any kind of value.
  const text = ["string", "value"].includes(about.kind) && (value === undefined || typeof value === "string");
  const id = `f-body-${name}`;
  const shown = value === undefined ? "" : text ? value : JSON.stringify(value);
  const nested = !isOut && value !== null && typeof value === "object" && !(name in asText);
  if (nested) return cell(about, value, id);
  const input = text
    ? el("input", { id, ".value": shown, spellcheck: "false" })
    : el("textarea", { id, rows: Math.min(8, Math.max(1, Math.ceil(shown.length / 42))), spellcheck: "false", ".value": shown });
  const trouble = el("p", { class: "wrong", id: `${id}-wrong`, hidden: !state.wrong[name] }, state.wrong[name] || "");
  input.setAttribute("aria-describedby", trouble.id);
  input.addEventListener("input", () => {
    try {
      setMember(name, text ? input.value : JSON.parse(input.value));
      input.removeAttribute("aria-invalid");
      trouble.hidden = true;
    } catch (error) {
      state.wrong[name] = error.message;
      input.setAttribute("aria-invalid", "true");
      trouble.hidden = false;
      trouble.textContent = `not JSON: ${error.message}`;
    }
    mark(row);
  });
  const calm = !(name in state.left) && !about.required;
  const out = leaveOut(name, id, isOut, calm, () => {
    toggleMember(name, structuredClone(EMPTY[about.kind]) ?? "");
    draw();
  });
  const words = [text ? "" : about.type, about.rules, about.about].filter(Boolean).join(" · ");
  const row = field(name, about.required, words, input, out, isOut && (calm ? "absent" : "out"), trouble);
  if (name in asText && value !== null && typeof value === "object") {
    row.append(el("button", { type: "button", class: "out", id: `${id}-form`, "aria-label": `${name} as a form`, onclick: () => ((delete asText[name]), draw()) }, "Form"));
  }
  return row;
}

const asText = {}; // members that are shown as JSON by choice, or because their text is none yet

/** A member that holds members or items, as a form of its own; "JSON" shows its text. */
function cell(about, value, id) {
  const name = about.name;
  const change = (made) => {
    setMember(name, made);
    draw();
  };
  const set = (made) => setMember(name, made);
  const bar = el(
    "div",
    { class: "nested-tools" },
    el("button", { type: "button", class: "out", id: `${id}-json`, "aria-label": `${name} as JSON`, onclick: () => ((asText[name] = true), draw()) }, "JSON"),
    leaveOut(name, id, false, false, () => {
      toggleMember(name, structuredClone(EMPTY[about.kind]) ?? "");
      draw();
    }),
  );
  const words = [about.type, about.rules, about.about].filter(Boolean).join(" · ");
  const star = about.required ? el("span", { class: "required", "aria-hidden": "true" }, " *") : "";
  const head = el("div", { class: "nested-head" }, el("span", {}, el("b", {}, name), star, words ? el("small", {}, words) : ""), bar);
  return el("div", { class: "nested", id: `${id}-cell`, role: "group", "aria-label": name }, head, inside(value, id, name, { set, change, known: about.members || [] }));
}

/** The members of an object, or the items of a list, each with its own field. */
function inside(value, id, path, how) {
  const list = Array.isArray(value);
  const rows = Object.keys(value).map((key) => part_of(value, key, `${id}-${key}`, `${path} ${key}`, how));
  const put = (key, made) => {
    if (list) value.push(made);
    else value[key] = made;
    how.change(how.top ? how.top() : value);
  };
  return el("div", { class: "nested-inside" }, rows, list ? addItem(value, id, path, put) : addMember(value, id, path, put, how.known));
}

function part_of(value, key, id, label, how) {
  const own = value[key];
  const root = how.top ?? (() => value);
  const remove = el("button", { type: "button", class: "out", "aria-label": `Remove ${label}`, onclick: () => {
    if (Array.isArray(value)) value.splice(Number(key), 1);
    else delete value[key];
    how.change(root());
  } }, "Remove");
  if (own !== null && typeof own === "object") {
    const head = el("div", { class: "nested-head" }, el("b", {}, Array.isArray(value) ? `${Number(key) + 1}` : key), remove);
    return el("div", { class: "nested", role: "group", "aria-label": label }, head, inside(own, id, label, { ...how, top: root, known: [] }));
  }
  const text = typeof own === "string";
  const input = el("input", { id, ".value": text ? own : JSON.stringify(own), spellcheck: "false", "aria-label": label });
  input.addEventListener("input", () => {
    value[key] = text ? input.value : parsed(input.value);
    how.set(root());
  });
  return el("div", { class: "nested-row" }, el("label", { for: id }, Array.isArray(value) ? `${Number(key) + 1}` : key), input, remove);
}

/** What a number, true, false or null is; any other text stays a text. */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" ? text : value;
  } catch {
    return text;
  }
}

function addItem(value, id, path, put) {
  const last = value[value.length - 1];
  const made = last !== null && typeof last === "object" ? JSON.parse(JSON.stringify(last)) : "";
  return el("button", { type: "button", class: "out add", id: `${id}-add`, "aria-label": `Add to ${path}`, onclick: () => put(null, made) }, "Add");
}

function addMember(value, id, path, put, known) {
  const missing = known.filter((each) => !(each.name in value)).map((each) => each.name);
  const name = el("input", { id: `${id}-name`, "aria-label": `Name of a further member of ${path}`, placeholder: missing[0] || "name", list: missing.length ? `${id}-names` : null, spellcheck: "false" });
  const names = missing.length ? el("datalist", { id: `${id}-names` }, missing.map((each) => el("option", { value: each }))) : "";
  const add = () => {
    const key = name.value || missing[0];
    if (key && !(key in value)) put(key, structuredClone(EMPTY[known.find((each) => each.name === key)?.kind]) ?? "");
  };
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      add();
    }
  });
  return el("div", { class: "nested-row" }, name, names, el("button", { type: "button", class: "out add", id: `${id}-add`, "aria-label": `Add a member to ${path}`, onclick: add }, "Add"));
}

function json() {
  const trouble = el("p", { class: "wrong", id: "f-json-wrong" }, bodyTrouble());
  const area = el("textarea", { class: "json", id: "f-json", "aria-label": "The body as JSON", "aria-describedby": "f-json-wrong", spellcheck: "false", ".value": state.body.text });
  const look = () => {
    const why = bodyTrouble();
    trouble.textContent = why;
    area.setAttribute("aria-invalid", String(Boolean(why)));
  };
  area.addEventListener("input", () => {
    setText(area.value);
    look();
  });
  return [area, trouble, asItStands()];
}

function plain() {
  const area = el("textarea", { class: "json", id: "f-text", "aria-label": "The body as it stands", spellcheck: "false", ".value": state.body.text });
  area.addEventListener("input", () => (state.body.text = area.value));
  return [area, asItStands()];
}

function asItStands() {
  const box = el("input", { type: "checkbox", id: "f-raw", ".checked": state.body.kind === "text" });
  box.addEventListener("change", () => {
    state.body.kind = state.keptKind = box.checked ? "text" : "json";
    draw();
  });
  return el("label", { class: "check" }, box, "Send the text as it stands, even where it is no JSON");
}

function file() {
  const area = el("textarea", { id: "f-file-text", rows: "6", class: "json short", "aria-label": "Content of the file", spellcheck: "false", ".value": state.body.kind === "text" ? state.body.text : "" });
  const told = el("p", { class: "soft", role: "status" }, state.body.kind === "base64" ? `${state.body.name || "a file"}, ${Math.floor(state.body.text.length * 0.75)} bytes` : "");
  area.addEventListener("input", () => {
    state.body = { kind: "text", text: area.value };
    state.keptKind = "text";
    told.textContent = "";
  });
  const pick = el("input", { type: "file", id: "f-file", "aria-label": "A file in place of the text" });
  pick.addEventListener("change", () => {
    const [chosen] = pick.files;
    if (!chosen) return;
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      state.body = { kind: "base64", text: reader.result.split(",")[1] || "", name: chosen.name };
      state.keptKind = "base64";
      if (state.parts.path.filename) state.parts.path.filename.value = chosen.name;
      draw();
    });
    reader.readAsDataURL(chosen);
  });
  return [area, pick, told];
}
