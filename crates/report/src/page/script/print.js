// Paper has nothing to click: open what is folded, but for bulk, and fold it again afterwards.
{
  const folded = () => [...document.querySelectorAll("details:not([open], .bulk)")];
  let opened = [];
  addEventListener("beforeprint", () => { opened = folded(); opened.forEach((d) => (d.open = true)); });
  addEventListener("afterprint", () => opened.forEach((d) => (d.open = false)));
}

