// SPDX-License-Identifier: Apache-2.0

// The account's webhook endpoints: where events are sent, whether they arrive, and what came of the latest attempts.

import { access, whenKeyChanges } from "./access.js";
import { copyFrom } from "./curl.js";
import { ask } from "./dialog.js";
import { dayTime, list, meta, number } from "./figures.js";
import { $, busy, buttons, make, onClick, onSubmit, rowButton, setText, tag } from "./page.js";
import { showList } from "./rows.js";
import { attempt, json, sendJSON, showProblem } from "./service.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The HTML of the view. */
export const markup = `<section class="card" aria-labelledby="webhooks-title">
  <div class="head"><h2 id="webhooks-title" tabindex="-1" data-text="webhooks.title"></h2><button class="link online" id="webhooks-again" data-text="recent.refresh"></button></div>
  <p class="muted" data-text="webhooks.about"></p>
  <p class="stale" hidden></p>
  <div id="webhook-made" class="made" tabindex="-1" hidden>
    <div>
      <p data-text="webhooks.made"></p>
      <pre id="webhook-secret" tabindex="0" data-aria-label="webhooks.secret"></pre>
      <div class="actions"><button id="webhook-copy" class="primary" data-text="action.copy"></button><button id="webhook-hide" data-text="keys.hide"></button></div>
    </div>
  </div>
  <p id="webhooks-problem" class="problem" role="alert" hidden></p>
  <ul id="webhooks" class="endpoints" aria-labelledby="webhooks-title"></ul>
  <p id="webhooks-live" class="hidden" role="status"></p>
</section>
<section class="card" aria-labelledby="webhook-new-title" data-may="register">
  <h2 id="webhook-new-title" data-text="webhooks.new"></h2>
  <form id="webhook-form" class="webhook-form" novalidate>
    <div class="field"><label for="webhook-url" data-text="webhooks.url"></label><input id="webhook-url" inputmode="url" autocomplete="off" spellcheck="false" placeholder="https://shop.example/hooks" aria-describedby="webhook-problem"></div>
    <div class="field"><label for="webhook-description" data-text="webhooks.description"></label><input id="webhook-description" autocomplete="off" data-placeholder="form.none"></div>
    <fieldset class="scopes"><legend data-text="webhooks.events"></legend><div id="webhook-events" class="choices"></div></fieldset>
    <div class="actions"><button type="submit" id="webhook-create" class="primary online" data-text="webhooks.create"></button></div>
  </form>
  <p id="webhook-problem" class="problem" role="alert" hidden></p>
</section>`;

/** The events that an endpoint can be limited to. */
const EVENTS = [
  ...["rendered", "pending", "played", "pushed", "failed", "expired", "quiet"].map((name) => `announcement.${name}`),
  "player.device_lost", "player.paused", "queue.long", "push.unreachable", "shop.silent",
];

/** The endpoints, and what became of the last test of each. */
const shown = { endpoints: [], tests: {} };

/** Asks for the endpoints, with the latest attempts of each. */
export async function refresh() {
  await attempt($("webhooks-problem"), async () => {
    const { webhook_endpoints: endpoints } = await json("/v1/webhook-endpoints");
    shown.endpoints = await Promise.all(endpoints.map(({ id }) => json(pathOf(id))));
    showEndpoints();
  }, { isRefresh: true });
}

const pathOf = (id) => `/v1/webhook-endpoints/${encodeURIComponent(id)}`;

whenLanguageChanges(() => { showEvents(); showEndpoints(); });

whenKeyChanges(() => {
  Object.assign(shown, { endpoints: [], tests: {} });
  $("webhooks").replaceChildren();
  hideSecret();
  for (const id of ["webhooks-problem", "webhook-problem"]) showProblem($(id), null);
});

function showEndpoints() {
  const items = shown.endpoints.map((endpoint) => ({ ...endpoint, tested: shown.tests[endpoint.id] ?? null }));
  showList($("webhooks"), items, {
    keyOf: ({ id }) => id, create: row, none: t("webhooks.none"), fallback: $("webhooks-title"), staysInList: false,
  });
}

function row(endpoint) {
  const { id, url, description, disabled_at: disabled, tested } = endpoint;
  const actions = [
    disabled ? rowButton(t("webhooks.enable"), t("webhooks.enable_named", { url }), () => enable(id)) : null,
    disabled ? null : rowButton(t("webhooks.test"), t("webhooks.test_named", { url }), () => test(id)),
    rowButton(t("devices.remove"), t("devices.remove_named", { id: url }), () => askAndRemove(endpoint)),
  ].filter((button) => button && access.may("announce"));
  return make("li", {},
    make("div", { class: "head" },
      make("h3", { translate: false }, url),
      buttons(status(endpoint), ...actions)),
    description ? make("p", { translate: false }, description) : null,
    disabled ? make("p", { class: "problem slim" }, reasonOf(endpoint)) : null,
    meta(about(endpoint)),
    make("p", { class: "meta" }, counts(endpoint)),
    tested && make("p", { class: "told" }, tested),
    ...attempts(endpoint));
}

function status({ disabled_at: disabled, failing_since: failing, last_outcome: last }) {
  if (disabled) return tag("bad", t("webhooks.disabled"));
  if (failing) return tag("bad", t("webhooks.failing", { time: dayTime(failing) }));
  return last ? tag("good", t("webhooks.arrives")) : tag("", t("webhooks.unused"));
}

const reasonOf = ({ disabled_at: at, disabled_reason: reason }) =>
  `${t("webhooks.disabled_since", { time: dayTime(at) })} ${named("webhooks.reason", reason)}`;

function about({ events, delivered_at: delivered, last_outcome: last, last_attempt_at: at }) {
  return [
    events.length < EVENTS.length ? list(events.map((event) => named("webhooks.event", event))) : t("webhooks.all_events"),
    delivered && t("webhooks.delivered_at", { time: dayTime(delivered) }),
    last && last !== "delivered" && t("webhooks.last", { outcome: named("webhooks.outcome", last), time: dayTime(at) }),
  ];
}

function counts({ messages }) {
  const some = Object.entries(messages).filter(([, count]) => count > 0)
    .map(([state, count]) => t("providers.count", { name: named("webhooks.count", state), count }));
  return some.length ? list(some) : t("webhooks.no_messages");
}

/** Shows the latest attempts. A service that does not keep them shows none. */
function attempts({ attempts: made }) {
  if (!made?.length) return [];
  const row = ({ at, outcome, status: answer, ms, type }) => make("li", {},
    make("div", {}, make("p", {}, dayTime(at)), meta([
      type, answer && t("webhooks.answer", { status: String(answer) }),
      number(ms, { style: "unit", unit: "millisecond" })])),
    buttons(outcomeTag(outcome)));
  return [make("details", { class: "more" },
    make("summary", {}, t("webhooks.attempts", { count: made.length })),
    make("ul", { class: "rows" }, ...made.map(row)))];
}

const outcomeTag = (outcome) =>
  tag(outcome === "delivered" ? "good" : "bad", named("webhooks.outcome", outcome));

// MARK: What a person does

async function test(id) {
  const isDone = await attempt($("webhooks-problem"), () => json(`${pathOf(id)}/test`, { method: "POST" }));
  if (!isDone) return;
  shown.tests[id] = t("webhooks.tested");
  setText($("webhooks-live"), t("webhooks.tested"));
  await refresh();
  // The message is sent after the answer.
  setTimeout(() => { if (access.key) refresh(); }, 2000);
}

async function enable(id) {
  if (await attempt($("webhooks-problem"), () => json(`${pathOf(id)}/enable`, { method: "POST" }))) await refresh();
}

async function askAndRemove({ id, url }) {
  const isAgreed = await ask({
    title: t("webhooks.ask"), about: t("webhooks.ask_about", { url }), yes: t("devices.remove"), no: t("devices.ask_no"),
  });
  if (!isAgreed) return;
  $("webhooks-title").focus();
  if (await attempt($("webhooks-problem"), () => json(pathOf(id), { method: "DELETE" }))) await refresh();
}

function showEvents() {
  const off = new Set([...$("webhook-events").querySelectorAll("input:not(:checked)")].map(({ value }) => value));
  $("webhook-events").replaceChildren(...EVENTS.map((event) => make("label", { class: "check" },
    make("input", { type: "checkbox", value: event, checked: !off.has(event) }),
    make("span", {}, named("webhooks.event", event)))));
}

async function create() {
  const events = [...$("webhook-events").querySelectorAll(":checked")].map(({ value }) => value);
  const description = $("webhook-description").value.trim();
  const body = {
    url: $("webhook-url").value.trim(), ...(events.length < EVENTS.length ? { events } : {}),
    ...(description ? { description } : {}),
  };
  const made = await attempt($("webhook-problem"), () => sendJSON("/v1/webhook-endpoints", "POST", body));
  $("webhook-url").toggleAttribute("aria-invalid", false);
  if (!made) {
    $("webhook-url").setAttribute("aria-invalid", "true");
    return;
  }
  for (const id of ["webhook-url", "webhook-description"]) $(id).value = "";
  setText($("webhook-secret"), made.secret);
  $("webhook-made").hidden = false;
  $("webhook-made").focus();
  await refresh();
}

/** Removes the secret from the page. It is not stored anywhere else in the browser. */
function hideSecret() {
  setText($("webhook-secret"), "");
  $("webhook-made").hidden = true;
}

export function connect() {
  showEvents();
  onSubmit("webhook-form", "webhook-create", create);
  $("webhook-url").addEventListener("input", () => $("webhook-url").toggleAttribute("aria-invalid", false));
  onClick("webhooks-again", () => busy($("webhooks-again"), refresh));
  onClick("webhook-copy", () => copyFrom($("webhook-secret"), $("webhook-copy")));
  onClick("webhook-hide", () => {
    hideSecret();
    $("webhooks-title").focus();
  });
}
