// SPDX-License-Identifier: Apache-2.0

// The list of voice packs, and a new one.

import { whenKeyChanges } from "./access.js";
import { missingFacts, openPack, whenPackChanges } from "./clips.js";
import { meta } from "./figures.js";
import { loadPacks, speakable } from "./languages.js";
import { $, buttons, fill, make, onSubmit, rowButton, tag } from "./page.js";
import { attempt, json, sendJSON, showProblem } from "./service.js";
import { connectSpeakers, showSpeakers } from "./speakers.js";
import { languageName, parts, t, whenLanguageChanges } from "./translations.js";

export const markup = `<section class="card packs" aria-labelledby="packs-title">
  <h2 id="packs-title" tabindex="-1" data-text="packs.title"></h2>
  <p class="stale" hidden></p>
  <ul id="packs" class="rows"></ul>
  <p id="packs-problem" class="problem" role="alert" hidden></p>
  <details id="pack-new" class="more" data-may="manage">
    <summary data-text="packs.new"></summary>
    <p class="muted" data-text="packs.new_about"></p>
    <form id="pack-form" class="keys-form" novalidate>
      <div class="field"><label for="pack-id" data-text="packs.id"></label><input id="pack-id" autocomplete="off" autocapitalize="none" spellcheck="false" placeholder="my-shop" aria-describedby="pack-problem"></div>
      <div class="field"><label for="pack-locale" data-text="form.language"></label><select id="pack-locale"></select></div>
      <div class="field"><label for="pack-speaker" data-text="packs.speaker"></label><input id="pack-speaker" autocomplete="off" data-placeholder="form.none"></div>
      <div class="field"><label for="pack-licence" data-text="packs.licence"></label><input id="pack-licence" autocomplete="off" spellcheck="false" placeholder="CC0-1.0"></div>
      <div class="actions"><button type="submit" id="pack-create" class="primary online" data-text="packs.create"></button></div>
    </form>
    <p id="pack-problem" class="problem" role="alert" hidden></p>
  </details>
</section>`;

let isLoaded = false;

/** Loads the languages and the voice packs, and lists them. */
export async function refreshPacks() {
  await attempt($("packs-problem"), async () => {
    const [{ locales }, { voices }] = await Promise.all([json("/v1/locales"), json("/v1/voices"), loadPacks()]);
    showSpeakers(locales, voices);
    fill($("pack-locale"), locales.map(({ locale }) => [locale, languageName(locale)]));
    isLoaded = true;
    showPacks();
  }, { isRefresh: true });
}

whenLanguageChanges(() => { if (isLoaded) showPacks(); });

whenPackChanges(refreshPacks);

whenKeyChanges(() => { for (const id of ["packs-problem", "pack-problem"]) showProblem($(id), null); });

function showPacks() {
  const rows = [
    ...speakable.drafts.map(draft),
    ...speakable.packs.map((pack) => (pack.error ? faultyPack(pack) : usablePack(pack))),
  ];
  $("packs").replaceChildren(...(rows.length ? rows : [make("li", { class: "none" }, t("packs.none"))]));
}

function titleLine(pack, kind, status) {
  return make("div", { class: "line" },
    make("p", { class: "title", translate: false }, pack.id),
    tag(kind, status));
}

function faultyPack(pack) {
  const { code, message } = pack.error;
  return make("li", {}, make("div", {},
    titleLine(pack, "bad", code),
    pack.speaks ? make("p", { class: "speaks" }, t("packs.speaks_earlier")) : null,
    make("p", { class: "meta", lang: "en" }, message)));
}

/** Makes the row of a pack that is still being recorded. It can speak once the rows that payments need are recorded. */
const draft = (pack) =>
  packRow(pack, pack.rows - pack.recorded, pack.required - pack.required_recorded, pack.recorded, pack.rows);

function usablePack(pack) {
  const missing = pack.missing_count ?? 0;
  return packRow(pack, missing, missing, pack.tokens, pack.tokens + missing, missing ? missingWords(pack.missing ?? [], missing) : null);
}

/** Makes the row of a pack. `missing` of its `count` rows have no recording, and it needs `needed` of these to speak. */
function packRow(pack, missing, needed, done, count, more = null) {
  const [lacks, needs] = missingFacts(missing, needed);
  const about = [
    pack.locale && languageName(pack.locale), t("packs.words", { done, count }), needed > 0 && needs,
    pack.speaker && t("packs.speaker_named", { name: pack.speaker }),
    pack.licence && t("packs.licence_named", { name: pack.licence }),
  ];
  const open = rowButton(t("packs.recordings"), t("packs.recordings_named", { pack: pack.id }), () => openPack(pack.id));
  return make("li", {},
    make("div", {},
      needed === 0 ? titleLine(pack, "good", t("packs.complete")) : titleLine(pack, "warn", lacks),
      meta(about),
      make("progress", { max: Math.max(1, count), value: done, "aria-label": t("packs.coverage", { pack: pack.id }) }),
      more),
    buttons(open));
}

/** Makes the list of missing words. The service names the first ones only. */
function missingWords(names, count) {
  const words = make("code", {}, names.join("  "));
  const rest = count - names.length;
  return make("details", {},
    make("summary", {}, t("packs.missing_words")),
    make("p", { class: "meta" }, ...(rest > 0 ? parts("packs.and_more", { words, count: rest }) : [words])));
}

/** Makes an empty pack, and opens it for recording. */
async function create() {
  const body = { locale: $("pack-locale").value };
  for (const field of ["id", "speaker", "licence"]) {
    const value = $(`pack-${field}`).value.trim();
    if (value) body[field] = value;
  }
  const made = await attempt($("pack-problem"), () => sendJSON("/v1/packs", "POST", body));
  if (!made) {
    $("pack-id").focus();
    return;
  }
  for (const field of ["id", "speaker", "licence"]) $(`pack-${field}`).value = "";
  $("pack-new").open = false;
  await refreshPacks();
  await openPack(made.id);
}

export function connectPacks() {
  connectSpeakers(refreshPacks);
  onSubmit("pack-form", "pack-create", create);
}
