// SPDX-License-Identifier: Apache-2.0

// Asks before something is lost. The safe answer has the focus, and Escape gives it too.

import { $, setText } from "./page.js";

let answer = null;

/** Asks a question and returns whether the person agreed. `about` says what the question is about. */
export function ask({ title, about, yes, no, lang = "" }) {
  dismiss();
  setText($("ask-title"), title);
  setText($("ask-about"), about);
  $("ask-about").lang = lang;
  setText($("ask-yes"), yes);
  setText($("ask-no"), no);
  $("ask").showModal();
  $("ask-no").focus();
  return new Promise((resolve) => { answer = resolve; });
}

/** Closes the question with the safe answer, for example because the thing that it is about is gone. */
export const dismiss = () => close(false);

function close(isAgreed) {
  const resolve = answer;
  answer = null;
  if ($("ask").open) $("ask").close();
  resolve?.(isAgreed);
}

export function connectDialog() {
  // The browser reports a closed question a moment later. By then, the next question may already be open.
  $("ask").addEventListener("close", () => { if (!$("ask").open) close(false); });
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
