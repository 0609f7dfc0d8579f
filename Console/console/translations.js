// SPDX-License-Identifier: Apache-2.0

// The language of the interface. Every text is in languages/<locale>.json; modules and index.html name it by its key.

/** The languages of the interface. The first is the one that is used if the browser asks for none of the others. */
export const LANGUAGES = ["en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR", "zh-CN"];

/** A text of the views that are loaded later. */
const VIEW_TEXT = "packs.title";

/** The name under which the browser stores the language that the person chose. */
const STORED = "crier.language";

/** The attributes whose text can be in the language files. `data-aria-label="key"` sets `aria-label`. */
const ATTRIBUTES = ["aria-label", "placeholder", "title"];

/** `hasViews` says whether the texts of the views that are loaded later are wanted too. */
const current = {
  locale: LANGUAGES[0], texts: {}, plurals: new Intl.PluralRules(LANGUAGES[0]), turn: 0, hasViews: false,
};

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

/** Reads a language file. Its texts are in groups: the text `shop.good` is the text `good` of the group `shop`. */
async function file(name) {
  const { direction, texts: groups } = await (await fetch(`/languages/${name}.json`)).json();
  const texts = Object.entries(groups).flatMap(([group, members]) =>
    Object.entries(members).map(([key, text]) => [`${group}.${key}`, text]));
  return { direction, texts: Object.fromEntries(texts) };
}

/** Loads the texts of the views that are not on the page from the start. */
export async function loadViewTexts() {
  if (current.texts[VIEW_TEXT]) return;
  current.hasViews = true;
  const { locale } = current;
  const { texts } = await file(`${locale}.views`);
  if (locale === current.locale) Object.assign(current.texts, texts);
  else await load(current.locale);
}

async function load(locale) {
  const turn = ++current.turn;
  const { direction, texts } = await file(locale);
  // The first file has the texts that the page always needs, the second those of the views that are loaded later.
  if (current.hasViews) Object.assign(texts, (await file(`${locale}.views`)).texts);
  if (turn !== current.turn) return;
  Object.assign(current, { locale, texts, plurals: new Intl.PluralRules(locale) });
  document.documentElement.lang = locale;
  document.documentElement.dir = direction;
  translate(document);
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

/** Returns a text of the views in a language that need not be the one of the interface. */
export async function textIn(locale, key) {
  if (locale === current.locale) return t(key);
  return (await file(`${locale}.views`)).texts[key];
}

/** Returns the name of a value that the service uses, such as a state. A value without a name is shown as it is. */
export const named = (group, value) => current.texts[`${group}.${value}`] ?? value;

/** Makes the elements of some HTML, with their texts. */
export function fragment(markup) {
  const template = document.createElement("template");
  template.innerHTML = markup;
  translate(template.content);
  return template.content;
}

/** Fills the texts of HTML. An element with `data-part` takes the place of its name in the text around it. */
function translate(root) {
  for (const element of root.querySelectorAll("[data-text]")) {
    const inner = [...element.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]);
    element.replaceChildren(...parts(element.dataset.text, Object.fromEntries(inner)));
  }
  for (const name of ATTRIBUTES) {
    for (const element of root.querySelectorAll(`[data-${name}]`)) {
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
