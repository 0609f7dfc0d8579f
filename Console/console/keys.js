// SPDX-License-Identifier: Apache-2.0

// API keys: who may use the service. Only a key with the scope `admin` sees them.

import { access, publicPart, whenKeyChanges } from "./access.js";
import { copy } from "./curl.js";
import { ask } from "./dialog.js";
import { dayTime, days, dotted, list } from "./figures.js";
import { $, busy, fill, make, onClick, rowButton, setText } from "./page.js";
import { showList } from "./rows.js";
import { Problem, attempt, isObsolete, json, sendJSON, showProblem } from "./service.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The scopes, and whether a new key has them unless the person decides otherwise. */
const SCOPES = [["announce", true], ["read", true], ["play", false], ["admin", false]];

/** The durations that the form offers for a new key, in days. */
const LIFETIMES = [30, 90, 365];

const shown = { keys: [] };

/**
 * Asks for the keys. Returns whether the key in use may see them. If the answer does not tell, as when the service is
 * busy, returns null.
 */
export async function refreshKeys() {
  try {
    shown.keys = (await json("/v1/keys")).keys;
    showProblem($("keys-problem"), null);
    showKeys();
    return true;
  } catch (error) {
    if (isObsolete(error)) return null;
    if (!(error instanceof Problem)) throw error;
    showProblem($("keys-problem"), error);
    return error.status === 401 || error.status === 403 ? false : null;
  }
}

whenLanguageChanges(() => { showChoices(); showKeys(); });

whenKeyChanges(() => {
  shown.keys = [];
  $("keys").replaceChildren();
  hideMadeKey();
  showProblem($("keys-problem"), null);
});

function showChoices() {
  fill($("keys-expires"), [["", t("keys.never")], ...LIFETIMES.map((count) => [`${count}d`, days(count)])]);
  const chosen = new Set(scopes());
  const isFirst = !$("keys-scopes").children.length;
  $("keys-scopes").replaceChildren(...SCOPES.map(([scope, isUsual]) => {
    const box = make("input", { type: "checkbox", value: scope, checked: isFirst ? isUsual : chosen.has(scope) });
    return make("label", { class: "check" }, box, make("span", {}, named("scope", scope)));
  }));
}

const scopes = () => [...$("keys-scopes").querySelectorAll(":checked")].map(({ value }) => value);

function showKeys() {
  showList($("keys"), shown.keys, {
    keyOf: ({ id }) => id, create: row, none: t("keys.none"), fallback: $("keys-title"), staysInList: false,
  });
}

function row(key) {
  const isOurs = publicPart(access.key) === `crier_${key.id}`;
  const about = [
    t("keys.account_named", { account: key.account }), list(key.scopes.map((scope) => named("scope.short", scope))),
    t("keys.made_at", { time: dayTime(key.created_at) }),
    key.last_used_at && t("keys.used_at", { time: dayTime(key.last_used_at) }),
    key.expires_at && t("keys.expires_at", { time: dayTime(key.expires_at) }),
  ];
  const revoke = rowButton(t("keys.revoke"), t("keys.revoke_named", { name: titleOf(key) }), () => askAndRevoke(key));
  return make("li", {},
    make("div", {},
      make("p", { class: "title", translate: false }, titleOf(key)),
      make("p", { class: "meta" }, ...dotted(about))),
    make("div", { class: "buttons" }, status(key, isOurs), key.revoked_at || isOurs ? null : revoke));
}

const titleOf = (key) => (key.name ? `${key.name} · ${key.id}` : key.id);

function status(key, isOurs) {
  if (key.revoked_at) return make("span", { class: "tag bad" }, t("keys.revoked"));
  const hasExpired = key.expires_at && new Date(key.expires_at) < new Date();
  if (hasExpired) return make("span", { class: "tag bad" }, t("keys.expired"));
  return isOurs ? make("span", { class: "tag good" }, t("keys.in_use")) : null;
}

async function create() {
  const body = { scopes: scopes() };
  for (const field of ["name", "account", "expires"]) {
    const value = $(`keys-${field}`).value.trim();
    if (value) body[field] = value;
  }
  const made = await attempt($("keys-problem"), () => sendJSON("/v1/keys", "POST", body));
  if (!made) return;
  setText($("key-made-text"), made.key);
  $("key-made").hidden = false;
  $("key-made").focus();
  $("keys-name").value = "";
  refreshKeys();
}

async function askAndRevoke(key) {
  const isAgreed = await ask({
    title: t("keys.ask"), about: t("keys.ask_about", { name: titleOf(key) }),
    yes: t("keys.revoke"), no: t("keys.ask_no"),
  });
  if (!isAgreed) return;
  $("keys-title").focus();
  const isDone = await attempt($("keys-problem"), () =>
    json(`/v1/keys/${encodeURIComponent(key.id)}`, { method: "DELETE" }));
  if (isDone) await refreshKeys();
}

/** Removes the new key from the page. It is not stored anywhere else in the browser. */
export function hideMadeKey() {
  setText($("key-made-text"), "");
  $("key-made").hidden = true;
}

export function connectKeys() {
  $("keys-form").addEventListener("submit", (event) => {
    event.preventDefault();
    busy($("keys-create"), create);
  });
  onClick("key-made-copy", async () => {
    await copy($("key-made-text").textContent);
    setText($("key-made-copy"), t("action.copied"));
    setTimeout(() => setText($("key-made-copy"), t("action.copy")), 2000);
  });
  onClick("key-made-hide", () => {
    hideMadeKey();
    $("keys-title").focus();
  });
}
