// What is wider than the page scrolls by itself: it says so, and the keyboard reaches it.
{
  const marked = () => {
    for (const box of document.querySelectorAll(".scroll")) {
      const over = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("over", over);
      if (!over) {
        ["tabindex", "role", "aria-label"].forEach((name) => box.removeAttribute(name));
        continue;
      }
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "A table that goes on to the right");
    }
  };
  new ResizeObserver(marked).observe(document.body);
  document.addEventListener("toggle", marked, true);
  marked();
}
