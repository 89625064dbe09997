// What was found, beside the page: every value leads to its place, every place to its value.

/** Bind a report (`_report.html`) to a viewer. */
export function bindReport(root, viewer) {
  const places = [...root.querySelectorAll("[data-quad]")].map((element) => ({
    element,
    page: Number(element.dataset.page),
    quad: JSON.parse(element.dataset.quad),
    item: element.dataset.item,
    doubted: element.classList.contains("doubted") || element.classList.contains("crop"),
  }));
  const boxes = new Map();
  for (const { page, quad, item, doubted, element } of places) {
    if (element.classList.contains("crop")) {
      viewer.crop(element.querySelector("canvas"), page, quad);
      if (root.querySelector(`button.value[data-item="${CSS.escape(item)}"]`)) continue;
    }
    if (!boxes.has(page)) boxes.set(page, []);
    boxes.get(page).push({ quad, item, name: doubted ? "value doubted" : "value" });
  }
  for (const [page, list] of boxes) {
    list.sort((a, b) => a.name.length - b.name.length); // doubted ones stay on top
    viewer.setBoxes("values", page, list);
  }
  for (const { element, page, quad, item } of places) {
    element.addEventListener("click", () => viewer.look(page, quad, item));
    element.addEventListener("mouseenter", () => viewer.mark(item));
    element.addEventListener("mouseleave", () => viewer.mark(""));
    element.addEventListener("focus", () => viewer.mark(item));
  }
  viewer.onItem = (item) => {
    const found = places.filter((p) => p.item === item);
    const target = found[0]?.element;
    if (!target) return;
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "center", behavior: "smooth" });
    viewer.mark(item);
  };
}
