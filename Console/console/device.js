// SPDX-License-Identifier: Apache-2.0

// The page of a phone: what can be pushed to it, what came of the last pushes, and a test.

import { whenKeyChanges } from "./access.js";
import { ask } from "./dialog.js";
import { dayTime, meta } from "./figures.js";
import { $, busy, buttons, make, onClick, setText, tag } from "./page.js";
import { showList } from "./rows.js";
import { attempt, json, showProblem } from "./service.js";
import { languageName, named, t, whenLanguageChanges } from "./translations.js";

export const markup = `<section id="device-card" class="card" aria-labelledby="device-title" hidden>
  <p class="back"><a href="#view=devices" data-text="devices.all"></a></p>
  <div class="head"><h2 id="device-title" tabindex="-1" translate="no"></h2>
    <div class="actions">
      <button id="device-test" class="online" data-may="announce" data-text="device.test"></button>
      <button id="device-remove" class="danger online" data-may="announce" data-text="devices.remove"></button>
    </div></div>
  <p class="stale" hidden></p>
  <p id="device-problem" class="problem" role="alert" hidden></p>
  <p id="device-tested" class="told" role="status" hidden></p>
  <dl id="device-facts" class="facts plain"></dl>
  <h3 id="tokens-title" data-text="device.tokens"></h3>
  <ul id="tokens" class="rows" aria-labelledby="tokens-title"></ul>
  <h3 id="pushes-title" data-text="device.pushes"></h3>
  <ul id="pushes" class="rows" aria-labelledby="pushes-title"></ul>
</section>`;

/** The number of pushes that are shown. */
const LATEST = 20;

/** The colour of each state's label. */
const COLOURS = { delivered: "good", failed: "bad", expired: "bad", unregistered: "bad" };

/** The id of the device that is shown, the device, its last pushes, and what came of the test. */
const shown = { id: null, device: null, pushes: [], tested: null };

const pathOf = (id) => `/v1/devices/${encodeURIComponent(id)}`;

/** Shows the page of a device, or hides it. */
export async function showDevice(id) {
  const isNew = id !== shown.id;
  if (isNew) Object.assign(shown, { id, device: null, pushes: [], tested: null });
  $("device-card").hidden = id === null;
  if (id === null) return;
  if (isNew) show();
  await attempt($("device-problem"), async () => {
    const device = await json(pathOf(id));
    const after = Math.max(0, device.last_sequence - LATEST);
    const { announcements } = await json(`${pathOf(id)}/announcements?limit=${LATEST}&after=${after}`);
    if (shown.id !== id) return;
    Object.assign(shown, { device, pushes: announcements.reverse() });
    show();
  }, { isRefresh: !isNew });
  if (isNew) $("device-title").focus({ preventScroll: true });
}

whenLanguageChanges(() => { if (shown.id) show(); });

whenKeyChanges(() => {
  Object.assign(shown, { id: null, device: null, pushes: [], tested: null });
  $("device-card").hidden = true;
  for (const id of ["device-facts", "tokens", "pushes"]) $(id).replaceChildren();
  showProblem($("device-problem"), null);
});

function show() {
  const { id, device, pushes, tested } = shown;
  setText($("device-title"), id);
  $("device-tested").hidden = !tested;
  if (tested) showTested(tested);
  $("device-facts").replaceChildren(...(device ? facts(device) : []));
  const tokens = Object.entries(device?.tokens ?? {})
    .map(([kind, token]) => ({ kind, ...token, last: device.last_outcomes?.[kind] }));
  showList($("tokens"), tokens, {
    keyOf: ({ kind }) => kind, create: tokenRow, none: device && t("device.no_tokens"), fallback: $("device-title"),
  });
  showList($("pushes"), pushes, {
    keyOf: ({ sequence }) => sequence, create: pushRow, none: device && t("pushes.none"), fallback: $("device-title"),
  });
}

function facts(device) {
  const entries = [
    [t("device.app"), device.bundle_id], [t("device.environment"), named("devices.environment", device.environment)],
    [t("devices.group"), device.device_group], [t("form.language"), device.locale && languageName(device.locale)],
    [t("device.tone"), device.tone], [t("device.registered"), dayTime(device.registered_at)],
    [t("device.changed"), dayTime(device.changed_at)],
  ];
  return entries.filter(([, value]) => value)
    .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
}

/** Returns the label of an outcome; nothing if there was none. */
export const outcomeOf = (outcome) =>
  (outcome ? tag(COLOURS[outcome.state] ?? "", named("pushes.state", outcome.state)) : null);

function tokenRow({ kind, registered_at: registered, refusals, last }) {
  const about = [
    t("device.token_since", { time: dayTime(registered) }), refusals ? t("devices.refusals", { count: refusals }) : null,
    last?.at && t("device.last_push", { time: dayTime(last.at) }), last?.reason && make("code", {}, last.reason),
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title" }, named("devices.token", kind)),
      last?.text ? make("p", { lang: "en" }, last.text) : null,
      meta(about)),
    buttons(outcomeOf(last)));
}

function pushRow(push) {
  const { alert } = push.payload.aps;
  const text = [alert?.title, alert?.body].filter(Boolean).join(" · ") || push.id || String(push.sequence);
  const about = [
    t("queue.number", { number: push.sequence }), dayTime(push.pushed_at), push.reason && make("code", {}, push.reason),
    push.id && make("code", { class: "id", title: push.id }, push.id),
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title", lang: push.payload.crier?.locale ?? null, translate: false }, text),
      meta(about)),
    buttons(outcomeOf(push)));
}

// MARK: What a person does

/** Pushes a test, and tells what came of it. */
async function test() {
  const { id } = shown;
  const tested = await attempt($("device-problem"), () => json(`${pathOf(id)}/test`, { method: "POST" }));
  if (!tested || shown.id !== id) return;
  shown.tested = tested;
  show();
  await showDevice(id);
}

function showTested({ state, reason, text }) {
  const isGood = state === "delivered";
  $("device-tested").className = isGood ? "told" : "problem";
  const parts = [
    isGood ? t("device.test_sent") : t("device.test_failed", { state: named("pushes.state", state) }),
    ...(isGood ? [] : [" ", make("span", { lang: "en" }, text ?? ""), reason ? make("code", {}, reason) : ""]),
  ];
  $("device-tested").replaceChildren(...parts);
}

async function askAndRemove() {
  const { id } = shown;
  const isAgreed = await ask({
    title: t("devices.ask"), about: t("devices.ask_about", { id }), yes: t("devices.remove"), no: t("devices.ask_no"),
  });
  if (!isAgreed) return;
  if (await attempt($("device-problem"), () => json(pathOf(id), { method: "DELETE" }))) location.hash = "#view=devices";
}

export function connectDevice() {
  onClick("device-test", () => busy($("device-test"), test));
  onClick("device-remove", () => busy($("device-remove"), askAndRemove));
}
