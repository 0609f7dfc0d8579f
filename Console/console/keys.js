// SPDX-License-Identifier: Apache-2.0

// Who may use the service: links that sign people in, and API keys. Only a key with the scope `admin` sees them.

import { access, publicPart, whenKeyChanges } from "./access.js";
import { copyFrom } from "./curl.js";
import { ask } from "./dialog.js";
import { dayTime, list, meta, minuteTime, unit } from "./figures.js";
import { $, buttons, fill, make, onClick, onSubmit, rowButton, setText, tag } from "./page.js";
import { drawing } from "./qr.js";
import { showList } from "./rows.js";
import { Problem, attempt, json, sendJSON, showProblem } from "./service.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The HTML of the view. */
export const markup = `<section class="card" aria-labelledby="links-title">
  <h2 id="links-title" tabindex="-1" data-text="links.title"></h2>
  <p class="muted" data-text="links.about"></p>
  <p class="stale" hidden></p>
  <div id="link-made" class="made" tabindex="-1" hidden>
    <div id="link-qr" class="qr"></div>
    <div>
      <p id="link-about"></p>
      <p id="link-local" class="problem" data-text="links.local" hidden></p>
      <pre id="link-url" tabindex="0" data-aria-label="links.url"></pre>
      <div class="actions"><button id="link-copy" class="primary" data-text="links.copy"></button><button id="link-hide" data-text="keys.hide"></button></div>
    </div>
  </div>
  <form id="links-form" class="keys-form" novalidate>
    <div class="field"><label for="links-name" data-text="keys.name"></label><input id="links-name" autocomplete="off" data-placeholder="links.name_example" aria-describedby="links-problem"></div>
    <div class="field"><label for="links-account" data-text="keys.account"></label><input id="links-account" autocomplete="off" spellcheck="false" data-placeholder="keys.account_example"></div>
    <div class="field"><label for="links-days" data-text="links.days"></label><select id="links-days"></select></div>
    <fieldset class="scopes"><legend data-text="links.role"></legend>
      <label class="check role"><input type="radio" name="links-scope" value="till" checked><span><strong data-text="links.till"></strong> <span class="muted" data-text="links.till_about"></span></span></label>
      <label class="check role"><input type="radio" name="links-scope" value="operator"><span><strong data-text="links.operator"></strong> <span class="muted" data-text="links.operator_about"></span></span></label>
    </fieldset>
    <div class="actions"><button type="submit" id="links-create" class="primary online" data-text="links.create"></button></div>
  </form>
  <p id="links-problem" class="problem" role="alert" hidden></p>
  <ul id="links" class="rows" data-aria-label="links.waiting"></ul>
</section>
<section class="card" aria-labelledby="keys-title">
  <h2 id="keys-title" tabindex="-1" data-text="keys.title"></h2>
  <p class="stale" hidden></p>
  <div id="key-made" class="made" tabindex="-1" hidden>
    <div>
      <p id="key-made-about"></p>
      <pre id="key-made-text" tabindex="0" data-aria-label="key.label"></pre>
      <div class="actions"><button id="key-made-copy" class="primary" data-text="action.copy"></button><button id="key-made-hide" data-text="keys.hide"></button></div>
    </div>
  </div>
  <p id="keys-problem" class="problem" role="alert" hidden></p>
  <ul id="keys" class="rows" aria-labelledby="keys-title"></ul>
  <details class="more">
    <summary data-text="keys.new"></summary>
    <form id="keys-form" class="keys-form" novalidate>
      <div class="field"><label for="keys-name" data-text="keys.name"></label><input id="keys-name" autocomplete="off" data-placeholder="keys.name_example"></div>
      <div class="field"><label for="keys-account" data-text="keys.account"></label><input id="keys-account" autocomplete="off" spellcheck="false" data-placeholder="keys.account_example"></div>
      <div class="field"><label for="keys-expires" data-text="keys.expires"></label><select id="keys-expires"></select></div>
      <fieldset class="scopes"><legend data-text="keys.scopes"></legend><div id="keys-scopes"></div></fieldset>
      <div class="actions"><button type="submit" id="keys-create" class="primary online" data-text="keys.create"></button></div>
    </form>
  </details>
</section>`;

/** The scopes, and whether a new key has them unless the person decides otherwise. */
const SCOPES = [["announce", true], ["read", true], ["play", false], ["admin", false]];

/** The durations that the form offers for a new key, in days. */
const LIFETIMES = [30, 90, 365];

/** The durations that the form offers for the key of a link, in days. The last one is chosen at first. */
const STAYS = [1, 7, 30, 90, 365];

/** The time before its end from which on a key is marked, in milliseconds. */
const SOON = 7 * 24 * 3600 * 1000;

const days = (count) => unit(count, "day", 0, "long");

/** The hosts of links that work only on the service's own machine. */
const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

const shown = { keys: [], links: [] };

/** The id of the link that is shown, and its timer. */
let shownLink = null, timer;

/** Asks for the keys, and for the links that nobody has opened yet. */
export async function refresh() {
  await attempt($("keys-problem"), async () => {
    [{ keys: shown.keys }, { sign_in_codes: shown.links }] = await Promise.all([json("/v1/keys"), json("/v1/sign-in-codes")]);
    showKeys();
    if (shownLink && !shown.links.some(({ id }) => id === shownLink)) hideLink();
  }, { isRefresh: true });
  // An opened link leaves the page.
  clearTimeout(timer);
  if (shownLink) timer = setTimeout(() => shownLink && refresh(), 5000);
}

whenLanguageChanges(() => { showChoices(); showKeys(); });

whenKeyChanges(() => {
  Object.assign(shown, { keys: [], links: [] });
  for (const id of ["keys", "links"]) $(id).replaceChildren();
  hideMadeKey();
  hideLink();
  for (const id of ["keys-problem", "links-problem"]) showProblem($(id), null);
});

function showChoices() {
  const isNew = !$("links-days").options.length;
  fill($("links-days"), STAYS.map((count) => [String(count), days(count)]));
  if (isNew) $("links-days").value = String(STAYS.at(-1));
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
  showList($("links"), shown.links, {
    keyOf: ({ id }) => id, create: linkRow, none: "", fallback: $("links-title"), staysInList: false,
  });
}

function linkRow({ id, name, scope, account, expires_at: end }) {
  const about = [
    t("links.waiting"), named("scope.short", scope), t("keys.account_named", { account }),
    t("keys.expires_at", { time: dayTime(end) }),
  ];
  return make("li", {},
    make("div", {}, make("p", { class: "title", translate: false }, name), meta(about)),
    buttons(rowButton(t("keys.revoke"), t("keys.revoke_named", { name }), () => takeBack(id))));
}

async function takeBack(id) {
  $("links-title").focus();
  const isDone = await attempt($("links-problem"), () =>
    json(`/v1/sign-in-codes/${encodeURIComponent(id)}`, { method: "DELETE" }));
  if (isDone === undefined) return;
  hideLink();
  await refresh();
}

function row(key) {
  const isOurs = publicPart(access.key) === `crier_${key.id}`;
  const about = [
    t("keys.account_named", { account: key.account }), list(key.scopes.map((scope) => named("scope.short", scope))),
    t("keys.made_at", { time: dayTime(key.created_at) }),
    key.last_used_at && t("keys.used_at", { time: dayTime(key.last_used_at) }),
    key.expires_at && t("keys.expires_at", { time: dayTime(key.expires_at) }),
  ];
  const name = titleOf(key);
  const revoke = rowButton(t("keys.revoke"), t("keys.revoke_named", { name }), () => askAndRevoke(key));
  const rotate = rowButton(t("keys.rotate"), t("keys.rotate_named", { name }), () => askAndRotate(key));
  return make("li", {},
    make("div", {},
      make("p", { class: "title", translate: false }, titleOf(key)),
      meta(about)),
    buttons(status(key, isOurs), ...(isAlive(key) && !isOurs ? [rotate, revoke] : [])));
}

const titleOf = (key) => (key.name ? `${key.name} · ${key.id}` : key.id);

const endsWithin = (key, time) => key.expires_at && new Date(key.expires_at) - Date.now() < time;

const isAlive = (key) => !key.revoked_at && !endsWithin(key, 0);

function status(key, isOurs) {
  if (key.revoked_at) return tag("bad", t("keys.revoked"));
  if (endsWithin(key, 0)) return tag("bad", t("keys.expired"));
  if (isOurs) return tag("good", t("keys.in_use"));
  return endsWithin(key, SOON) ? tag("warn", t("keys.ends_soon")) : null;
}

async function create() {
  const body = { scopes: scopes() };
  for (const field of ["name", "account", "expires"]) {
    const value = $(`keys-${field}`).value.trim();
    if (value) body[field] = value;
  }
  const made = await attempt($("keys-problem"), () => sendJSON("/v1/keys", "POST", body));
  if (!made) return;
  $("keys-name").value = "";
  showMadeKey(made.key, t("keys.made"));
}

function showMadeKey(key, about) {
  setText($("key-made-about"), about);
  setText($("key-made-text"), key);
  $("key-made").hidden = false;
  $("key-made").focus();
  refresh();
}

/** Makes a key that takes the place of another. The former key stays valid for a while. */
async function askAndRotate(key) {
  const isAgreed = await ask({
    title: t("keys.rotate_ask"), about: t("keys.rotate_about", { name: titleOf(key) }),
    yes: t("keys.rotate"), no: t("keys.ask_no"),
  });
  if (!isAgreed) return;
  const path = `/v1/keys/${encodeURIComponent(key.id)}/rotate`;
  const made = await attempt($("keys-problem"), () => json(path, { method: "POST" }));
  if (made) showMadeKey(made.key, t("keys.rotated", { name: titleOf(key) }));
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
  if (isDone) await refresh();
}

/** Removes the new key from the page. It is not stored anywhere else in the browser. */
function hideMadeKey() {
  setText($("key-made-text"), "");
  $("key-made").hidden = true;
}

// MARK: Links

async function makeLink() {
  const name = $("links-name").value.trim();
  const account = $("links-account").value.trim();
  $("links-name").toggleAttribute("aria-invalid", false);
  if (!name) {
    $("links-name").setAttribute("aria-invalid", "true");
    $("links-name").focus();
    showProblem($("links-problem"), new Problem({ code: "name_missing", detail: t("links.name_missing") }));
    return;
  }
  const { value: scope } = document.querySelector("[name=links-scope]:checked");
  const body = { scope, name, days: Number($("links-days").value), ...(account ? { account } : {}) };
  const made = await attempt($("links-problem"), () => sendJSON("/v1/sign-in-codes", "POST", body));
  if (!made) return;
  $("links-name").value = "";
  $("link-qr").replaceChildren(...(made.qr ? [drawing(made.qr, t("links.qr", { name }))] : []));
  setText($("link-about"), t("links.made", { name, time: minuteTime(made.expires_at) }));
  setText($("link-url"), made.url);
  $("link-local").hidden = !LOCAL.includes(new URL(made.url).hostname);
  $("link-made").hidden = false;
  $("link-made").focus();
  shownLink = made.id;
  refresh();
}

/** Removes the link from the page. Its code works until it was used or is out of date. */
function hideLink() {
  shownLink = null;
  $("link-made").hidden = true;
  $("link-qr").replaceChildren();
  setText($("link-url"), "");
}

export function connect() {
  showChoices();
  onSubmit("links-form", "links-create", makeLink);
  onClick("link-copy", () => copyFrom($("link-url"), $("link-copy")));
  onClick("link-hide", () => {
    hideLink();
    $("links-title").focus();
  });
  onSubmit("keys-form", "keys-create", create);
  onClick("key-made-copy", () => copyFrom($("key-made-text"), $("key-made-copy")));
  onClick("key-made-hide", () => {
    hideMadeKey();
    $("keys-title").focus();
  });
}
