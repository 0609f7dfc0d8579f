// SPDX-License-Identifier: Apache-2.0

// The language of the interface. Every text is in languages/<locale>.json; modules and index.html name it by its key.

/** The languages of the interface. The first is the one that is used if the browser asks for none of the others. */
export const LANGUAGES = ["en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR", "zh-CN"];

/** The name under which the browser stores the language that the person chose. */
const STORED = "crier.language";

/** The attributes whose text can be in the language files. `data-aria-label="key"` sets `aria-label`. */
const ATTRIBUTES = ["aria-label", "placeholder", "title"];

const current = { locale: LANGUAGES[0], texts: {}, plurals: new Intl.PluralRules(LANGUAGES[0]), turn: 0 };

/** The functions that show texts made by modules again, in a new language. */
const listeners = [];

export const whenLanguageChanges = (listener) => { listeners.push(listener); };

/** The locale of the interface. */
export const interfaceLocale = () => current.locale;

function stored() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/** Returns the stored language, else the first of the browser's languages that the interface has, else English. */
function preferred() {
  const wanted = [stored(), ...navigator.languages].filter(Boolean);
  const found = wanted.map((tag) => LANGUAGES.find((locale) => locale === tag)
    ?? LANGUAGES.find((locale) => locale.split("-")[0] === tag.split("-")[0]));
  return found.find(Boolean) ?? LANGUAGES[0];
}

/** Loads the preferred language and fills the page's texts. */
export const startInterface = () => load(preferred());

/** Changes the language of the interface, and remembers it. */
export async function chooseLanguage(locale) {
  await load(locale);
  try {
    localStorage.setItem(STORED, locale);
  } catch {
    // The choice then holds until the page is closed.
  }
}

async function load(locale) {
  const turn = ++current.turn;
  const { direction, texts } = await (await fetch(`/languages/${locale}.json`)).json();
  if (turn !== current.turn) return;
  Object.assign(current, { locale, texts, plurals: new Intl.PluralRules(locale) });
  document.documentElement.lang = locale;
  document.documentElement.dir = direction;
  translatePage();
  for (const listener of listeners) listener();
}

/** Returns the text of a key. A text with plural forms takes the form of `values.count`. Numbers are formatted. */
export function t(key, values = {}) {
  return parts(key, values).join("");
}

/** Returns a text in parts, so that a value may be an element: `parts("key.help", { command: element })`. */
export function parts(key, values = {}) {
  const entry = current.texts[key];
  const text = typeof entry === "object" ? entry[current.plurals.select(values.count)] ?? entry.other : entry;
  return (text ?? key).split(/\{([a-z]+)\}/).map((part, index) => (index % 2 ? shown(values[part]) : part))
    .filter((part) => part !== "");
}

const shown = (value) =>
  (typeof value === "number" ? new Intl.NumberFormat(current.locale).format(value) : value ?? "");

/** Returns a text of a language that need not be the one of the interface. */
export async function textIn(locale, key) {
  if (locale === current.locale) return t(key);
  return (await (await fetch(`/languages/${locale}.json`)).json()).texts[key];
}

/** Returns the name of a value that the service uses, such as a state. A value without a name is shown as it is. */
export const named = (group, value) => current.texts[`${group}.${value}`] ?? value;

/** Fills the texts of index.html. An element with `data-part` takes the place of its name in the text around it. */
function translatePage() {
  for (const element of document.querySelectorAll("[data-text]")) {
    const inner = [...element.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]);
    element.replaceChildren(...parts(element.dataset.text, Object.fromEntries(inner)));
  }
  for (const name of ATTRIBUTES) {
    for (const element of document.querySelectorAll(`[data-${name}]`)) {
      element.setAttribute(name, t(element.getAttribute(`data-${name}`)));
    }
  }
}

/** Returns a language's name in that language. */
export const ownName = (locale) => languageName(locale, locale);

/** Returns a language's name, with its country if the tag names one, in the language of the interface or in another. */
export function languageName(locale, inLocale = current.locale) {
  try {
    return new Intl.DisplayNames([inLocale], { type: "language" }).of(locale);
  } catch {
    return locale;
  }
}
