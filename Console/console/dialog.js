// SPDX-License-Identifier: Apache-2.0

// Dialogs, and the question before something is lost. Its safe answer has the focus, and Escape gives it too.

import { $, setText } from "./page.js";
import { heirOf } from "./rows.js";
import { fragment } from "./translations.js";

let answer = null;

/** The element that had the focus when a dialog was opened, by the dialog. */
const openers = new Map();

/** Opens a dialog and moves the focus to an element in it. */
export function openDialog(dialog, first) {
  openers.set(dialog, document.activeElement);
  dialog.showModal();
  first.focus();
}

/**
 * Gives the focus back after a dialog was closed. The browser does so itself, unless the row of the button that had the
 * focus was made again or removed meanwhile.
 */
function giveFocusBack(dialog) {
  const opener = openers.get(dialog);
  openers.delete(dialog);
  if (!opener) return;
  // The browser takes the focus out of a closed dialog later.
  const { activeElement } = document;
  if (activeElement === document.body || dialog.contains(activeElement)) heirOf(opener)?.focus();
}

/** Asks a question and returns whether the person agreed. `about` says what the question is about. */
export function ask({ title, about, yes, no, lang = "" }) {
  dismiss();
  setText($("ask-title"), title);
  setText($("ask-about"), about);
  $("ask-about").lang = lang;
  setText($("ask-yes"), yes);
  setText($("ask-no"), no);
  openDialog($("ask"), $("ask-no"));
  return new Promise((resolve) => { answer = resolve; });
}

/** Closes the question with the safe answer, for example because the thing that it is about is gone. */
export const dismiss = () => close(false);

function close(isAgreed) {
  const resolve = answer;
  answer = null;
  if ($("ask").open) $("ask").close();
  giveFocusBack($("ask"));
  resolve?.(isAgreed);
}

/** Calls `work` after the dialog was closed. It may have been opened again before the event. */
const whenClosed = (dialog, work) => dialog.addEventListener("close", () => { if (!dialog.open) work(); });

/** Adds a dialog from its HTML. */
export function addDialog(markup) {
  const page = fragment(markup);
  const [dialog] = page.children;
  document.body.append(page);
  whenClosed(dialog, () => giveFocusBack(dialog));
}

export function connectDialog() {
  // Escape ends the question at once. Until the event "close", which comes with the next frame, the button that asked
  // would stay busy.
  $("ask").addEventListener("cancel", () => close(false));
  whenClosed($("ask"), () => close(false));
  whenClosed($("ask"), () => giveFocusBack($("ask")));
  $("ask-no").addEventListener("click", () => close(false));
  // The second click of a double click was meant for the button that opened the question.
  $("ask-yes").addEventListener("click", (event) => { if (event.detail < 2) close(true); });
  // A key that is held down activates a button once.
  document.addEventListener("keydown", (event) => {
    const activates = event.key === "Enter" || event.key === " ";
    if (event.repeat && activates && event.target.closest("button, a, summary, input:not([type=text])")) {
      event.preventDefault();
    }
  }, { capture: true });
}
