// Tables that sort: each header becomes a button, the first press sorts upwards, the next downwards. Numbers sort by
// the value that stands behind the text, rows without one come last, equals keep their order.
for (const table of document.querySelectorAll("table.sortable")) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const down = header.getAttribute("aria-sort") === "ascending";
      headers.forEach((other) => other.setAttribute("aria-sort", "none"));
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = [...table.tBodies[0].rows].map((row) => [sortKey(row.cells[column]), row]);
      keyed.sort(([a], [b]) => compare(a, b, down ? -1 : 1));
      table.tBodies[0].append(...keyed.map(([, row]) => row));
    });
  });
}

function sortKey(cell) {
  const text = cell.textContent.trim();
  const behind = cell.dataset.sort ?? cell.querySelector("data")?.value ?? text.replaceAll(",", "").replace("−", "-");
  const number = behind === "" ? NaN : Number(behind);
  return { number, text, missing: text === "–" || text === "" };
}

function compare(a, b, direction) {
  if (a.missing || b.missing) return a.missing - b.missing;
  const numbers = !Number.isNaN(a.number) && !Number.isNaN(b.number);
  // Of a column that mixes both, numbers come before words.
  if (!numbers && Number.isNaN(a.number) !== Number.isNaN(b.number)) return Number.isNaN(a.number) - Number.isNaN(b.number);
  return direction * (numbers ? a.number - b.number : a.text.localeCompare(b.text, "en", { numeric: true }));
}

