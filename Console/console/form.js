// SPDX-License-Identifier: Apache-2.0

// The form: reads an announcement from it, previews or announces it, and shows what is wrong with it.
// An amount stays the text that was typed, from the field to the request. It is never converted to a number.

import { whenKeyChanges } from "./access.js";
import { loudness, seconds, shortening } from "./figures.js";
import { channelField, lacksChannel, speakable } from "./languages.js";
import { $, make, setText } from "./page.js";
import { control, hasSpeaker, pathOf } from "./player.js";
import { playButton, preview } from "./preview.js";
import { makePreview, send } from "./sending.js";
import { Problem, attempt, detailsOf, isObsolete, showProblem } from "./service.js";
import { sound } from "./sound.js";
import { toast } from "./toast.js";
import { languageName, named, t, textIn, whenLanguageChanges } from "./translations.js";

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
  for (const field of $("form").querySelectorAll("[aria-invalid]")) clearFault(field);
}

/** Removes the fault of a field, because it was changed. */
export function clearFault(field) {
  $(`${field.id}-fault`)?.remove();
  field.removeAttribute("aria-invalid");
  field.removeAttribute("aria-describedby");
}

/** Shows a problem at the field that it names, and moves the focus there; else below the form. */
function showFault(problem) {
  clearFaults();
  const name = /^(?:payment\.)?([a-z]+):/.exec(problem.detail)?.[1];
  const field = name === "channel" ? channelField() : name && $("form").elements.namedItem(name);
  if (field?.id && !field.closest("[hidden]")) showFaultAt(field, faultOf(name), problem);
  else showProblem($("form-problem"), problem);
}

/** Returns what is wrong with a field, in the language of the page. */
function faultOf(name) {
  const text = named("fault", name);
  return text === name ? t("fault.other") : text;
}

/** Shows a fault below its field. What the service says, which is in English, is there for those who ask. */
function showFaultAt(field, text, problem = null) {
  const fault = make("div", { class: "problem slim", id: `${field.id}-fault` },
    make("p", { role: "alert" }, text), problem && detailsOf(problem));
  const around = field.closest("details");
  if (around) around.open = true;
  (field.closest(".pair") ?? field.closest(".field")).append(fault);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", fault.id);
  field.focus();
}

/** Whether a field that an announcement needs is empty. Says so at the field. */
function lacksSomething() {
  clearFaults();
  const empty = (isText() ? ["text"] : ["amount", "currency"]).map($).find(({ value }) => !value.trim());
  if (empty) showFaultAt(empty, t("fault.empty"));
  return Boolean(empty);
}

/** Says what Announce does. */
export function showAnnounceAbout() {
  setText($("announce-about"), hasSpeaker() ? t("form.announce_about") : t("form.announce_stored"));
}

whenLanguageChanges(() => {
  showAnnounceAbout();
  // What the list of languages says is in the former language.
  $("locales-card").hidden = true;
  $("locales").replaceChildren();
  clearFaults();
});

/** Makes a preview, and shows and plays it here. Nothing is stored, and nothing is heard in the shop. */
export function hear() {
  return showAnswer(() => makePreview(announcement()), ({ report }) => t("form.heard", spoken(report)));
}

/** Announces: the service stores the announcement, and plays it on the shop's speaker if it has one. */
export function announce() {
  const deliver = hasSpeaker() ? ["clip", "play"] : ["clip"];
  const work = async () => {
    const form = announcement();
    return send({ ...($("is-test").checked ? await asTest(form) : form), deliver });
  };
  return showAnswer(work, ({ report, isKnown }) => {
    const text = isKnown ? t("form.known", spoken(report)) : t("form.done", spoken(report));
    const cancel = () => control(pathOf(report), "DELETE", null, $("form-problem"));
    toast(text, hasSpeaker() ? { action: t("action.cancel"), work: cancel } : {});
    return text;
  }, { isHeard: !hasSpeaker() });
}

/**
 * Returns an announcement that says first that it is a test. It is a text with the words of the payment, because a
 * payment has no words before it, and because a test must not count as money.
 */
async function asTest(form) {
  const words = form.text ?? (await makePreview(form)).report.text;
  const { locale, method, voice, pack, format } = form;
  const text = `${await textIn(locale, "form.test_words")} ${words}`;
  // No recording says that something is a test.
  return { text, locale, method: method === "clips" ? undefined : method, voice, pack, format };
}

const spoken = (report) => ({ text: report.text, length: seconds(report.clip.duration_ms) });

/** Shows the answer of `work` and says what happened. `isHeard` says whether it is played in the browser. */
async function showAnswer(work, describe, { isHeard = true } = {}) {
  sound.wake();
  if (lacksSomething()) return;
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
  if (lacksSomething()) return;
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
