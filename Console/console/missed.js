// SPDX-License-Identifier: Apache-2.0

// What the payment providers reported and the service did not announce. The shop's page tells how much it is.

import { access, whenKeyChanges } from "./access.js";
import { $, setText } from "./page.js";
import { attempt, json } from "./service.js";
import { t, whenLanguageChanges } from "./translations.js";

/** The time for which the view of the shop tells what was not announced, in milliseconds. */
const NEWS = 24 * 3600 * 1000;

/** The states of payments, and the outcomes of requests without a stored payment, that mean that nothing was heard. */
const [MISSED, FAULTS] = [["refused", "late"], ["refused", "rejected", "failed"]];

/** The number of payments that were not announced. */
let count = 0;

/** Asks what was not announced. Nobody asked for it, so a refusal is not shown. */
export async function refreshNews() {
  if (!access.key) return;
  await attempt(document.createElement("p"), async () => {
    showNews((await json("/v1/provider-endpoints")).endpoints);
  }, { isRefresh: true });
}

/** Says in the view of the shop that money came which was not announced. */
export function showNews(endpoints) {
  const since = Date.now() - NEWS;
  count = endpoints.flatMap(missedBy).filter(({ at }) => new Date(at) > since)
    .reduce((sum, missed) => sum + (missed.isPayment ? missed.count : 0), 0);
  show();
}

function show() {
  $("providers-news").hidden = count === 0;
  setText($("providers-news-text"), count ? t("providers.news", { count }) : "");
}

whenLanguageChanges(show);
whenKeyChanges(() => showNews([]));

/**
 * Returns what an endpoint did not announce, the newest first: stored payments, and requests of which nothing was
 * stored. Requests with the same reason are one entry with their number.
 */
export function missedBy({ payments, recent }) {
  const stored = payments.filter(({ state }) => MISSED.includes(state))
    .map((payment) => ({ ...payment, count: 1, isPayment: true }));
  // The history has an entry for each stored payment too, with the same reason.
  const reasons = new Set(stored.map(({ reason }) => reason));
  const others = new Map();
  for (const { at, outcome, reason } of recent) {
    if (!FAULTS.includes(outcome) || (outcome === "refused" && reasons.has(reason))) continue;
    const key = `${outcome} ${reason}`;
    if (others.has(key)) others.get(key).count += 1;
    else others.set(key, { at, outcome, reason, count: 1, isPayment: outcome === "refused" });
  }
  return [...stored, ...others.values()].sort((one, other) => new Date(other.at) - new Date(one.at));
}
