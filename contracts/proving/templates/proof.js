"use strict";
const find = document.getElementById("find");
find.addEventListener("input", () => {
  const wanted = find.value.trim().toLowerCase();
  for (const block of document.querySelectorAll("details.family")) {
    let shown = 0;
    for (const row of block.querySelectorAll("tbody tr")) {
      row.hidden = wanted !== "" && !row.dataset.text.includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    block.hidden = shown === 0;
    block.open = wanted !== "" && shown > 0;
  }
});
