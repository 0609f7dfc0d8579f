// SPDX-License-Identifier: Apache-2.0

// The recordings of a voice pack: hear each word, mark it as wrong, and record it, for the first time or again.

import { access, whenRightsAreKnown } from "./access.js";
import { ask } from "./dialog.js";
import { dotted, meta, seconds } from "./figures.js";
import { speakable } from "./languages.js";
import { $, busy, buttons, make, onClick, rowButton, setText, tag } from "./page.js";
import { openRecorder } from "./recorder.js";
import { showList } from "./rows.js";
import { attempt, call, json, sendJSON, showProblem } from "./service.js";
import { recording } from "./sound.js";
import { languageName, named, t, whenLanguageChanges } from "./translations.js";

export const markup = `<section id="clips-card" class="card clips" aria-labelledby="clips-title" hidden>
  <div class="head"><h2 id="clips-title" tabindex="-1"></h2><p id="clips-count" class="muted small" role="status"></p></div>
  <p id="clips-about" class="muted"></p>
  <div id="clips-work" class="actions" hidden>
    <button id="clips-record" class="primary online"></button>
    <button id="clips-upload" class="online" data-text="clips.upload"></button>
    <button id="clips-delete" class="danger online" data-text="clips.delete"></button>
  </div>
  <input type="file" id="clips-file" accept=".wav,audio/wav,audio/x-wav" data-aria-label="clips.upload" hidden>
  <p id="clips-done" class="told" role="status" hidden></p>
  <p id="clips-problem" class="problem" role="alert" hidden></p>
  <form id="clips-filter" class="filter" role="search" novalidate>
    <div class="field"><label for="clips-search" data-text="clips.search"></label><input type="search" id="clips-search" autocomplete="off"></div>
    <label class="check"><input type="checkbox" id="clips-marked"><span data-text="clips.only_marked"></span></label>
    <label id="clips-missing-choice" class="check"><input type="checkbox" id="clips-missing"><span data-text="clips.only_missing"></span></label>
  </form>
  <ul id="clips" class="rows" tabindex="-1" aria-labelledby="clips-title"></ul>
</section>`;

/** The pack that is open, as the service lists its clips, and the file of the clip that was heard last. */
const shown = { pack: null, heard: null };

const path = (pack, part, file) => `/v1/packs/${encodeURIComponent(pack)}/${part}/${encodeURIComponent(file)}`;

let onChange = () => {};

/** Sets the function that is called after the words of a pack changed. */
export const whenPackChanges = (listener) => { onChange = listener; };

/** Returns the clips of a pack, or the rows of one that is still being recorded, in the order of the recording sheet. */
async function listOf(id) {
  const path = `/v1/packs/${encodeURIComponent(id)}`;
  const draft = speakable.drafts.find((pack) => pack.id === id);
  if (!draft) return json(`${path}/clips`);
  const { rows } = await json(`${path}/rows`);
  const clips = rows.map((row) => ({ ...row, tokens: [row.text], duration_ms: null, is_marked: false }));
  return { id, locale: draft.locale, is_writable: true, isDraft: true, clips };
}

/** Opens a pack, and moves the focus to its heading. */
export async function openPack(id) {
  const pack = await attempt($("packs-problem"), () => listOf(id));
  if (!pack) return;
  Object.assign(shown, { pack, heard: null });
  $("clips-search").value = "";
  for (const box of ["clips-marked", "clips-missing"]) $(box).checked = false;
  $("clips-card").hidden = false;
  $("clips-done").hidden = true;
  showProblem($("clips-problem"), null);
  showClips();
  $("clips-title").focus();
  $("clips-card").scrollIntoView({ block: "start" });
}

for (const when of [whenLanguageChanges, whenRightsAreKnown]) when(() => { if (shown.pack) showClips(); });

/** Whether the key and the pack allow changes. */
const isWritable = () => access.may("manage") && shown.pack.is_writable;

/** Whether a row of the sheet has no recording yet. */
const isMissing = (clip) => clip.is_recorded === false;

function found() {
  const search = $("clips-search").value.trim().toLowerCase();
  return shown.pack.clips.filter((clip) => (clip.is_marked || !$("clips-marked").checked)
    && (isMissing(clip) || !$("clips-missing").checked)
    && [clip.text, clip.file, ...clip.tokens].some((word) => word?.toLowerCase().includes(search)));
}

function showClips() {
  const { pack } = shown;
  setText($("clips-title"), t("clips.title", { pack: pack.id }));
  const language = languageName(pack.locale);
  setText($("clips-about"), pack.is_writable ? t("clips.about", { language }) : t("clips.read_only"));
  const marked = pack.clips.filter((clip) => clip.is_marked).length;
  const missing = pack.clips.filter(isMissing).length;
  const needed = pack.clips.filter((clip) => isMissing(clip) && clip.is_required !== false).length;
  setText($("clips-count"), dotted([t("clips.marked", { count: marked }), ...missingFacts(missing, needed)]).join(""));
  $("clips-work").hidden = !isWritable();
  $("clips-record").hidden = missing === 0;
  setText($("clips-record"), t("clips.record_missing", { count: missing }));
  $("clips-missing-choice").hidden = missing === 0;
  if (missing === 0) $("clips-missing").checked = false;
  const rows = found().map((clip) => ({ ...clip, isHeard: clip.file === shown.heard, isWritable: isWritable() }));
  showList($("clips"), rows, {
    keyOf: ({ file }) => file, create: row, none: t("clips.none"), fallback: $("clips"),
  });
}

/** Says how many rows of a pack have no recording, and how many of them the pack needs before it can speak. */
export const missingFacts = (count, needed) => (count === 0 ? [] : [
  t("clips.missing_count", { count }), needed < count && t("packs.needed", { count, needed }),
]);

const wordsOf = (clip) => clip.text || clip.tokens.join(" ");

function row(clip) {
  const name = wordsOf(clip);
  const isEmpty = isMissing(clip);
  const mark = clip.is_marked ? t("clips.unmark") : t("clips.mark");
  const again = isEmpty ? t("recorder.record") : t("clips.record");
  const about = [
    make("code", {}, clip.tokens.join(" ")),
    clip.position && named("clips.position", clip.position), clip.duration_ms && seconds(clip.duration_ms),
    clip.how && make("span", { lang: "en" }, clip.how),
  ];
  const change = clip.isWritable
    ? [
      isEmpty || shown.pack.isDraft ? null : rowButton(mark, t("clips.action_named", { action: mark, name }), () => setMark(clip)),
      rowButton(again, t("clips.action_named", { action: again, name }), () => record(found(), clip.file)),
    ] : [];
  return make("li", clip.isHeard ? { "aria-current": "true" } : {},
    make("div", {},
      make("p", { class: "title", lang: shown.pack.locale, translate: false }, name),
      meta(about)),
    buttons(
      clip.is_marked ? tag("bad", t("clips.is_marked")) : null,
      isEmpty
        ? tag("", t("clips.is_missing"))
        : rowButton(t("recent.listen"), t("preview.play_named", { name }), () => hear(clip)),
      ...change));
}

async function hear(clip) {
  const { id } = shown.pack;
  recording.wake();
  await attempt($("clips-problem"), async () => {
    await recording.load(await (await call(path(id, "clips", clip.file))).arrayBuffer());
    recording.start(0);
  });
  if (shown.pack?.id !== id) return;
  shown.heard = clip.file;
  showClips();
}

async function setMark(clip) {
  const { id } = shown.pack;
  const body = { is_marked: !clip.is_marked };
  const changed = await attempt($("clips-problem"), () => sendJSON(path(id, "marks", clip.file), "PUT", body));
  if (changed) replace(id, changed);
}

/** Opens the recorder for some clips, at the one with this file. */
function record(clips, file) {
  // Another pack may be open when the recording is saved. Files of different packs have the same names.
  const { id, locale } = shown.pack;
  openRecorder({
    list: clips.map((clip) => ({ file: clip.file, words: wordsOf(clip), how: clip.how ?? "" })),
    at: clips.findIndex((clip) => clip.file === file), locale, place: $("clips-problem"),
    save: async (clip, wav, isAccepted) => {
      const query = isAccepted ? "?accept=true" : "";
      const options = { method: "PUT", body: wav, type: "audio/wav" };
      const { warnings, ...line } = await json(path(id, "clips", clip.file) + query, options);
      replace(id, line);
      onChange();
      return warnings ?? [];
    },
  });
}

/** Shows a clip of a pack as the service changed it, if the pack is still open. */
function replace(id, changed) {
  if (shown.pack?.id !== id) return;
  shown.pack.clips = shown.pack.clips.map((clip) =>
    (clip.file === changed.file ? { ...clip, ...changed, is_recorded: true } : clip));
  showClips();
}

// MARK: The whole pack

/** Sends one long recording of all rows, which the service splits. */
async function upload(file) {
  const { id } = shown.pack;
  $("clips-done").hidden = true;
  const options = { method: "POST", body: file, type: "audio/wav" };
  const isDone = await attempt($("clips-problem"), () => call(`/v1/packs/${encodeURIComponent(id)}/recording`, options));
  if (!isDone) return;
  const pack = await attempt($("clips-problem"), () => listOf(id));
  onChange();
  if (!pack || shown.pack?.id !== id) return;
  shown.pack = pack;
  setText($("clips-done"), t("clips.uploaded"));
  $("clips-done").hidden = false;
  showClips();
}

async function askAndDelete() {
  const { id } = shown.pack;
  const isAgreed = await ask({
    title: t("clips.delete_ask"), about: t("clips.delete_about", { pack: id }), yes: t("clips.delete_yes"),
    no: t("devices.ask_no"),
  });
  if (!isAgreed) return;
  const isDone = await attempt($("clips-problem"), () => call(`/v1/packs/${encodeURIComponent(id)}`, { method: "DELETE" }));
  if (!isDone) return;
  shown.pack = null;
  $("clips-card").hidden = true;
  $("packs-title").focus();
  onChange();
}

export function connectClips() {
  $("clips-filter").addEventListener("submit", (event) => event.preventDefault());
  $("clips-filter").addEventListener("input", showClips);
  onClick("clips-record", () => {
    const missing = shown.pack.clips.filter(isMissing);
    record(missing, missing[0].file);
  });
  onClick("clips-upload", () => $("clips-file").click());
  onClick("clips-delete", () => busy($("clips-delete"), askAndDelete));
  $("clips-file").addEventListener("change", () => {
    const [file] = $("clips-file").files;
    $("clips-file").value = "";
    if (file) busy($("clips-upload"), () => upload(file));
  });
}
