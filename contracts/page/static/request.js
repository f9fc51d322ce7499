// The request in the form: its parts, what is left out, and the body as one JSON text that both views share.

export const state = {
  operation: null, // as the program describes it
  form_number: null,
  fault: null,
  notes: [],
  parts: { path: {}, query: {}, headers: {} }, // name → {value, out, standard}
  body: { kind: "none", text: "" },
  left: {}, // members of the body that are left out, with their values
  wrong: {}, // members whose text is no JSON
  keptKind: "json", // what the body goes back to when it is put in again
};

/** Take in a form that the program filled. */
export function fill(operation, response) {
  state.operation = operation;
  state.form_number = response.form_number;
  state.fault = response.fault;
  state.notes = response.notes || [];
  state.left = {};
  state.wrong = {};
  state.body = { ...response.form.body };
  state.keptKind = state.body.kind === "none" ? (operation.body.kind === "file" ? "text" : "json") : state.body.kind;
  state.parts = { path: {}, query: {}, headers: {} };
  for (const each of operation.parameters) {
    const given = response.form[each.place][each.name];
    state.parts[each.place][each.name] = { value: given ?? "", out: given === undefined, absent: given === undefined };
  }
  for (const place of ["path", "query"]) {
    for (const [name, value] of Object.entries(response.form[place])) state.parts[place][name] ??= { value, out: false };
  }
  for (const each of operation.headers) state.parts.headers[each.name] = header(each, response);
  for (const [name, value] of Object.entries(response.form.headers)) {
    state.parts.headers[name] ??= { value: value ?? "", out: value === null };
  }
}

function header(each, response) {
  const standard = each.default === "{realm}" ? response.realm : each.default;
  const given = response.form.headers[each.name];
  return { value: given ?? standard, out: given === null, standard, realm: each.default === "{realm}" };
}

/** The form as the program takes it. */
export function written() {
  const { path, query, headers } = state.parts;
  const kept = (part) =>
    Object.fromEntries(Object.entries(part).filter(([, each]) => !each.out).map(([name, each]) => [name, each.value]));
  const changed = {};
  for (const [name, each] of Object.entries(headers)) {
    if (each.out) changed[name] = null;
    else if (each.value !== each.standard) changed[name] = each.value;
  }
  return { path: kept(path), query: kept(query), headers: changed, body: { kind: state.body.kind, text: state.body.text } };
}

/** The body as a value; undefined where it is no JSON. */
export function bodyValue() {
  if (state.body.kind !== "json") return undefined;
  try {
    return JSON.parse(state.body.text);
  } catch {
    return undefined;
  }
}

/** Why the body is no JSON, in one line; empty when it is. */
export function bodyTrouble() {
  const [name] = Object.keys(state.wrong);
  if (name) return `${name} is not JSON: ${state.wrong[name]}`;
  if (state.body.kind !== "json") return "";
  try {
    JSON.parse(state.body.text);
    return "";
  } catch (error) {
    return `the body is not JSON: ${error.message}`;
  }
}

export function setMember(name, value) {
  const body = bodyValue();
  delete state.left[name];
  delete state.wrong[name];
  body[name] = value;
  state.body.text = JSON.stringify(body, null, 2);
}

/** Leave a member out, or put it back where it was. */
export function toggleMember(name, empty) {
  const body = bodyValue();
  delete state.wrong[name];
  if (name in body) {
    state.left[name] = { value: body[name], place: Object.keys(body).indexOf(name) };
    delete body[name];
    state.body.text = JSON.stringify(body, null, 2);
    return;
  }
  const { value, place } = state.left[name] || { value: empty, place: Infinity };
  const pairs = Object.entries(body);
  pairs.splice(Math.min(place, pairs.length), 0, [name, value]);
  delete state.left[name];
  state.body.text = JSON.stringify(Object.fromEntries(pairs), null, 2);
}

/** Take in the text of the JSON view. */
export function setText(text) {
  state.body.text = text;
  state.wrong = {};
  const value = bodyValue();
  for (const name of Object.keys(state.left)) if (value && name in value) delete state.left[name];
}
