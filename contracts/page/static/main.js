// Puts the page together: what can be chosen, what is asked of the program, and the keyboard.

import { get, post } from "./api.js";
import { choose } from "./chooser.js";
import { by, el, say } from "./dom.js";
import { draw, show } from "./form.js";
import { listen, showRecorded, step } from "./live.js";
import { bodyTrouble, fill, state, written } from "./request.js";
import { drawEmpty, drawPassed, drawSent, scenario } from "./result.js";

let start;
let busy = false;

/** Do something with the program; its error becomes one line. */
async function doing(button, work) {
  if (busy) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  button?.setAttribute("disabled", "");
  say("");
  try {
    await work();
  } catch (error) {
    say(error.message);
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
    button?.removeAttribute("disabled");
  }
}

const query = () => ({ operation: state.operation?.id, role: by("role").value, realm: by("realm").value });

async function prepare(more, name = state.operation?.id) {
  const operation = start.operations.find((each) => each.id === name);
  const response = await post("/api/prepare", { ...query(), operation: name, ...more });
  take(operation, response);
}

function take(operation, response) {
  fill(operation, response);
  by("operation-method").textContent = operation.method;
  by("operation-name").textContent = operation.id;
  by("operation-summary").textContent = operation.summary;
  drawRealms(operation, response.realm);
  draw();
}

function drawRealms(operation, picked) {
  const realm = by("realm");
  const has = start.realms.filter((each) => operation.realms.includes(each));
  realm.replaceChildren(...(has.length ? has : ["any"]).map((each) => el("option", { value: each }, each)));
  realm.value = picked;
  realm.disabled = !has.length;
}

function pickOperation() {
  const options = start.operations.map((each) => ({
    key: each.id,
    head: each.group,
    text: `${each.id} ${each.method} ${each.path} ${each.summary}`,
    draw: () => [
      el("b", {}, each.id),
      el("span", { class: "method" }, each.method),
      el("span", { class: "soft" }, `${each.summary} · ${each.path}`),
    ],
  }));
  choose("Choose an operation", options, (chosen) =>
    doing(null, async () => {
      await prepare({ live: false }, chosen.key);
      by("valid").focus();
    }),
  );
}

function pickFault() {
  doing(null, async () => {
    const { operation, realm } = query();
    const response = await get(`/api/faults?operation=${encodeURIComponent(operation)}&realm=${encodeURIComponent(realm === "any" ? "" : realm)}`);
    const options = response.faults.map((each) => ({
      key: each.key,
      text: `${each.key} ${each.clause || ""} ${each.wording}`,
      draw: () => [
        el("code", {}, each.key),
        el("span", { class: `chip v-${each.level === "must" ? "pass" : each.level === "should" ? "advisory" : "observed"}` }, each.level || "no clause"),
        el("span", { class: "soft" }, each.wording),
      ],
    }));
    choose(`One fault in ${operation}`, options, (chosen) =>
      doing(by("fault"), async () => {
        await prepare({ live: true, fault: chosen.key });
        by("send").focus();
      }),
    );
  });
}

const valid = () => doing(by("valid"), async () => prepare({ live: true }).then(() => by("send").focus()));

function send() {
  const trouble = bodyTrouble();
  if (trouble) return say(`${trouble}; mend it, or tick "Send the text as it stands"`);
  return doing(by("send"), async () => drawSent(await post("/api/send", { ...query(), form_number: state.form_number, form: written() }), takeValue));
}

/** A value of an answer waits for the field that takes it. */
function takeValue(reference) {
  say(`choose the field that takes ${reference}, or press Esc`, true);
  const form = by("form");
  const end = () => {
    form.removeEventListener("focusin", put);
    document.removeEventListener("keydown", leave, true);
  };
  const put = (event) => {
    if (!event.target.matches("input:not([type=checkbox]):not([type=file]), textarea")) return;
    end();
    say("");
    event.target.value = event.target.matches("textarea.json") ? `${event.target.value}${reference}` : reference;
    event.target.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const leave = (event) => {
    if (event.key !== "Escape") return;
    end();
    say("");
  };
  form.addEventListener("focusin", put);
  document.addEventListener("keydown", leave, true);
}

/** Choose a recording: a HAR, or of a run a finding or a case. */
function openRecording() {
  doing(null, async () => {
    const { runs } = await get("/api/runs");
    const options = [{ key: "", text: "HAR file", draw: () => [el("b", {}, "A HAR file…"), el("span", { class: "soft" }, "of a browser, a proxy, or a run (.har, .har.gz)")] }];
    for (const name of runs) options.push({ key: name, head: "Runs of the reports folder", text: name, draw: () => [el("b", {}, name)] });
    choose("Open a recording", options, (chosen) => (chosen.key ? openRun(chosen.key) : by("har-file").click()));
  });
}

/** The first few of some names, and how many more there are. */
function few(names) {
  const more = names.length - 3;
  return names.slice(0, 3).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function openRun(run) {
  doing(null, async () => {
    const held = await post("/api/open-run", { run });
    const options = [
      ...held.findings.map((each) => ({ key: { finding: each.id }, head: "Findings", text: `${each.id} ${each.clause} ${each.says} ${each.place}`, draw: () => [el("span", {}, each.says), el("span", { class: `chip v-${each.standing}` }, each.standing), el("span", { class: "soft" }, each.place)] })),
      ...held.cases.map((each) => ({ key: { case: each.id }, head: "Cases", text: `${each.id} ${each.outcome} ${each.operations.join(" ")} ${each.clauses.join(" ")}`, draw: () => [el("span", {}, each.name.replaceAll("_", " ")), el("span", { class: `chip v-${each.outcome}` }, each.outcome), el("span", { class: "soft" }, [each.realm, few(each.operations), `${each.exchanges} exchange${each.exchanges === 1 ? "" : "s"}`, few(each.clauses)].filter(Boolean).join(" · "))] })),
    ];
    choose(`${held.verdict} (${run})`, options, (chosen) => doing(null, async () => opened(await post("/api/open-exchanges", { run, ...chosen.key }))));
  });
}

function opened(recording) {
  view("traffic");
  showRecorded(recording);
}

async function textOf(file) {
  const packed = file.name.endsWith(".gz");
  return packed ? new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text() : file.text();
}

function openHar() {
  const [file] = by("har-file").files;
  if (file) doing(null, async () => opened(await post("/api/open-har", { name: file.name, text: await textOf(file) })));
  by("har-file").value = "";
}

/** The requests by hand, to be saved as one file. */
function sequence() {
  doing(null, async () => {
    const { steps } = await post("/api/sequence", {});
    by("sequence-none").hidden = steps.length > 0;
    for (const id of ["sequence-save", "sequence-scenario"]) by(id).disabled = !steps.length;
    by("sequence-list").replaceChildren(
      ...steps.map((each) =>
        el("li", {}, el("label", { class: "check" }, el("input", { type: "checkbox", value: each.form_number, ".checked": true }), el("b", {}, each.operation), el("span", { class: "soft" }, `as ${each.role}${each.realm === "any" ? "" : ` in ${each.realm}`}, answered ${each.status || "not at all"}`))),
      ),
    );
    by("sequence-dialog").showModal();
  });
}

function saveSequence(address) {
  const steps = [...by("sequence-list").querySelectorAll("input:checked")].map((each) => Number(each.value));
  by("sequence-dialog").close();
  scenario(address, { steps });
}

let looking = 0;

/** Show an exchange that passed; when responses overtake each other, the row chosen last counts. */
async function look(row, source) {
  const mine = ++looking;
  try {
    const response = await get(source ? `/api/recorded/${source}/${row.number}` : `/api/live/${row.number}`);
    if (mine !== looking) return;
    say("");
    view("work");
    drawPassed(response, () => reopen(row.number, source), source);
  } catch (error) {
    say(error.message);
  }
}

function reopen(number, source) {
  doing(by("reopen"), async () => {
    const response = await post("/api/reopen", { number, opened: source, live: true });
    by("role").value = response.role;
    take(start.operations.find((each) => each.id === response.operation), response);
    by("send").focus();
  });
}

function view(name) {
  document.body.dataset.view = name;
  for (const button of document.querySelectorAll(".views button")) button.setAttribute("aria-pressed", String(button.dataset.view === name));
}

const pressed = (id) => by(id)?.click();
const KEYS = {
  o: ["Choose an operation", pickOperation],
  v: ["Fill the form with valid values", valid],
  f: ["Put in one fault", pickFault],
  s: ["Send (Ctrl+Enter from anywhere)", send],
  j: ["Body as a form or as JSON", () => show()],
  t: ["As a scenario test", () => pressed("as-test")],
  e: ["Open what passed in the form", () => pressed("reopen")],
  r: ["Open a run, a finding or a HAR", openRecording],
  n: ["Next exchange of the list", () => step(1)],
  p: ["Previous exchange of the list", () => step(-1)],
  q: ["Save what was sent by hand as a sequence", sequence],
  l: ["To the list of what passed", () => (view("traffic"), (document.querySelector("#passed button") || by("search")).focus())],
  w: ["To the workbench", () => (view("work"), by("work").focus())],
  "/": ["Search what passed", () => (view("traffic"), by("search").focus())],
  "?": ["Show this list", () => by("help").showModal()],
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    send();
  } else if (event.key === "Escape" && typing && !document.querySelector("dialog[open]")) {
    typing.blur();
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey && !document.querySelector("dialog[open]") && event.key in KEYS) {
    event.preventDefault();
    KEYS[event.key][1]();
  }
});

for (const [key, [words]] of Object.entries(KEYS)) by("help-list").append(el("dt", {}, el("kbd", {}, key)), el("dd", {}, words));
for (const button of document.querySelectorAll("[data-close]")) button.addEventListener("click", () => button.closest("dialog").close());
for (const button of document.querySelectorAll(".views button")) button.addEventListener("click", () => view(button.dataset.view));
by("operation").addEventListener("click", pickOperation);
by("valid").addEventListener("click", valid);
by("fault").addEventListener("click", pickFault);
by("send").addEventListener("click", send);
by("keys").addEventListener("click", KEYS["?"][1]);
by("open").addEventListener("click", openRecording);
by("har-file").addEventListener("change", openHar);
by("sequence").addEventListener("click", sequence);
by("sequence-save").addEventListener("click", () => saveSequence("/api/hurl"));
by("sequence-scenario").addEventListener("click", () => saveSequence("/api/sequence-scenario"));
by("live-again").addEventListener("click", () => showRecorded(null));
by("later").addEventListener("click", () => step(1));
by("earlier").addEventListener("click", () => step(-1));
by("form").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["role", "realm"]) by(id).addEventListener("change", () => doing(null, () => prepare({ live: false })));

doing(null, async () => {
  start = await get("/api/start");
  by("target-name").textContent = start.target.name;
  by("base-url").textContent = start.target.base_url;
  by("client").hidden = !start.client_url;
  by("client-url").textContent = start.client_url || "";
  by("role").append(...start.roles.map((each) => el("option", { value: each.id, disabled: Boolean(each.missing), title: each.missing || "" }, each.id)));
  drawEmpty();
  by("form").replaceChildren(el("p", { class: "none" }, "The form of an operation appears here. Nothing is sent before you say so."));
  listen(look);
  document.body.dataset.ready = "yes";
  const role = start.roles.find((each) => !each.missing);
  by("role").value = role.id;
  await prepare({ live: false, role: role.id, realm: "" }, "createContact");
});
