// SPDX-License-Identifier: Apache-2.0

// The view in which somebody tries an announcement: the form and its preview.

import { announce, clearFault, hear, hearEverywhere, isText, showAnnounceAbout } from "./form.js";
import { channelChanged, languageChanged, loadLanguages, loadPacks, speakable } from "./languages.js";
import { $, busy, onClick, onSubmit, setText } from "./page.js";
import { connectPreview, preview } from "./preview.js";
import { forgetUnanswered } from "./sending.js";
import { attempt } from "./service.js";
import { t } from "./translations.js";

export { tryMarkup as markup } from "./markup.js";

/** Shows the form, and loads what it offers. */
export async function refresh() {
  setText($("preview-title"), t("preview.title"));
  showAnnounceAbout();
  await preview.moveTo($("try-preview"));
  await attempt($("form-problem"), async () => {
    if (!speakable.locales.length) await loadLanguages();
    await loadPacks();
  }, { isRefresh: speakable.locales.length > 0 });
}

/** Connects the controls of the view. */
export function connect() {
  connectPreview();
  onSubmit("form", "hear", hear);
  onClick("everywhere", () => busy($("everywhere"), hearEverywhere));
  onClick("announce", () => busy($("announce"), announce));
  $("form").addEventListener("input", ({ target }) => {
    forgetUnanswered();
    clearFault(target);
  });
  $("currency").addEventListener("input", () => { $("currency").isChanged = true; });
  $("currency").addEventListener("change", ({ target }) => { target.value = target.value.trim().toUpperCase(); });
  $("locale").addEventListener("change", languageChanged);
  $("channel").addEventListener("change", channelChanged);
  for (const choice of ["what-payment", "what-text"]) {
    $(choice).addEventListener("change", () => {
      $("payment-fields").hidden = isText();
      $("text-fields").hidden = !isText();
    });
  }
}
