// Tells where a number comes from once a pointer rests on it. The page would double were it written out for every one.
addEventListener("pointerover", (event) => {
  const number = event.target.closest?.("[data-source]");
  if (number && !number.title) number.title = number.dataset.source;
});

