// One document of a batch: its pages beside what was found on them.

import { bindReport } from "./report.js";
import { Viewer } from "./viewer.js";

const root = document.getElementById("document");
const element = root.querySelector(".viewer");
if (element) {
  const viewer = new Viewer(element);
  for (const page of JSON.parse(root.dataset.pages)) viewer.setPage(page);
  bindReport(root.querySelector(".report"), viewer);
}
