// SPDX-License-Identifier: Apache-2.0

// Signing in with a link, whose one-time code the service exchanges for a key.

import { access } from "./access.js";
import { ask } from "./dialog.js";
import { $ } from "./page.js";
import { attempt, json } from "./service.js";
import { loadViewTexts, t } from "./translations.js";

/**
 * Exchanges the code of the address for a key, and signs in with it. Somebody who is signed in already is asked first,
 * because the author of the link would see everything that is announced with the key.
 */
export async function useCode(signIn) {
  const { code, key } = access;
  access.code = null;
  await loadViewTexts();
  if (key) {
    signIn();
    const isAgreed = await ask({
      title: t("signin.ask"), about: t("signin.ask_about"), yes: t("signin.yes"), no: t("key.keep"),
    });
    if (!isAgreed) return;
  }
  const made = await attempt($("key-problem"), () =>
    json("/v1/sign-ins", { method: "POST", body: JSON.stringify({ code }), isOpen: true }));
  if (made) {
    access.keep(made.key, true);
    signIn();
    return;
  }
  // The problem stays beside the field for a key.
  $("key-panel").hidden = false;
  $("key-keep").hidden = !access.key;
  $("key").focus();
}
