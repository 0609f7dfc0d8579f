// SPDX-License-Identifier: Apache-2.0

// Formats figures, names and times for people, in the language of the interface.

import { make } from "./page.js";
import { interfaceLocale, named, t } from "./translations.js";

export const number = (value, options) => new Intl.NumberFormat(interfaceLocale(), options).format(value);

/** Returns a number with a fixed count of digits after the point. */
export const fixed = (value, digits) => number(value, { minimumFractionDigits: digits, maximumFractionDigits: digits });

export const unit = (value, name, digits, display = "short") => number(value, {
  style: "unit", unit: name, unitDisplay: display, minimumFractionDigits: digits, maximumFractionDigits: digits,
});

export const seconds = (milliseconds) => unit(milliseconds / 1000, "second", 2);

export const percent = (value) => number(value / 100, { style: "percent" });

/** Returns a number of seconds in words: whole minutes from one minute on, whole hours from two hours on. */
export function duration(count) {
  if (count < 60) return unit(count, "second", 0, "long");
  if (count < 7200) return unit(Math.round(count / 60), "minute", 0, "long");
  return unit(Math.round(count / 3600), "hour", 0, "long");
}

/** Returns the loudness with a true minus sign. */
export const loudness = (lufs) => (lufs === null ? null : `${fixed(lufs, 2).replace("-", "\u2212")} LUFS`);

export const size = (bytes) => (bytes < 1000 ? unit(bytes, "byte", 0, "long") : unit(bytes / 1000, "kilobyte", 1));

/** Returns how an announcement was shortened; `null` if it was not. */
export const shortening = (steps) => (steps?.length ? list(steps.map((step) => named("shortened", step))) : null);

/**
 * Returns an amount as the language writes it. Every digit of the payment is shown: the digits before the point pass
 * through an integer of any size, and those after it stay text.
 */
export function money({ value, currency }) {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value) ?? [];
  if (!whole) return t("figure.amount", { value, currency });
  const digits = { minimumFractionDigits: fraction.length, maximumFractionDigits: fraction.length };
  const form = new Intl.NumberFormat(interfaceLocale(), { style: "currency", currency, ...digits });
  const parts = form.formatToParts(BigInt(whole)).map((part) => (part.type === "fraction" ? fraction : part.value));
  return (sign ? "\u2212" : "") + parts.join("");
}

/** Returns an amount with a minus sign if the shop gave it back. */
export const signedMoney = (kind, amount) => (["refunded", "withdrawn"].includes(kind) ? "\u2212" : "") + money(amount);

/** Returns a list of words, as the language writes lists. */
export const list = (words) => new Intl.ListFormat(interfaceLocale(), { type: "unit" }).format(words);

const time = (moment, options) =>
  (moment ? new Intl.DateTimeFormat(interfaceLocale(), options).format(new Date(moment)) : "");

export const clockTime = (moment) => time(moment, { hour: "numeric", minute: "2-digit", second: "2-digit" });

export const minuteTime = (moment, timeZone = undefined) => time(moment, { hour: "numeric", minute: "2-digit", timeZone });

/** Returns the name of an hour of the day, from 0 to 23. */
export const hourName = (hour) => time(new Date(2000, 0, 1, hour), { hour: "numeric" });

const isToday = (moment) => new Date(moment).toDateString() === new Date().toDateString();

/** Returns the time of today, or the date and time of another day. */
export function dayTime(moment) {
  if (!moment) return "";
  return isToday(moment) ? clockTime(moment) : time(moment, { dateStyle: "medium", timeStyle: "short" });
}

/** Returns the time of today in minutes, or the date and time of another day. */
export const dayMinute = (moment) => (moment && isToday(moment) ? minuteTime(moment) : dayTime(moment));

/** Returns the day in words if it is today or yesterday, else its date, followed by the time in minutes. */
export function namedDay(moment) {
  if (!moment) return "";
  const at = new Date(moment);
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  const days = Math.round((midnight(at) - midnight(new Date())) / 86400000);
  const isNear = days === 0 || days === -1;
  const words = new Intl.RelativeTimeFormat(interfaceLocale(), { numeric: "auto" });
  const day = isNear ? words.format(days, "day") : time(moment, { day: "numeric", month: "short" });
  return t("figure.day_time", { day, time: minuteTime(moment) });
}

/** Returns the name of a way to pay. One that has no name here is shown as the shop's backend sent it. */
export const channelName = (channel) => named("channel", channel);

/** Puts dots between parts, which are texts or elements. Empty parts are left out. */
export const dotted = (parts) => parts.filter(Boolean).flatMap((part, index) => (index ? [" · ", part] : [part]));

/** Makes the line of a row with what is less important, divided by points. */
export const meta = (facts) => make("p", { class: "meta" }, ...dotted(facts));
