// SPDX-License-Identifier: Apache-2.0

// Today at a glance: the sums and counts by currency and kind, the last payment, and the payments by hour.

import { access, whenKeyChanges } from "./access.js";
import { hourName, list, minuteTime, money, signedMoney } from "./figures.js";
import { kindIcon } from "./icons.js";
import { $, make, setText } from "./page.js";
import { Problem, isObsolete, isRefusal, json } from "./service.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The kinds beside received payments, in the order in which they are shown. */
const OTHER_KINDS = ["pending", "refunded", "withdrawn", "failed"];

/** The width of an hour and the height of the chart, in its own units. */
const [STEP, HEIGHT] = [10, 48];

/** The last answer. `isMissing` says that the key may not read it. */
const shown = { answer: null, isMissing: false, turn: 0 };

/** Asks for the sums of today, in the time zone of the shop. */
export async function refreshToday() {
  if (!access.key || shown.isMissing) return;
  const turn = ++shown.turn;
  try {
    const answer = await json("/v1/announcements/summary?by=currency,kind,hour");
    if (turn !== shown.turn) return;
    shown.answer = answer;
  } catch (error) {
    if (isObsolete(error)) return;
    if (!(error instanceof Problem)) throw error;
    if (turn !== shown.turn || !error.status) return;
    Object.assign(shown, { answer: null, isMissing: isRefusal(error) });
  }
  show();
}

whenKeyChanges(() => {
  Object.assign(shown, { answer: null, isMissing: false, turn: shown.turn + 1 });
  show();
});

whenLanguageChanges(show);

/** Adds amounts without rounding: as integers of the smallest digit that any of them has. */
function sum(values) {
  const digits = Math.max(...values.map((value) => (value.split(".")[1] ?? "").length));
  const total = values.reduce((result, value) => {
    const [whole, fraction = ""] = value.split(".");
    return result + BigInt(whole + fraction.padEnd(digits, "0"));
  }, 0n);
  const text = String(total).padStart(digits + 1, "0");
  return digits ? `${text.slice(0, -digits)}.${text.slice(-digits)}` : text;
}

const count = (groups) => groups.reduce((result, group) => result + group.count, 0);

/** Returns the groups of each currency, the currency with the most payments first. */
function byCurrency(groups) {
  const currencies = [...new Set(groups.map(({ currency }) => currency))];
  const parts = currencies.map((currency) => [currency, groups.filter((group) => group.currency === currency)]);
  return parts.sort(([, one], [, other]) => count(other) - count(one));
}

const totalOf = (currency, groups) => ({ currency, value: sum(groups.map((group) => group.sum)) });

function show() {
  const { answer } = shown;
  $("today").hidden = !answer;
  if (!answer) return;
  const received = answer.groups.filter(({ kind }) => kind === "received");
  setText($("today-count"), t("today.payments", { count: count(received) }));
  const last = received.map((group) => group.last_at).sort((one, other) => new Date(one) - new Date(other)).at(-1);
  setText($("today-last"), last ? t("today.last", { time: minuteTime(last, answer.time_zone) }) : "");
  $("today-sums").replaceChildren(...byCurrency(received).map(([currency, groups]) =>
    make("li", { translate: false }, money(totalOf(currency, groups)))));
  $("today-others").replaceChildren(...OTHER_KINDS.flatMap((kind) => other(kind, answer.groups)));
  showHours(received);
}

/** Returns a line for each currency of a kind that is not income. */
function other(kind, groups) {
  return byCurrency(groups.filter((group) => group.kind === kind)).map(([currency, some]) =>
    make("li", { class: `kind-${kind}` }, kindIcon(kind),
      t("today.other", { kind: named("kind", kind), count: count(some), sum: signedMoney(kind, totalOf(currency, some)) })));
}

/** Draws a bar for each hour of the shop's day. The same is said in words. */
function showHours(received) {
  const hours = Array.from({ length: 24 }, () => 0);
  // The service writes the hour with the offset of the shop's time zone, so that its digits are the shop's hour.
  for (const group of received) hours[Number(group.hour.slice(11, 13))] += group.count;
  const most = Math.max(...hours);
  $("today-hours").hidden = most === 0;
  if (!most) return;
  const words = hours.flatMap((number, hour) => (number ? [t("today.hour", { hour: hourName(hour), count: number })] : []));
  $("today-chart").setAttribute("aria-label", t("today.hours", { hours: list(words) }));
  $("today-chart").replaceChildren(...hours.map((number, hour) => bar(hour, number, most)));
  $("today-axis").replaceChildren(...[0, 6, 12, 18].map((hour) => make("span", {}, hourName(hour))));
}

function bar(hour, number, most) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const height = number ? Math.max(3, (number / most) * HEIGHT) : 1;
  const box = { x: hour * STEP + 1, y: HEIGHT - height, width: STEP - 2, height, rx: number ? 1.5 : 0 };
  for (const [name, value] of Object.entries(box)) element.setAttribute(name, value);
  if (!number) element.setAttribute("class", "none");
  return element;
}
