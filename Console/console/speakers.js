// SPDX-License-Identifier: Apache-2.0

// Who speaks each language: the speech engine or a voice pack, why, and the choice.

import { access, whenKeyChanges, whenRightsAreKnown } from "./access.js";
import { speakable } from "./languages.js";
import { $, buttons, fill, make, setText } from "./page.js";
import { showList } from "./rows.js";
import { attempt, sendJSON, showProblem } from "./service.js";
import { languageName, t, whenLanguageChanges } from "./translations.js";

export const markup = `<section class="card" aria-labelledby="speakers-title">
  <h2 id="speakers-title" tabindex="-1" data-text="speakers.title"></h2>
  <p class="stale" hidden></p>
  <ul id="speakers" class="rows" aria-labelledby="speakers-title"></ul>
  <p id="speakers-done" class="hidden" role="status"></p>
  <p id="speakers-problem" class="problem" role="alert" hidden></p>
</section>`;

/** The texts for the reasons why a pack speaks. */
const REASONS = { setting: "speakers.setting", chosen: "speakers.chosen", first: "speakers.first" };

let reload = () => {};

let locales = [];

for (const when of [whenLanguageChanges, whenRightsAreKnown]) when(() => showSpeakers());

whenKeyChanges(() => showProblem($("speakers-problem"), null));

/** Shows each language with who speaks it, as the packs tell. */
export function showSpeakers(known = locales) {
  locales = known;
  const items = locales.map(({ locale, voice }) => ({
    locale, voice, isChangeable: access.may("manage"),
    packs: [...speakable.packs, ...speakable.drafts].filter((pack) => pack.locale === locale && !pack.error)
      .map(({ id, speaker, speaks, missing_count: missing, is_complete: isComplete = missing === 0 }) =>
        ({ id, speaker, speaks, isComplete })),
  }));
  showList($("speakers"), items, { keyOf: ({ locale }) => locale, create: row, fallback: $("speakers-title") });
}

function row({ locale, voice, packs, isChangeable }) {
  const language = languageName(locale);
  const speaking = packs.find(({ speaks }) => speaks);
  const who = speaking
    ? [make("strong", { translate: false }, speaking.id), " · ", t(REASONS[speaking.speaks])]
    : [t("speakers.engine", { voice })];
  return make("li", {},
    make("div", {}, make("p", { class: "title" }, language), make("p", { class: "meta" }, ...who)),
    isChangeable && packs.length ? buttons(choice(locale, language, packs)) : null);
}

/** Makes the list of the packs that can speak a language. A pack that lacks words cannot be chosen. */
function choice(locale, language, packs) {
  const select = make("select", { class: "online", "aria-label": t("speakers.choose", { language }) });
  const offered = packs.filter(({ isComplete }) => isComplete);
  fill(select, [["", t("speakers.standard")], ...offered.map(({ id, speaker }) => [id, speaker ? `${id} · ${speaker}` : id])]);
  select.value = packs.find(({ speaks }) => speaks === "chosen")?.id ?? "";
  select.addEventListener("change", () => choose(locale, language, select.value || null));
  return select;
}

async function choose(locale, language, pack) {
  const path = `/v1/locales/${encodeURIComponent(locale)}/voice`;
  const isDone = await attempt($("speakers-problem"), () => sendJSON(path, "PUT", { pack }));
  if (isDone) setText($("speakers-done"), t("speakers.done", { language }));
  await reload();
}

/** Sets the function that loads the packs again. */
export function connectSpeakers(load) { reload = load; }
