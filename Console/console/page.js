// SPDX-License-Identifier: Apache-2.0

// Helpers for the elements of the page.

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

/** Enables or disables a button. A disabled button can still have the focus. */
export function allow(button, isAllowed) {
  if (isAllowed) button.removeAttribute("aria-disabled");
  else button.setAttribute("aria-disabled", "true");
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
