// SPDX-License-Identifier: Apache-2.0

// The payment providers whose webhooks the service takes: where they send them, and what became of the payments.

import { access, whenKeyChanges } from "./access.js";
import { copy } from "./curl.js";
import { dayTime, dotted, duration, list, meta, money } from "./figures.js";
import { missedBy, showNews } from "./missed.js";
import { $, busy, buttons, make, onClick, rowButton, setText, tag } from "./page.js";
import { showList } from "./rows.js";
import { Problem, attempt, isObsolete, json, showProblem, translated } from "./service.js";
import { named, parts, t, whenLanguageChanges } from "./translations.js";

/** The HTML of the view. */
export const markup = `<section class="card" aria-labelledby="providers-title">
  <div class="head"><h2 id="providers-title" tabindex="-1" data-text="providers.title"></h2><button class="link online" id="providers-again" data-text="recent.refresh"></button></div>
  <p id="providers-about" class="muted" data-text="providers.about" hidden></p>
  <p id="providers-none" class="muted" data-text="providers.none" hidden><code data-part="page">docs/providers.md</code></p>
  <p class="stale" hidden></p>
  <p id="providers-settings" class="problem" role="alert" hidden></p>
  <p id="providers-problem" class="problem" role="alert" hidden></p>
  <p id="providers-local" class="muted small" data-text="providers.local" hidden></p>
  <ul id="providers" class="endpoints" aria-labelledby="providers-title"></ul>
  <p id="providers-live" class="hidden" role="status"></p>
</section>`;

/** The numbers of payments, and of things that were not announced, that are shown for an endpoint. */
const [LATEST, MOST_MISSED] = [10, 10];

/** The difference of the clocks that is told, in seconds. The service warns from the same difference on. */
const TOLERANCE = 60;

/** The colour of the label of each state of a payment. */
const COLOURS = { announced: "good", late: "bad", refused: "bad" };

/** The ids of payments that the service made for a test contain this. */
const TEST = "crier-test-";

/** The endpoints, why their settings cannot be used, and what became of the last test of each endpoint. */
const shown = { endpoints: null, problem: null, tests: {} };

/** Asks for the endpoints. */
export async function refresh() {
  if (!access.key) return;
  await attempt($("providers-problem"), async () => {
    Object.assign(shown, await json("/v1/provider-endpoints"));
    showProviders();
  }, { isRefresh: true });
}

whenLanguageChanges(showProviders);

whenKeyChanges(() => {
  Object.assign(shown, { endpoints: null, problem: null, tests: {} });
  $("providers").replaceChildren();
  setText($("providers-live"), "");
  showProblem($("providers-problem"), null);
  showProviders();
});

function showProviders() {
  const { endpoints, problem, tests } = shown;
  showSettingsProblem();
  if (endpoints) showNews(endpoints);
  $("providers-about").hidden = !endpoints?.length;
  $("providers-none").hidden = !endpoints || endpoints.length > 0 || Boolean(problem);
  // Providers reach public addresses only, and most of them only with TLS.
  $("providers-local").hidden = !endpoints?.length || location.protocol === "https:";
  if (!endpoints) return;
  showList($("providers"), endpoints.map((endpoint) => ({ ...endpoint, test: tests[endpoint.id] ?? null })), {
    keyOf: ({ id }) => id, create: row, fallback: $("providers-title"),
  });
}

function showSettingsProblem() {
  const { endpoints, problem } = shown;
  $("providers-settings").hidden = !problem;
  if (!problem) return;
  // The service describes problems in English.
  const detail = make("span", { lang: "en" }, problem);
  const key = endpoints.length ? "providers.settings_kept" : "providers.settings_off";
  $("providers-settings").replaceChildren(...parts(key, { problem: detail }));
}

// MARK: An endpoint

function row(endpoint) {
  const { id, provider } = endpoint;
  return make("li", {},
    make("div", { class: "head" },
      make("h3", {}, ...dotted([named("providers.name", provider), make("code", {}, id)])),
      buttons(
        endpoint.signed ? null : tag("bad", t("providers.unsigned")),
        endpoint.live ? null : tag("", t("providers.not_live")),
        rowButton(t("providers.test"), t("providers.test_named", { id }), () => test(id)))),
    address(endpoint),
    endpoint.signed ? null : make("p", { class: "problem slim" }, t("providers.unsigned_about")),
    meta(about(endpoint)),
    make("p", { class: "meta" }, counts(endpoint)),
    ignored(endpoint),
    endpoint.test && told(endpoint.test),
    ...missed(endpoint),
    ...latest(endpoint));
}

/** The address to paste in the provider's dashboard. */
function address({ id, path }) {
  const url = location.origin + path;
  const button = rowButton(t("action.copy"), t("providers.copy_named", { id }), async () => {
    await copy(url);
    setText(button, t("action.copied"));
    setText($("providers-live"), t("providers.copied"));
    button.focus();
    setTimeout(() => setText(button, t("action.copy")), 2000);
  }, { online: false });
  return make("div", { class: "address" },
    make("span", { class: "small muted" }, t("providers.url")), make("code", {}, url), button);
}

function about({ last_request_at: last, clock_skew_seconds: skew, kinds, locale }) {
  return [
    last ? t("providers.last", { time: dayTime(last) }) : t("providers.no_request"),
    skew === null ? null : clock(skew), list(kinds.map((kind) => named("kind", kind))), locale,
  ];
}

/** Says how the clocks differ. `skew` is the number of seconds by which the provider's clock is ahead. */
function clock(skew) {
  if (Math.abs(skew) <= TOLERANCE) return t("providers.clock_right");
  const time = duration(Math.abs(skew));
  const text = skew > 0 ? t("providers.clock_behind", { time }) : t("providers.clock_ahead", { time });
  return make("strong", { class: "alarm" }, text);
}

function counts({ counts: numbers }) {
  const some = Object.entries(numbers).filter(([, count]) => count > 0)
    .map(([outcome, count]) => t("providers.count", { name: named("providers.outcome", outcome), count }));
  return some.length ? t("providers.counts", { list: list(some) }) : t("providers.no_counts");
}

/** Says why the last report was ignored, which shows a setting that does not suit the provider's dashboard. */
function ignored({ recent }) {
  const reason = recent.find(({ outcome }) => outcome === "ignored")?.reason;
  if (!reason) return null;
  return make("p", { class: "meta" }, ...parts("providers.ignored", { reason: make("span", { lang: "en" }, reason) }));
}

// MARK: What was not announced

function missed(endpoint) {
  const entries = missedBy(endpoint);
  if (!entries.length) return [];
  const more = entries.length - MOST_MISSED;
  return [
    make("h4", { class: "alarm" }, t("providers.missed")),
    make("p", { class: "meta" }, t("providers.missed_about")),
    make("ul", { class: "rows" }, ...entries.slice(0, MOST_MISSED).map(missedRow)),
    more > 0 ? make("p", { class: "meta" }, t("providers.more", { count: more })) : null,
  ];
}

function missedRow(entry) {
  const { state, outcome, reason, at, count, id } = entry;
  const name = state ? named("providers.state", state) : named("providers.outcome", outcome);
  const title = state ? payment(entry) : named("providers.request", outcome);
  const facts = [
    dayTime(at), id && make("code", {}, id), count > 1 ? t("providers.times", { count }) : null,
    state === "late" ? t("providers.late_about") : null,
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title" }, title),
      reason ? make("p", { class: "alarm", lang: "en" }, reason) : null,
      meta(facts)),
    buttons(tag("bad", name)));
}

/** Returns the sum and the kind of a payment, as far as they are known. */
const payment = ({ amount, currency, kind }) => [
  amount ? money({ value: amount, currency }) : t("providers.unknown_sum"), kind && named("kind", kind),
].filter(Boolean).join(" · ");

// MARK: The latest payments

function latest({ payments }) {
  const some = payments.slice(0, LATEST);
  return [
    make("h4", {}, t("providers.latest")),
    make("ul", { class: "rows" },
      ...(some.length ? some.map(paymentRow) : [make("li", { class: "none" }, t("providers.no_payments"))])),
  ];
}

function paymentRow(entry) {
  const { at, id, state } = entry;
  return make("li", {},
    make("div", {},
      make("p", { class: "title" }, payment(entry)),
      meta([dayTime(at), id && make("code", {}, id)])),
    buttons(
      id?.includes(TEST) ? tag("", t("providers.is_test")) : null,
      tag(COLOURS[state] ?? "", named("providers.state", state))));
}

// MARK: Testing

/** Announces a payment that was never made, and shows what became of it. */
async function test(id) {
  let answer;
  try {
    answer = await json(`/v1/provider-endpoints/${encodeURIComponent(id)}/test`, { method: "POST" });
  } catch (error) {
    if (isObsolete(error)) return;
    if (!(error instanceof Problem)) throw error;
    const words = translated(error);
    answer = { code: error.code, reason: words ?? error.detail, isForeign: !words };
  }
  shown.tests[id] = answer;
  showProviders();
  setText($("providers-live"), told(answer).textContent);
  await refresh();
}

/** Returns what became of a test. */
function told({ outcome, reason, code, isForeign = true }) {
  if (outcome === "accepted") return make("p", { class: "told" }, t("providers.tested"));
  return make("p", { class: "problem" },
    outcome ? `${t("providers.tested_in_vain", { outcome: named("providers.outcome", outcome) })} ` : null,
    reason ? make("span", isForeign ? { lang: "en" } : {}, reason) : null,
    code ? make("code", {}, code) : null);
}

export function connect() {
  showProviders();
  onClick("providers-again", () => busy($("providers-again"), refresh));
}
