// SPDX-License-Identifier: Apache-2.0

// The recordings of a voice pack: hear each word, mark it as wrong, and record it again.

import { access, whenRightsAreKnown } from "./access.js";
import { dotted, seconds } from "./figures.js";
import { $, make, rowButton, setText } from "./page.js";
import { openRecorder } from "./recorder.js";
import { showList } from "./rows.js";
import { attempt, call, json, sendJSON } from "./service.js";
import { recording } from "./sound.js";
import { languageName, named, t, whenLanguageChanges } from "./translations.js";

/** The pack that is open, as the service lists its clips, and the file of the clip that was heard last. */
const shown = { pack: null, heard: null };

const path = (pack, part, file) => `/v1/packs/${encodeURIComponent(pack)}/${part}/${encodeURIComponent(file)}`;

/** Opens a pack, and moves the focus to its heading. */
export async function openPack(id) {
  const pack = await attempt($("packs-problem"), () => json(`/v1/packs/${encodeURIComponent(id)}/clips`));
  if (!pack) return;
  Object.assign(shown, { pack, heard: null });
  $("clips-search").value = "";
  $("clips-marked").checked = false;
  $("clips-card").hidden = false;
  showClips();
  $("clips-title").focus();
}

for (const when of [whenLanguageChanges, whenRightsAreKnown]) when(() => { if (shown.pack) showClips(); });

/** Whether the key and the pack allow changes. */
const isWritable = () => access.isAdmin && shown.pack.is_writable;

function showClips() {
  const { pack } = shown;
  setText($("clips-title"), t("clips.title", { pack: pack.id }));
  const language = languageName(pack.locale);
  setText($("clips-about"), pack.is_writable ? t("clips.about", { language }) : t("clips.read_only"));
  const marked = pack.clips.filter((clip) => clip.is_marked).length;
  setText($("clips-count"), t("clips.marked", { count: marked }));
  const search = $("clips-search").value.trim().toLowerCase();
  const clips = pack.clips.filter((clip) => (clip.is_marked || !$("clips-marked").checked)
    && [clip.text, clip.file, ...clip.tokens].some((word) => word?.toLowerCase().includes(search)));
  const rows = clips.map((clip) => ({ ...clip, isHeard: clip.file === shown.heard, isWritable: isWritable() }));
  showList($("clips"), rows, {
    keyOf: ({ file }) => file, create: row, none: t("clips.none"), fallback: $("clips"),
  });
}

function row(clip) {
  const name = clip.text || clip.tokens.join(" ");
  const mark = clip.is_marked ? t("clips.unmark") : t("clips.mark");
  const about = [
    make("code", {}, clip.tokens.join(" ")),
    clip.position && named("clips.position", clip.position), seconds(clip.duration_ms),
  ];
  return make("li", clip.isHeard ? { "aria-current": "true" } : {},
    make("div", {},
      make("p", { class: "title", lang: shown.pack.locale, translate: false }, name),
      make("p", { class: "meta" }, ...dotted(about))),
    make("div", { class: "buttons" },
      clip.is_marked ? make("span", { class: "tag bad" }, t("clips.is_marked")) : null,
      rowButton(t("recent.listen"), t("preview.play_named", { name }), () => hear(clip)),
      clip.isWritable ? rowButton(mark, t("clips.action_named", { action: mark, name }), () => setMark(clip)) : null,
      clip.isWritable
        ? rowButton(t("clips.record"), t("clips.action_named", { action: t("clips.record"), name }), () => record(clip))
        : null));
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

function record(clip) {
  // Another pack may be open when the recording is saved. Files of different packs have the same names.
  const { id, locale } = shown.pack;
  openRecorder({
    words: clip.text || clip.tokens.join(" "), locale, place: $("clips-problem"),
    save: async (wav) => {
      const changed = await json(path(id, "clips", clip.file), { method: "PUT", body: wav, type: "audio/wav" });
      const { warnings, ...line } = changed;
      replace(id, line);
      return warnings ?? [];
    },
  });
}

/** Shows a clip of a pack as the service changed it, if the pack is still open. */
function replace(id, changed) {
  if (shown.pack?.id !== id) return;
  shown.pack.clips = shown.pack.clips.map((clip) => (clip.file === changed.file ? changed : clip));
  showClips();
}

export function connectClips() {
  $("clips-filter").addEventListener("submit", (event) => event.preventDefault());
  $("clips-filter").addEventListener("input", showClips);
}
