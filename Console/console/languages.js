// SPDX-License-Identifier: Apache-2.0

// The languages that the service speaks, and the choices in the form that depend on the language.

import { $, fill, make } from "./page.js";
import { LIMITS, json } from "./service.js";
import { ownName, t, whenLanguageChanges } from "./translations.js";

/** What the service can speak, as it lists it. */
export const speakable = { locales: [], voices: [], packs: [], drafts: [] };

/** The currencies of regions without the euro. Each begins with its region's code. */
const CURRENCIES = [
  "BDT", "BRL", "CNY", "CZK", "GBP", "HKD", "IDR", "INR", "JPY", "KRW", "MXN", "MYR", "NPR", "PHP", "PLN", "RUB", "SEK",
  "THB", "TRY", "TWD", "UAH", "USD", "VND",
];

/** The choice that shows a field for another channel. No channel is a space. */
const OTHER_CHANNEL = " ";

const entryOf = (locale) => speakable.locales.find((entry) => entry.locale === locale);

/** Loads the languages and voices, and chooses the browser's language if the service speaks it. */
export async function loadLanguages() {
  const [{ locales }, { voices }] = await Promise.all([json("/v1/locales"), json("/v1/voices")]);
  Object.assign(speakable, { locales, voices });
  fill($("locale"), locales.map(({ locale }) => [locale, `${ownName(locale)} · ${locale}`]));
  const wanted = navigator.languages.flatMap((tag) => [tag, tag.split("-")[0]]);
  const found = wanted.map((tag) => locales.find(({ locale }) => locale === tag || locale.startsWith(`${tag}-`)));
  const first = found.find(Boolean) ?? entryOf("en-US");
  if (first) $("locale").value = first.locale;
  languageChanged();
}

/** Loads the voice packs. */
export async function loadPacks() {
  // The first answer after a start takes longer, because the service then reads all recordings.
  const { packs, drafts = [] } = await json("/v1/packs", { limit: LIMITS.preview });
  Object.assign(speakable, { packs, drafts });
  fillPacks();
}

/** Offers the chosen language's voices, packs, currencies and channels. */
export function languageChanged() {
  const locale = $("locale").value;
  const entry = entryOf(locale);
  const voices = speakable.voices.filter((voice) => voice.locale === locale);
  const own = entry?.voice ? t("form.default_voice", entry) : t(entry ? "form.no_pack" : "form.default");
  fill($("voice"), [["", own], ...voices.map(({ voice }) => [voice, voice])]);
  fillPacks();
  $("currencies").replaceChildren(...(entry?.currencies ?? []).map((value) => make("option", { value })));
  fillChannels(entry);
  for (const id of ["channel", "channel-name", "payer", "note", "text"]) $(id).lang = locale;
  fillExample(locale);
}

whenLanguageChanges(() => { if (speakable.locales.length) languageChanged(); });

function fillPacks() {
  // The voices load the packs too, also while the form was not opened.
  if (!$("pack")) return;
  const packs = speakable.packs.filter((pack) => pack.locale === $("locale").value && !pack.error);
  const choices = packs.map(({ id, speaker }) => [id, speaker ? `${id} · ${speaker}` : id]);
  fill($("pack"), [["", packs.length ? t("form.any_pack") : t("form.no_pack")], ...choices]);
}

/** Offers the channels that the language has a name for. Their values stay those of the payload. */
function fillChannels(entry) {
  const named = new Map();
  for (const channel of entry?.channels ?? []) {
    const name = entry.channel_names?.[channel] ?? channel;
    const label = name.charAt(0).toLocaleUpperCase(entry.locale) + name.slice(1);
    // Two values of the payload may have one name, and people choose by the name.
    if (!named.has(label)) named.set(label, channel);
  }
  const labels = [...named.keys()].sort((a, b) => a.localeCompare(b, entry.locale));
  const choices = labels.map((label) => [named.get(label), label]);
  fill($("channel"), [["", t("form.none")], ...choices, [OTHER_CHANNEL, t("form.other_channel")]]);
  channelChanged();
}

/** Shows the field for a channel's name if the list does not have the channel. */
export function channelChanged() {
  $("channel-name-field").hidden = $("channel").value !== OTHER_CHANNEL;
}

/** Returns the form's field that holds the channel. */
export const channelField = () => ($("channel").value === OTHER_CHANNEL ? $("channel-name") : $("channel"));

/** Whether a language has no name for the listed channel that is chosen. Typed channels are spoken in any language. */
export function lacksChannel(locale) {
  const channel = $("channel").value;
  return channel !== "" && channel !== OTHER_CHANNEL && !entryOf(locale)?.channels.includes(channel);
}

/** Returns the currency of a language's region. */
export const currencyOf = (locale) => CURRENCIES.find((code) => code.startsWith(locale.slice(-2))) ?? "EUR";

/** Shows how to write an amount, and fills in the language's currency if nobody has changed it. */
function fillExample(locale) {
  const currency = currencyOf(locale);
  $("amount").placeholder = ["JPY", "KRW", "VND"].includes(currency) ? "12500" : "12.50";
  if (!$("currency").isChanged) $("currency").value = currency;
}
