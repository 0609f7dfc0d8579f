// SPDX-License-Identifier: Apache-2.0

// Helpers for the elements of the page.

import { t } from "./translations.js";

/** Returns the element with this id. */
export const $ = (id) => document.getElementById(id);

/** Makes an element. Names with a hyphen and `class` become attributes, other names become properties. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name === "class" || name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Makes a label that says a state; `kind` is `good`, `warn`, `bad` or empty. */
export const tag = (kind, text) => make("span", { class: `tag ${kind}` }, text);

/** Makes the place of a row's buttons and labels. */
export const buttons = (...children) => make("div", { class: "buttons" }, ...children);

/** Makes a small button of a row. `online` says whether it needs the service. */
export function rowButton(text, label, work, { online = true } = {}) {
  const button = make("button", { type: "button", class: "quiet", "aria-label": label }, text);
  button.classList.toggle("online", online);
  reflect(button);
  button.addEventListener("click", () => busy(button, work));
  return button;
}

/** Sets an element's text if it differs. Setting the same text again would make a screen reader repeat a status. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows a short status; `kind` is `good`, `bad` or empty. */
export function showPill(element, text, kind) {
  setText(element, text);
  element.className = `pill ${kind}`;
}

/** Replaces a select's options with `[value, label]` pairs, and keeps the selected value if it is still offered. */
export function fill(select, choices) {
  const before = select.value;
  select.replaceChildren(...choices.map(([value, label]) => make("option", { value }, label)));
  if (choices.some(([value]) => value === before)) select.value = before;
}

/**
 * Enables or disables a button. A disabled button can still have the focus. A button of the class `online` is also
 * disabled while the page is not connected.
 */
export function allow(button, isAllowed) {
  button.isRefused = !isAllowed;
  reflect(button);
}

/** Shows whether a control may be used. Fields are disabled by the browser's means, because they have no handler. */
export function reflect(control) {
  const isOffline = control.matches(".online") && document.documentElement.matches(".not-connected");
  if (control.labels && control.tagName !== "BUTTON") control.disabled = isOffline || Boolean(control.isRefused);
  else if (isOffline || control.isRefused) control.setAttribute("aria-disabled", "true");
  else control.removeAttribute("aria-disabled");
}

export const isAllowed = (button) => button.getAttribute("aria-disabled") !== "true";

/** Runs a button's work unless it is already running. The button keeps the focus meanwhile. */
export async function busy(button, work) {
  if (!isAllowed(button)) return;
  allow(button, false);
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } finally {
    allow(button, true);
    button.removeAttribute("aria-busy");
  }
}

/** Runs `work` when the person activates the button, unless the button is disabled. */
export function onClick(id, work) {
  $(id).addEventListener("click", (event) => { if (isAllowed($(id))) work(event); });
}

/** Runs `work` when the person sends a form, with the button that sends it, unless it is already running. */
export function onSubmit(form, button, work) {
  $(form).addEventListener("submit", (event) => {
    event.preventDefault();
    busy($(button), work);
  });
}

/** Returns why the browser gives this page no microphone and no place on the home screen; null if it gives them. */
export const whyInsecure = () => (isSecureContext ? null : t("page.insecure"));
