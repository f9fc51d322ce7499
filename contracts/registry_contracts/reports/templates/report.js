"use strict";
(() => {
  const $ = (query, from = document) => [...from.querySelectorAll(query)];
  const rows = $(".row").map((element) => ({
    element,
    level: element.dataset.level,
    operations: element.dataset.operations.split(" "),
    cells: $(".cell[data-realm]", element),
    text: (element.dataset.operations + " " + element.querySelector("summary").textContent).toLowerCase(),
  }));
  const pressed = (kind) =>
    new Set($(`.toggle[data-${kind}][aria-pressed="true"]`).map((button) => button.dataset[kind]));
  const control = (name) => document.getElementById(name);

  const apply = () => {
    const verdicts = pressed("verdict");
    const levels = pressed("level");
    const operation = control("operation").value;
    const realm = control("realm").value;
    const words = control("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      let matching = 0;
      for (const cell of row.cells) {
        const fits =
          (!realm || cell.dataset.realm === realm) && (!verdicts.size || verdicts.has(cell.dataset.verdict));
        cell.classList.toggle("off", !fits);
        matching += fits;
      }
      const visible =
        matching > 0 &&
        (!levels.size || levels.has(row.level)) &&
        (!operation || row.operations.includes(operation)) &&
        words.every((word) => row.text.includes(word));
      row.element.hidden = !visible;
      shown += visible;
    }
    const filtered = [...filters()].length > 0;
    for (const block of $(".family-block")) {
      block.hidden = !block.querySelector(".row:not([hidden])");
      if (filtered) block.open = true;
    }
    control("shown").textContent = `${shown} of ${rows.length} clauses`;
    control("nothing").hidden = shown > 0;
  };

  // The address holds what is filtered and what is open, so that a link shows what its sender saw.
  const FIELDS = ["operation", "realm", "words"];
  const opened = ".card[id], .row[id], .family-block[id]";
  function* filters() {
    for (const kind of ["verdict", "level"]) {
      const chosen = [...pressed(kind)];
      if (chosen.length) yield [kind, chosen.join(",")];
    }
    for (const name of FIELDS) if (control(name)?.value) yield [name, control(name).value];
  }
  const anchor = () => decodeURIComponent(location.hash.slice(1).split("?")[0]);
  let reading = true;
  const write = () => {
    if (reading) return;
    const state = new URLSearchParams([...filters()]);
    const shut = (element) => element.parentElement.closest("details:not([open])");
    const open = $(opened).filter((element) => element.open && !shut(element)).map((element) => element.id);
    if (open.length) state.set("open", open.slice(-40).join(","));
    const words = state.toString();
    history.replaceState(null, "", `#${encodeURIComponent(anchor())}${words && "?"}${words}`);
  };
  const read = () => {
    const state = new URLSearchParams(location.hash.split("?")[1] ?? "");
    for (const [kind, list] of [...state].filter(([name]) => name === "verdict" || name === "level")) {
      const chosen = list.split(",");
      for (const button of $(`.toggle[data-${kind}]`)) {
        button.setAttribute("aria-pressed", String(chosen.includes(button.dataset[kind])));
      }
    }
    for (const name of FIELDS) if (state.get(name) && control(name)) control(name).value = state.get(name);
    for (const id of (state.get("open") ?? "").split(",")) if (id) reveal(document.getElementById(id));
  };
  const reveal = (target) => {
    for (let element = target; element; element = element.parentElement) {
      if (element.tagName === "DETAILS") element.open = true;
    }
  };

  for (const button of $(".toggle")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      apply();
      write();
    });
  }
  for (const name of FIELDS) control(name)?.addEventListener("input", () => { apply(); write(); });
  control("reset")?.addEventListener("click", () => {
    for (const button of $(".toggle")) button.setAttribute("aria-pressed", "false");
    for (const name of FIELDS) control(name).value = "";
    apply();
    write();
  });

  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  for (const button of $(".copy")) {
    button.addEventListener("click", async () => {
      const source = button.parentElement.querySelector("pre");
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        select(source);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    });
  }

  const follow = () => {
    read();
    if (rows.length) apply();
    const target = document.getElementById(anchor());
    reveal(target);
    if (target && location.hash.includes("?")) target.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  document.addEventListener("toggle", (event) => { if (event.target.matches(opened)) write(); }, true);

  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    control("words")?.focus();
  });

  let closed = [];
  addEventListener("beforeprint", () => {
    reading = true;
    closed = $(".card:not([open]), .card .more:not([open])");
    for (const card of closed) card.open = true;
  });
  addEventListener("afterprint", () => {
    for (const card of closed) card.open = false;
    setTimeout(() => { reading = false; });
  });
  follow();
  setTimeout(() => { reading = false; });
})();
