// SPDX-License-Identifier: Apache-2.0

// The curl command that sends the same request as the console.

import { access } from "./access.js";
import { $, make, setText } from "./page.js";
import { t } from "./translations.js";

/** Returns a command for a POSIX shell that sends the same bytes to the same path. */
export function curl(sent, withKey) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  // The key goes through a pipe, because other users can see the arguments of a running curl.
  const key = withKey ? quoted(access.key) : '"$CRIER_KEY"';
  return [
    `printf 'Authorization: Bearer %s\\n' ${key} | curl -sS ${location.origin}${sent.path}`,
    "  -H @- -H 'Content-Type: application/json'",
    `  --data-binary ${quoted(sent.body)}`,
  ].join(" \\\n");
}

/** Copies a text to the clipboard. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // The clipboard is available in secure contexts only. The deprecated command works in the others.
    const field = make("textarea", { value: text, class: "hidden" });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

/** Copies the command to the clipboard. */
export async function copyCurl(sent) {
  const button = $("copy");
  await copy(curl(sent, $("with-key").checked));
  button.focus();
  button.textContent = t("action.copied");
  setText($("live"), t("curl.copied"));
  setTimeout(() => { button.textContent = t("action.copy"); }, 2000);
}

/** Copies a text, and says so on the button. */
export async function copyFrom(source, button) {
  const before = button.textContent;
  await copy(source.textContent);
  setText(button, t("action.copied"));
  setTimeout(() => setText(button, before), 2000);
}
