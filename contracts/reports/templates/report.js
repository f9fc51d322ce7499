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
    for (const block of $(".family-block")) block.hidden = !block.querySelector(".row:not([hidden])");
    control("shown").textContent = `${shown} of ${rows.length} clauses`;
    control("nothing").hidden = shown > 0;
  };

  for (const button of $(".toggle")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      apply();
    });
  }
  for (const name of ["operation", "realm", "words"]) control(name)?.addEventListener("input", apply);
  control("reset")?.addEventListener("click", () => {
    for (const button of $(".toggle")) button.setAttribute("aria-pressed", "false");
    for (const name of ["operation", "realm", "words"]) control(name).value = "";
    apply();
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

  const openTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let element = target; element; element = element.parentElement) {
      if (element.tagName === "DETAILS") element.open = true;
    }
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    control("words")?.focus();
  });

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = $(".card:not([open]), .questions .more:not([open])");
    for (const card of closed) card.open = true;
  });
  addEventListener("afterprint", () => { for (const card of closed) card.open = false; });
  if (rows.length) apply();
})();
