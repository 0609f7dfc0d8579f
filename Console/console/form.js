// SPDX-License-Identifier: Apache-2.0

// The form: reads an announcement from it, previews or announces it, and shows what is wrong with it.
// An amount stays the text that was typed, from the field to the request. It is never converted to a number.

import { whenKeyChanges } from "./access.js";
import { loudness, seconds, shortening } from "./figures.js";
import { channelField, lacksChannel, speakable } from "./languages.js";
import { $, make, setText } from "./page.js";
import { hasSpeaker } from "./player.js";
import { playButton, preview } from "./preview.js";
import { makePreview, send } from "./sending.js";
import { Problem, attempt, isObsolete, showProblem } from "./service.js";
import { sound } from "./sound.js";
import { languageName, t } from "./translations.js";

export const isText = () => $("what-text").checked;

/** Returns the announcement in a language, without the options that hold for one language only. */
function content(locale) {
  const body = {};
  if (isText()) {
    body.text = $("text").value;
  } else {
    body.amount = $("amount").value;
    body.currency = $("currency").value;
    if ($("kind").value !== "received") body.kind = $("kind").value;
    const channel = channelField().value;
    if (channel.trim() && !lacksChannel(locale)) body.channel = channel;
    for (const id of ["payer", "note"]) if ($(id).value.trim()) body[id] = $(id).value;
  }
  body.locale = locale;
  return body;
}

/** Returns the announcement with all options of the form. */
function announcement() {
  const body = content($("locale").value);
  if ($("method").value !== "auto") body.method = $("method").value;
  if ($("voice").value) body.voice = $("voice").value;
  if ($("pack").value) body.pack = $("pack").value;
  if ($("format").value !== "wav") body.format = $("format").value;
  return body;
}

function clearFaults() {
  showProblem($("form-problem"), null);
  for (const field of $("form").querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
}

/** Shows a problem below the form, and moves the focus to the field that the problem names. */
function showFault(problem) {
  clearFaults();
  showProblem($("form-problem"), problem);
  const name = /^(?:payment\.)?([a-z]+):/.exec(problem.detail)?.[1];
  const field = name === "channel" ? channelField() : name && $("form").elements.namedItem(name);
  if (!field || !field.id || field.closest("[hidden]")) return;
  const details = field.closest("details");
  if (details) details.open = true;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", "form-problem");
  field.focus();
}

/** Makes a preview, and shows and plays it here. Nothing is stored, and nothing is heard in the shop. */
export function hear() {
  return showAnswer(() => makePreview(announcement()), ({ report }) => t("form.heard", spoken(report)));
}

/** Announces: the service stores the announcement, and plays it on the shop's speaker if it has one. */
export function announce() {
  const deliver = hasSpeaker() ? ["clip", "play"] : ["clip"];
  return showAnswer(() => send({ ...announcement(), deliver }), ({ report, isKnown }) =>
    (isKnown ? t("form.known", spoken(report)) : t("form.done", spoken(report))), { isHeard: !hasSpeaker() });
}

const spoken = (report) => ({ text: report.text, length: seconds(report.clip.duration_ms) });

/** Shows the answer of `work` and says what happened. `isHeard` says whether it is played in the browser. */
async function showAnswer(work, describe, { isHeard = true } = {}) {
  sound.wake();
  clearFaults();
  try {
    const answer = await work();
    setText($("live"), describe(answer));
    await preview.show(answer.report, answer.sent);
    if (isHeard) preview.play();
  } catch (error) {
    if (isObsolete(error)) return;
    if (!(error instanceof Problem)) throw error;
    showFault(error);
  }
}

/** Makes a preview in each language. */
export async function hearEverywhere() {
  sound.wake();
  clearFaults();
  const card = $("locales-card");
  card.hidden = false;
  $("locales").replaceChildren();
  await Promise.all(speakable.locales.map(({ locale }) => hearIn(locale)));
  setText($("live"), t("form.everywhere_done", { count: speakable.locales.length }));
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  card.scrollIntoView({ block: "nearest", behavior: isCalm ? "auto" : "smooth" });
}

whenKeyChanges(() => {
  $("locales-card").hidden = true;
  $("locales").replaceChildren();
  clearFaults();
});

/** Makes a preview in one language, and lists its words or its problem. */
async function hearIn(locale) {
  const name = languageName(locale);
  const heading = make("h3", {}, `${name} · ${locale}`);
  const words = make("p", { class: "title", lang: locale }, "…");
  const meta = make("p", { class: "meta" });
  const item = make("li", {}, heading, words, meta);
  $("locales").append(item);
  const problem = make("p", { class: "problem", hidden: true });
  const answer = await attempt(problem, () => makePreview(content(locale)));
  if (!answer) {
    item.replaceChildren(heading, problem);
    return;
  }
  const { report, sent } = answer;
  words.textContent = report.text;
  const shortened = shortening(report.shortened);
  const facts = [
    seconds(report.clip.duration_ms), loudness(report.loudness_lufs), report.voice,
    shortened && t("form.shortened", { steps: shortened }),
    !isText() && lacksChannel(locale) && t("form.no_channel"),
  ];
  meta.textContent = facts.filter(Boolean).join(" · ");
  item.append(playButton(report, sent, name));
}
