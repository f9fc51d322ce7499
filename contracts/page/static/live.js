// The list of what passes through the proxy, as it passes.

import { by, el, many, statusMark } from "./dom.js";

const MOST = 500;
const rows = []; // the latest first
let onlyFindings = false;
let recorded = null; // a recording that is open: {opened, title, rows}
let opened = () => {};
let waiting = false;

/** Listen to the stream; `open(row)` is called when a row is chosen. */
export function listen(open) {
  opened = open;
  const source = new EventSource("/api/live");
  source.addEventListener("message", (event) => {
    rows.unshift(JSON.parse(event.data));
    rows.length = Math.min(rows.length, MOST);
    later();
  });
  source.addEventListener("error", () => (by("counted").textContent = "not connected; trying again"));
  source.addEventListener("open", later);
  by("search").addEventListener("input", later);
  by("only").addEventListener("click", () => {
    onlyFindings = !onlyFindings;
    by("only").setAttribute("aria-pressed", String(onlyFindings));
    later();
  });
}

function later() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

function draw() {
  const words = by("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const list = by("passed");
  const focused = document.activeElement?.closest?.("#passed button")?.dataset.number;
  const all = recorded ? recorded.rows : rows;
  const shown = all.filter((row) => (!onlyFindings || row.findings.length) && words.every((word) => text(row).includes(word)));
  list.replaceChildren(...shown.map(item));
  if (focused) list.querySelector(`[data-number="${focused}"]`)?.focus();
  const found = all.filter((row) => row.findings.length).length;
  const hand = all.filter((row) => row.by_hand).length;
  const words_of = [many(all.length, "exchange"), hand ? `${hand} by hand` : "", `${found} with findings`].filter(Boolean);
  by("counted").textContent = all.length ? words_of.join(", ") : "nothing yet";
  by("quiet").hidden = all.length > 0;
  by("traffic-title").textContent = recorded ? recorded.title : "Passed and sent by hand";
  by("recorded-tools").hidden = !recorded;
}

/** Show the exchanges of a recording in place of what passes, in their order; null goes back. */
export function showRecorded(recording) {
  recorded = recording;
  current = null;
  by("search").value = "";
  draw();
  if (recording?.rows.length) pick(recording.rows[0]);
}

/** Go to the next exchange of the list, or with -1 to the one before. */
export function step(by_number) {
  const shown = [...by("passed").querySelectorAll("button")];
  const at = shown.findIndex((each) => each.dataset.number === String(current));
  shown[at < 0 ? 0 : Math.min(Math.max(at + by_number, 0), shown.length - 1)]?.click();
}

function pick(row) {
  current = row.number;
  draw();
  opened(row, recorded?.opened);
}

const text = (row) =>
  [row.operation, row.path, row.realm, row.status, row.method, ...row.findings.flatMap((each) => [each.name, each.clause])].join(" ").toLowerCase();

const WHOSE = { answer: "service", request: "client" };

/** How many findings are on one side, by whose fault they are. */
function badge(row, side, whose) {
  const mine = row.findings.filter((each) => each.side === side);
  const firm = mine.some((each) => each.standing === "fault");
  const words = side === "request" && row.by_hand ? "on purpose" : whose;
  return mine.length ? el("span", { class: `badge-count v-${firm ? "fail" : mine.some((each) => each.standing === "advice") ? "advisory" : "untested"}` }, `${mine.length} ${words}`) : "";
}

let current = null;

function item(row) {
  const badges = el("span", { class: "badges" }, row.by_hand ? el("span", { class: "badge-count v-observed" }, "by hand") : "", Object.entries(WHOSE).map(([side, whose]) => badge(row, side, whose)));
  const time = new Date(row.at).toLocaleTimeString([], { hour12: false });
  return el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        "data-number": row.number,
        "aria-current": String(current === row.number),
        onclick: () => {
          pick(row);
        },
      },
      statusMark(row.status),
      el("span", { class: "name" }, row.operation || `${row.method} ${row.path}`),
      badges,
      el("span", { class: "small" }, `${isNaN(new Date(row.at)) ? "" : `${time} · `}${row.realm || "no realm"} · ${Math.round(row.milliseconds)} ms`),
      row.findings.length ? el("span", { class: "small" }, [...new Set(row.findings.map((each) => each.name))].join(", ")) : "",
    ),
  );
}
