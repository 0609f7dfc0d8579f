// SPDX-License-Identifier: Apache-2.0

// The list of voice packs.

import { languageName } from "./figures.js";
import { loadPacks, speakable } from "./languages.js";
import { $, make } from "./page.js";

/** Loads the voice packs and lists them. */
export async function showPacks() {
  await loadPacks();
  const rows = speakable.packs.map((pack) => (pack.error ? faultyPack(pack) : usablePack(pack)));
  const none = "No voice packs are installed. The speech engine speaks every announcement.";
  $("packs").replaceChildren(...(rows.length ? rows : [make("li", { class: "none" }, none)]));
}

function titleLine(pack, kind, status) {
  return make("div", { class: "line" },
    make("p", { class: "title" }, pack.id),
    make("span", { class: `tag ${kind}` }, status));
}

function faultyPack(pack) {
  const { code, message } = pack.error;
  return make("li", {}, titleLine(pack, "bad", code), make("p", { class: "meta" }, message));
}

function usablePack(pack) {
  const missing = pack.missing_count ?? 0;
  const about = [pack.locale && languageName(pack.locale, "en"), pack.speaker, pack.licence, `${pack.clips} clips`];
  return make("li", {},
    missing === 0 ? titleLine(pack, "good", "complete") : titleLine(pack, "bad", `${missing} missing`),
    make("p", { class: "meta" }, about.filter(Boolean).join(" · ")),
    make("progress", {
      max: Math.max(1, pack.tokens + missing), value: pack.tokens, "aria-label": `Coverage of ${pack.id}`,
    }),
    missing === 0 ? null : missingWords(pack.missing ?? [], missing));
}

/** Makes the list of missing words. The service names the first ones only. */
function missingWords(names, count) {
  const more = count > names.length ? ` and ${count - names.length} more` : null;
  return make("details", {},
    make("summary", {}, "Missing words"),
    make("p", { class: "meta" }, make("code", {}, names.join("  ")), more));
}
