// The result of a request: the exchange, findings, clauses, observations, a curl line; and the scenario test.

import { post } from "./api.js";
import { by, copy, el, many, say, statusMark } from "./dom.js";

const result = by("result");

export function drawEmpty() {
  result.replaceChildren(
    el("p", { class: "none" }, "Choose an operation, fill the form with valid values or with one fault, and send. What comes back, and what it says about the interface, appears here."),
  );
}

/** What was sent by hand. */
export function drawSent(response, picking) {
  const actions = [
    el("button", { type: "button", class: "tool", id: "as-test", "aria-keyshortcuts": "t", onclick: () => scenario("/api/scenario", { form_number: response.form_number }) }, "As a scenario test"),
    copying("Copy curl", response.curl),
  ];
  drawExchange(response, `as ${response.role}${response.realm === "any" ? "" : ` in ${response.realm}`}, ${ms(response.milliseconds)}`, actions, [
    values(response, picking),
    clauses(response.clauses),
    observed(response.observed),
    fold("curl", [el("p", { class: "soft" }, "The token is expected in $TOKEN."), pre(response.curl, "curl line")]),
  ]);
  result.querySelector("h2").focus();
}

/** What passed through the proxy. */
export function drawPassed(response, reopen, source) {
  const actions = response.operation
    ? [
        el("button", { type: "button", class: "tool", id: "reopen", "aria-keyshortcuts": "e", onclick: reopen }, "Open in the form"),
        el("button", { type: "button", class: "tool", id: "as-test", "aria-keyshortcuts": "t", onclick: () => scenario("/api/scenario-of-seen", { number: response.number, opened: source }) }, "As a scenario test"),
      ]
    : [];
  const whence = source ? "of the recording" : response.by_hand ? "by hand" : "through the proxy";
  const where = `exchange ${response.number} ${whence}${response.role ? ` as ${response.role}` : ""}${response.realm ? `, in ${response.realm}` : ""}, ${ms(response.milliseconds)}`;
  drawExchange({ ...response, operation: response.operation || "no operation of the interface" }, where, actions, []);
  result.querySelector("h2").focus();
}

const ms = (number) => `${Math.round(number)} ms`;

function drawExchange(response, where, actions, more) {
  result.replaceChildren(
    el("h2", { tabindex: "-1", id: "result-title" }, statusMark(response.status), response.operation),
    el("p", { class: "sub" }, where),
    strip(response),
    ...response.findings.map(finding),
    el("p", { class: "row-of-tools" }, actions),
    fold("Request", [pre(response.request, "Request")], true),
    fold("Answer", [pre(response.response, "Answer")], true),
    ...more.filter(Boolean),
  );
}

function strip(response) {
  const broken = (response.request_faults || []).map((each) => el("p", {}, `The request breaks the interface: ${each}.`));
  const stopped = (response.obstacles || []).map((each) => el("p", {}, `Not judged: ${each}`));
  const number = response.findings.length;
  const held = (response.clauses || []).filter((each) => each.state === "held").length;
  const firm = response.findings.some((each) => each.level === "must" || (each.side === "request" && each.standing === "fault"));
  const kind = number ? (firm ? "fail" : "advisory") : stopped.length && !held ? "inconclusive" : "pass";
  const words = number ? many(number, "finding") : stopped.length && !held ? "Not judged" : "No finding";
  return el("div", { class: `strip v-${kind}`, id: "verdict" }, words, held ? ` · ${many(held, "clause")} held` : "", broken, stopped);
}

/** Values of the answer, each to be put into a field of the next request. */
function values(response, picking) {
  if (!response.values?.length) return null;
  const items = response.values.map((each) => {
    const reference = `{${response.form_number}.${each.path}}`;
    return el("li", {}, el("code", {}, each.path), el("button", { type: "button", class: "tool", "aria-label": `Use ${each.path} in the next request`, onclick: () => picking(reference) }, "Use"), el("span", { class: "soft" }, each.value));
  });
  return fold(`Use in the next request (${items.length})`, [el("p", { class: "soft" }, "Choose a value, then the field that takes it: each time it is sent, it comes from this answer."), el("ul", { class: "values", id: "values" }, items)]);
}

const SIDES = { request: "the client breaks the interface", answer: "the service breaks the interface" };

function finding(each) {
  const kind = each.level === "must" || each.standing === "fault" ? "fail" : "advisory";
  const side = each.standing === "remark" ? "a remark, not a verdict" : SIDES[each.side] || "";
  return el(
    "article",
    { class: "finding", "data-clause": each.clause },
    el("h3", {}, el("span", { class: `chip v-${kind}` }, each.side === "request" ? "client" : "service"), el("span", { class: "soft" }, each.side === "request" ? each.standing : each.level || "finding"), el("code", {}, each.name), el("span", { class: "soft side" }, side)),
    each.wording ? el("p", {}, each.wording) : "",
    el("div", { class: "pair" }, said("Expected", each.expected, "expected"), said("Seen", each.seen, "seen")),
    each.because_of ? el("p", { class: "soft" }, `Follows from exchange ${each.because_of}.`) : "",
  );
}

const said = (title, text, kind) => el("div", {}, el("h3", {}, title), el("div", { class: `said ${kind}`, tabindex: text.length > 400 ? "0" : null }, text));

const pre = (text, label) => el("pre", { tabindex: "0", "aria-label": label }, text);

function fold(title, inside, open = false) {
  return el("details", { class: "fold-out", open }, el("summary", {}, title), el("div", {}, inside));
}

const STATES = { held: "pass", contradicted: "fail", observed: "observed" };

function clauses(listed) {
  if (!listed.length) return null;
  const items = listed.map((each) =>
    el("li", {}, el("code", {}, each.id), el("span", { class: `chip v-${STATES[each.state]}` }, `${each.state} · ${each.level}`), el("span", { class: "soft" }, each.wording)),
  );
  return fold(`Clauses touched (${listed.length})`, [el("ul", { class: "clauses" }, items)]);
}

function observed(listed) {
  if (!listed.length) return null;
  const items = listed.map((each) => {
    const said = each.accepted === null ? "" : each.accepted === each.seen ? "as accepted" : `accepted was ${each.accepted}`;
    return el("li", {}, el("code", {}, each.clause), el("span", {}, said), el("span", { class: "soft" }, `${each.point ? `${each.point}: ` : ""}${each.seen}`));
  });
  return fold(`Observed where the document is silent (${listed.length})`, [el("ul", { class: "clauses" }, items)]);
}

function copying(words, text) {
  const button = el("button", { type: "button", class: "tool", "aria-live": "polite" }, words);
  button.addEventListener("click", () => copy(text, button));
  return button;
}

let made = null;

/** Show a file that the program wrote: a scenario test, or a sequence. */
export async function scenario(address, query) {
  try {
    made = await post(address, query);
  } catch (error) {
    say(error.message);
    return;
  }
  say("");
  by("scenario-text").textContent = made.text;
  by("scenario-title").textContent = made.folder ? "As a scenario test" : "As a Hurl file";
  by("scenario-path").textContent = made.folder ? `${made.folder}/${made.name}` : made.name;
  by("scenario-command").textContent = made.command;
  by("scenario-notes").replaceChildren(...(made.notes || []).map((each) => el("li", {}, each)));
  by("scenario").showModal();
  by("scenario-copy").focus();
}

by("scenario-copy").addEventListener("click", (event) => copy(made.text, event.currentTarget));
by("scenario-save").addEventListener("click", () => {
  const address = URL.createObjectURL(new Blob([made.text], { type: "text/x-python" }));
  const link = el("a", { href: address, download: made.name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
});
