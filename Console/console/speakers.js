// SPDX-License-Identifier: Apache-2.0

// Who speaks each language: a voice pack, a speech server or the speech engine, why, and the choice.

import { access, whenKeyChanges, whenRightsAreKnown } from "./access.js";
import { meta, namedDay } from "./figures.js";
import { currencyOf, speakable } from "./languages.js";
import { $, buttons, fill, make, rowButton, setText } from "./page.js";
import { showList } from "./rows.js";
import { LIMITS, attempt, bytes, json, sendJSON, showProblem } from "./service.js";
import { recording } from "./sound.js";
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

let [locales, servers] = [[], []];

for (const when of [whenLanguageChanges, whenRightsAreKnown]) when(() => showSpeakers());

whenKeyChanges(() => showProblem($("speakers-problem"), null));

/** Shows each language with who speaks it, as the packs and the voices tell. */
export function showSpeakers(known = locales, voices = servers) {
  locales = known;
  servers = voices.filter((voice) => voice.speech_server);
  const items = locales.map(({ locale, voice }) => ({
    locale, voice, isChangeable: access.may("manage"), isAudible: access.may("announce"),
    // A server may speak a whole language, such as `en`.
    servers: servers.filter((server) => [locale, locale.split("-")[0]].includes(server.locale))
      .map(({ voice: id, speech_server: server }) => ({ id, ...server })),
    packs: [...speakable.packs, ...speakable.drafts].filter((pack) => pack.locale === locale && !pack.error)
      .map(({ id, speaker, speaks, missing_count: missing, is_complete: isComplete = missing === 0 }) =>
        ({ id, speaker, speaks, isComplete })),
  }));
  showList($("speakers"), items, { keyOf: ({ locale }) => locale, create: row, fallback: $("speakers-title") });
}

function row({ locale, voice, packs, servers, isChangeable, isAudible }) {
  const language = languageName(locale);
  const speaking = packs.find(({ speaks }) => speaks);
  const server = servers.find(({ state }) => state === "closed");
  const who = speaking
    ? [make("strong", { translate: false }, speaking.id), " · ", t(REASONS[speaking.speaks])]
    : server
      ? [make("strong", { translate: false }, server.id), " · ", t("speakers.server")]
      : [t("speakers.engine", { voice })];
  const controls = servers.filter(() => isAudible).map(({ id: name }) => rowButton(
    t("speakers.listen", { name }), t("speakers.listen_named", { name, language }), () => hear(name, locale)));
  if (isChangeable && packs.length) controls.push(choice(locale, language, packs));
  return make("li", {},
    make("div", {}, make("p", { class: "title" }, language), make("p", { class: "meta" }, ...who), ...servers.flatMap(about)),
    controls.length ? buttons(...controls) : null);
}

/** Says what is known of a speech server: whether it answers, and what the test of this version of its voice found. */
function about({ id, state, amounts, identity, verdict }) {
  const isCurrent = verdict && (!identity || verdict.identity === identity);
  const result = !isCurrent ? "speakers.untested" : verdict.passed ? "speakers.passed" : "speakers.failed";
  const saysAmounts = amounts ?? (isCurrent && verdict.passed);
  const line = meta([
    make("span", { translate: false }, id), state !== "closed" && t("speakers.rests"),
    t(result, { time: namedDay(verdict?.tested_at) }), !saysAmounts && t("speakers.no_amounts"),
  ]);
  return isCurrent && verdict.findings.length ? [line, findings(verdict)] : [line];
}

/** Makes the list of what the test measured, and what it could not measure. The service says it in English only. */
function findings({ findings }) {
  const items = findings.map((finding) => make("li", {}, finding));
  return make("details", {},
    make("summary", {}, t("speakers.findings")), make("ul", { class: "meta", lang: "en" }, ...items));
}

/** Plays a payment in the browser as a speech server says it. Nothing is heard in the shop. */
async function hear(voice, locale) {
  recording.wake();
  await attempt($("speakers-problem"), async () => {
    const body = JSON.stringify({ amount: "1250", currency: currencyOf(locale), locale, voice });
    const { clip } = await json("/v1/previews", { method: "POST", body, limit: LIMITS.preview });
    await recording.load(await bytes(`/v1/clips/${encodeURIComponent(clip.name)}`));
    recording.start(0);
  });
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
