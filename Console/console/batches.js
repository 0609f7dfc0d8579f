// SPDX-License-Identifier: Apache-2.0

// Batches: lists of announcements whose clips are made in advance.

import { whenKeyChanges } from "./access.js";
import { ask } from "./dialog.js";
import { dayTime, dotted, meta } from "./figures.js";
import { $, allow, busy, buttons, make, onClick, rowButton, setText, tag } from "./page.js";
import { showList } from "./rows.js";
import { saveFile } from "./saving.js";
import { attempt, call, json, showProblem } from "./service.js";
import { readEvents } from "./stream.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The HTML of the view. */
export const markup = `<section class="card" aria-labelledby="batches-title">
  <h2 id="batches-title" tabindex="-1" data-text="batches.title"></h2>
  <p class="muted" data-text="batches.about"></p>
  <p class="stale" hidden></p>
  <form id="batch-form" class="file-form" novalidate>
    <div class="actions">
      <button type="button" id="batch-choose" class="online" data-text="batches.choose"></button>
      <span id="batch-file-name" class="muted small" role="status"></span>
      <button type="submit" id="batch-start" class="primary online" data-text="batches.start"></button>
    </div>
    <input type="file" id="batch-file" accept=".csv,.jsonl,.ndjson,.json,.txt,text/csv,application/jsonl" data-aria-label="batches.choose" hidden>
  </form>
  <p id="batch-problem" class="problem" role="alert" hidden></p>
  <p class="muted small"><span data-text="batches.sample_about"></span> <button id="batch-sample" class="link" data-text="batches.sample"></button></p>
  <h3 id="batch-list-title" tabindex="-1" data-text="batches.recent"></h3>
  <ul id="batch-list" class="rows" aria-labelledby="batch-list-title"></ul>
</section>`;

/** The colour of each state's label. */
const COLOURS = { running: "", done: "good", failed: "bad", cancelled: "" };

/** A list that works, in the columns of docs/batch.md. */
const SAMPLE = `id,amount,currency,locale,kind,channel,payer
1001,12.50,USD,en-US,received,card,Alice
1002,250,INR,hi-IN,received,upi,
1003,1980,JPY,ja-JP,refunded,paypay,
`;

/**
 * The batches of the account, newest first. `followed` are those whose progress is read. `totals` are the rows of
 * the lists that were sent from this page: the service counts the rows that it has read so far.
 */
const shown = { batches: [], file: null, followed: new Map(), totals: new Map() };

/** Asks the service for the last batches, lists them, and follows those that run. */
export async function refresh() {
  await attempt($("batch-problem"), async () => {
    shown.batches = (await json("/v1/batches?limit=20")).batches;
    showBatches();
    for (const batch of shown.batches) if (batch.state === "running") follow(batch.id);
  }, { isRefresh: true });
}

function stopFollowing() {
  for (const stopper of shown.followed.values()) stopper.abort();
  shown.followed.clear();
}

whenLanguageChanges(() => { showFile(); showBatches(); });

whenKeyChanges(() => {
  stopFollowing();
  shown.totals.clear();
  Object.assign(shown, { batches: [], file: null });
  showFile();
  $("batch-list").replaceChildren();
  showProblem($("batch-problem"), null);
});

function showBatches() {
  showList($("batch-list"), shown.batches, {
    keyOf: ({ id }) => id, create: row, none: t("batches.none"), fallback: $("batch-list-title"), staysInList: false,
  });
}

function row(batch) {
  const { id, state, rows, done, failed } = batch;
  const isRunning = state === "running";
  const about = [
    dayTime(batch.created_at), batch.name, t("batches.rows", { count: rows }),
    batch.error && make("code", {}, batch.error.code), make("code", { class: "id", title: id }, id),
  ];
  const title = [t("batches.done", { count: done }), failed ? t("batches.failed", { count: failed }) : null];
  const [colour, name] = state === "done" && failed
    ? ["warn", t("batches.some_failed")]
    : [COLOURS[state] ?? "", named("batches.state", state)];
  return make("li", {},
    make("div", {},
      make("p", { class: "title" }, ...dotted(title)),
      meta(about),
      isRunning && shown.totals.has(id) ? progress(Math.max(rows, shown.totals.get(id)), done + failed) : null,
      faultList(batch)),
    buttons(
      tag(colour, name),
      isRunning
        ? rowButton(t("action.cancel"), t("batches.cancel_named", { id }), () => cancel(id))
        : rowButton(t("batches.result"), t("batches.result_named", { id }), () => download(id))));
}

/** Lists the first faults of a batch, with their lines. */
function faultList({ faults, failed }) {
  if (!faults?.length) return null;
  const more = failed - faults.length;
  return make("div", { class: "faults" },
    make("ul", {}, ...faults.map(({ line, id, column, message }) => make("li", {},
      ...dotted([t("batches.line", { line: String(line) }), id && t("batches.payment", { id }), column && !message.startsWith(column) && make("code", {}, column), make("span", { lang: "en" }, message)])))),
    more > 0 ? make("p", { class: "meta" }, t("batches.more_faults", { count: more })) : null);
}

const progress = (total, ended) =>
  make("progress", { max: Math.max(1, total), value: ended, "aria-label": t("batches.progress") });

/** Puts a batch in the place of its former state, or at the top. */
function replace(batch) {
  const known = shown.batches.some(({ id }) => id === batch.id);
  const others = known ? shown.batches : [batch, ...shown.batches];
  shown.batches = others.map((other) => (other.id === batch.id ? batch : other));
  showBatches();
}

/** Shows a batch's progress until it ends. After a lost connection, the list is loaded and followed again. */
async function follow(id) {
  if (shown.followed.has(id)) return;
  const stopper = new AbortController();
  shown.followed.set(id, stopper);
  await attempt($("batch-problem"), async () => {
    const headers = { Accept: "text/event-stream" };
    const response = await call(`/v1/batches/${encodeURIComponent(id)}`, { headers, signal: stopper.signal });
    // A stream that breaks off is followed again when the page is connected again.
    await readEvents(response.body, ({ data }) => replace(JSON.parse(data.join("\n")))).catch(() => {});
  }, { isRefresh: true });
  shown.followed.delete(id);
}

async function start() {
  const { file } = shown;
  if (!file) return;
  const text = await file.text();
  const isLines = text.trimStart().startsWith("{");
  const isArray = /^\s*\[\s*[{\]]/.test(text);
  const type = isArray ? "application/json" : isLines ? "application/jsonl" : "text/csv";
  const batch = await attempt($("batch-problem"), () =>
    json(`/v1/batches?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file, type }));
  if (!batch) return;
  const lines = text.split("\n").filter((line) => line.trim()).length;
  // The number of elements of an array would take a second parser, so its total is known at its end.
  if (!isArray) shown.totals.set(batch.id, isLines ? lines : lines - 1);
  shown.file = null;
  showFile();
  replace(batch);
  follow(batch.id);
}

async function cancel(id) {
  const isAgreed = await ask({
    title: t("batches.ask"), about: t("batches.ask_about"), yes: t("batches.ask_yes"), no: t("batches.ask_no"),
  });
  if (!isAgreed) return;
  $("batch-list-title").focus();
  const batch = await attempt($("batch-problem"), () =>
    json(`/v1/batches/${encodeURIComponent(id)}`, { method: "DELETE" }));
  if (batch) replace(batch);
}

/** Saves a batch's result, one line of JSON for each row. */
async function download(id) {
  const result = await attempt($("batch-problem"), async () => {
    const response = await call(`/v1/batches/${encodeURIComponent(id)}`, { headers: { Accept: "application/jsonl" } });
    return response.blob();
  });
  if (!result) return;
  saveFile(result, `batch-${id}.jsonl`);
}

function showFile() {
  setText($("batch-file-name"), shown.file ? shown.file.name : t("batches.no_file"));
  allow($("batch-start"), Boolean(shown.file));
}

export function connect() {
  addEventListener("pagehide", stopFollowing);
  showFile();
  onClick("batch-choose", () => $("batch-file").click());
  onClick("batch-sample", () => saveFile(new Blob([SAMPLE], { type: "text/csv" }), "sample.csv"));
  $("batch-file").addEventListener("change", () => {
    shown.file = $("batch-file").files[0] ?? null;
    $("batch-file").value = "";
    showFile();
    if (shown.file) $("batch-start").focus();
  });
  $("batch-form").addEventListener("submit", (event) => {
    event.preventDefault();
    busy($("batch-start"), start).then(showFile);
  });
}
