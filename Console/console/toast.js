// SPDX-License-Identifier: Apache-2.0

// A short message about what was just done, which leaves by itself. It may offer to take it back.

import { $, make, rowButton } from "./page.js";

/** How long a message stays, in milliseconds. One that is being used stays longer. */
const [SHOWN, SHOWN_AT_MOST] = [12000, 60000];

/** Shows a message. `action` is the text of its button, and `work` what it does; the message leaves if it succeeds. */
export function toast(text, { action, work, lang = "" } = {}) {
  const message = make("li", {}, make("p", { lang, translate: false }, text));
  if (action) {
    message.append(rowButton(action, `${action}: ${text}`, async () => { if (await work()) leave(message); }));
  }
  $("toasts").append(message);
  const until = performance.now() + SHOWN_AT_MOST;
  const end = () => {
    const isInUse = message.matches(":hover, :focus-within") && performance.now() < until;
    if (isInUse) setTimeout(end, 1000);
    else leave(message);
  };
  setTimeout(end, SHOWN);
}

function leave(message) {
  const hadFocus = message.contains(document.activeElement);
  message.remove();
  if (hadFocus) document.querySelector(".view:not([hidden]) :is(h2, section)[tabindex]")?.focus();
}
