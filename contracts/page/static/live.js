// The list of what passes through the proxy, as it passes.

import { by, el, many, statusMark } from "./dom.js";

const MOST = 500;
const rows = []; // the latest first
let onlyFindings = false;
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
  const shown = rows.filter((row) => (!onlyFindings || row.findings.length) && words.every((word) => text(row).includes(word)));
  list.replaceChildren(...shown.map(item));
  if (focused) list.querySelector(`[data-number="${focused}"]`)?.focus();
  const found = rows.filter((row) => row.findings.length).length;
  by("counted").textContent = rows.length ? `${many(rows.length, "exchange")}, ${found} with findings` : "nothing yet";
  by("quiet").hidden = rows.length > 0;
}

const text = (row) =>
  [row.operation, row.path, row.realm, row.status, row.method, ...row.findings.flatMap((each) => [each.name, each.clause])].join(" ").toLowerCase();

let current = null;

function item(row) {
  const number = row.findings.length;
  const firm = row.findings.some((each) => each.standing === "fault");
  const badge = number ? el("span", { class: `badge-count v-${firm ? "fail" : "advisory"}` }, many(number, "finding")) : "";
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
          current = row.number;
          draw();
          opened(row);
        },
      },
      statusMark(row.status),
      el("span", { class: "name" }, row.operation || `${row.method} ${row.path}`),
      badge,
      el("span", { class: "small" }, `${isNaN(new Date(row.at)) ? "" : `${time} · `}${row.realm || "no realm"} · ${Math.round(row.milliseconds)} ms`),
      row.findings.length ? el("span", { class: "small" }, [...new Set(row.findings.map((each) => each.name))].join(", ")) : "",
    ),
  );
}
