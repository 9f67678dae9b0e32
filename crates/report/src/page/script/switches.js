// Families and corpora, switched on and off over the whole page: paragraphs and rows of tables that belong to one carry its
// number, curves of figures carry the name of their corpus.
const switches = { families: new Set(), corpora: new Set(), listeners: [] };

function shownGroup(family, corpus) {
  return !switches.families.has(family) && !switches.corpora.has(corpus);
}

function applySwitches(data) {
  for (const element of document.querySelectorAll("[data-family], [data-corpus]")) {
    const { family, corpus } = element.dataset;
    element.hidden = !shownGroup(family === undefined ? -1 : Number(family), corpus === undefined ? -1 : Number(corpus));
  }
  for (const curve of document.querySelectorAll(".series[data-whose]")) {
    const corpus = data.corpora.indexOf(curve.dataset.whose);
    curve.style.display = switches.corpora.has(corpus) ? "none" : "";
  }
  switches.listeners.forEach((listener) => listener());
}

function makeSwitches(data) {
  const box = document.getElementById("switches");
  const colours = data.corpora.map((_, at) => data.groups.find((group) => group.corpus === at)?.colour);
  const kinds = [["corpora", data.corpora, colours], ["families", data.families, []]];
  for (const [kind, names, dots] of kinds.filter(([, names]) => names.length > 1)) {
    const row = document.createElement("div");
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", kind);
    names.forEach((name, at) => {
      const label = document.createElement("label");
      const input = Object.assign(document.createElement("input"), { type: "checkbox", checked: true });
      input.addEventListener("change", () => {
        input.checked ? switches[kind].delete(at) : switches[kind].add(at);
        applySwitches(data);
      });
      label.append(input);
      if (dots[at]) {
        const dot = Object.assign(document.createElement("span"), { className: "swatch" });
        dot.style.setProperty("--corpus", dots[at]);
        label.append(dot);
      }
      label.append(name);
      row.append(label);
    });
    box.append(row);
    box.hidden = false;
  }
}

