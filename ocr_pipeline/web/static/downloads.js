// The result as files. The server keeps nothing, so they are made of what arrived.

import { t } from "./texts.js";

const NAMES = [
  ["transcript.md", "download_md", "md", "text/markdown"],
  ["orders.csv", "download_orders", "orders.csv", "text/csv"],
  ["lines.csv", "download_lines", "lines.csv", "text/csv"],
  ["review.csv", "download_review", "review.csv", "text/csv"],
];

/** Put links for everything that can be had of a reading into an element. */
export function offerDownloads(element, { job, record, report, log }) {
  for (const link of element.querySelectorAll("a")) URL.revokeObjectURL(link.href);
  const stem = job.source.replace(/[\\/:*?"<>|\x00-\x1f]+/g, "_") || "scan";
  const links = NAMES.map(([name, label, end, type]) => link(report.files[name], `${stem}.${end}`, label, type));
  // The record is offered as it came: a number that goes through JavaScript may lose its digits.
  links.splice(1, 0, link(record, `${stem}.json`, "download_json", "application/json"));
  links.push(link(eventLog(job, log), `${stem}.events.jsonl`, "download_log", "application/jsonl"));
  element.replaceChildren(...links);
}

function link(text, name, label, type) {
  const made = document.createElement("a");
  made.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  made.download = name;
  made.className = "button";
  made.textContent = t(label);
  return made;
}

/** The recording that `ocr-pipeline denoise` replays. */
function eventLog({ source, engine, model, options, runs, seed, program }, log) {
  const header = { log: "ocr-pipeline", source, settings: { engine, model, options, runs, seed }, program, version: 1 };
  const lines = log.map(({ seconds, raw }) => `{"t":${seconds.toFixed(4)},${raw.slice(1)}`);
  const end = { t: Number((log.at(-1)?.seconds ?? 0).toFixed(4)), end: true };
  return [JSON.stringify(header), ...lines, JSON.stringify(end), ""].join("\n");
}
