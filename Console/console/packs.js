// SPDX-License-Identifier: Apache-2.0

// The list of voice packs.

import { openPack } from "./clips.js";
import { loadPacks, speakable } from "./languages.js";
import { $, make, rowButton } from "./page.js";
import { attempt } from "./service.js";
import { languageName, parts, t, whenLanguageChanges } from "./translations.js";

/** The texts for the reasons why a pack speaks. */
const REASONS = {
  setting: "packs.speaks_setting", chosen: "packs.speaks_chosen", first: "packs.speaks_first",
};

let isLoaded = false;

/** Loads the voice packs and lists them. */
export async function refreshPacks() {
  await attempt($("packs-problem"), async () => {
    await loadPacks();
    isLoaded = true;
    showPacks();
  }, { isRefresh: true });
}

whenLanguageChanges(() => { if (isLoaded) showPacks(); });

function showPacks() {
  const rows = speakable.packs.map((pack) => (pack.error ? faultyPack(pack) : usablePack(pack)));
  $("packs").replaceChildren(...(rows.length ? rows : [make("li", { class: "none" }, t("packs.none"))]));
}

function titleLine(pack, kind, status) {
  return make("div", { class: "line" },
    make("p", { class: "title", translate: false }, pack.id),
    make("span", { class: `tag ${kind}` }, status));
}

function faultyPack(pack) {
  const { code, message } = pack.error;
  return make("li", {}, make("div", {},
    titleLine(pack, "bad", code),
    pack.speaks ? speaksLine(t("packs.speaks_earlier")) : null,
    make("p", { class: "meta", lang: "en" }, message)));
}

const speaksLine = (text) => make("p", { class: "speaks" }, text);

function usablePack(pack) {
  const missing = pack.missing_count ?? 0;
  const about = [
    pack.locale && languageName(pack.locale), pack.speaker, pack.licence, t("packs.clips", { count: pack.clips }),
  ];
  const listen = rowButton(t("packs.listen"), t("packs.listen_named", { pack: pack.id }), () => openPack(pack.id));
  return make("li", {},
    make("div", {},
      missing === 0
        ? titleLine(pack, "good", t("packs.complete"))
        : titleLine(pack, "bad", t("packs.missing", { count: missing })),
      pack.speaks ? speaksLine(t(REASONS[pack.speaks], { language: languageName(pack.locale) })) : null,
      make("p", { class: "meta" }, about.filter(Boolean).join(" · ")),
      make("progress", {
        max: Math.max(1, pack.tokens + missing), value: pack.tokens,
        "aria-label": t("packs.coverage", { pack: pack.id }),
      }),
      missing === 0 ? null : missingWords(pack.missing ?? [], missing)),
    make("div", { class: "buttons" }, listen));
}

/** Makes the list of missing words. The service names the first ones only. */
function missingWords(names, count) {
  const words = make("code", {}, names.join("  "));
  const rest = count - names.length;
  return make("details", {},
    make("summary", {}, t("packs.missing_words")),
    make("p", { class: "meta" }, ...(rest > 0 ? parts("packs.and_more", { words, count: rest }) : [words])));
}
