// One of many, found by typing: a dialog with a search field and a list, for operations and for faults.

import { by, el } from "./dom.js";

const dialog = by("chooser");
const search = by("chooser-search");
const list = by("chooser-list");
let shown = [];
let at = 0;
let chosen = () => {};
let all = [];

/** Open it. Options have a `key`, a `text` to search, a `head` to stand under, and `draw()` for their content. */
export function choose(title, options, take) {
  by("chooser-title").textContent = title;
  all = options;
  chosen = take;
  search.value = "";
  draw();
  dialog.showModal();
  search.focus();
}

function draw() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  shown = all.filter((each) => words.every((word) => each.text.toLowerCase().includes(word)));
  at = 0;
  list.replaceChildren();
  let head = "";
  shown.forEach((each, place) => {
    if (each.head && each.head !== head) list.append(el("li", { class: "head", role: "presentation" }, each.head));
    head = each.head || head;
    const option = el("li", { role: "option", id: `option-${place}`, "data-key": each.key }, each.draw());
    option.addEventListener("click", () => take(place));
    list.append(option);
  });
  by("chooser-none").hidden = shown.length > 0;
  mark();
}

function mark() {
  for (const option of list.querySelectorAll("[role=option]")) {
    const here = option.id === `option-${at}`;
    option.setAttribute("aria-selected", String(here));
    if (here) option.scrollIntoView({ block: "nearest" });
  }
  if (shown.length) search.setAttribute("aria-activedescendant", `option-${at}`);
  else search.removeAttribute("aria-activedescendant");
}

function take(place) {
  const each = shown[place];
  if (!each) return;
  dialog.close();
  chosen(each);
}

const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
search.addEventListener("input", draw);
search.addEventListener("keydown", (event) => {
  if (event.key in moves) {
    event.preventDefault();
    at = Math.max(0, Math.min(shown.length - 1, at + moves[event.key]));
    mark();
  } else if (event.key === "Enter") {
    event.preventDefault();
    take(at);
  }
});
