// SPDX-License-Identifier: Apache-2.0

// Formats figures, names and times for people, in the language of the interface.

import { interfaceLocale, named, t } from "./translations.js";

const number = (value, options) => new Intl.NumberFormat(interfaceLocale(), options).format(value);

/** Returns a number with a fixed count of digits after the point. */
export const fixed = (value, digits) => number(value, { minimumFractionDigits: digits, maximumFractionDigits: digits });

const unit = (value, name, digits, display = "short") => number(value, {
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

export const days = (count) => unit(count, "day", 0, "long");

/** Returns the loudness with a true minus sign. */
export const loudness = (lufs) => (lufs === null ? null : `${fixed(lufs, 2).replace("-", "\u2212")} LUFS`);

export const size = (bytes) => (bytes < 1000 ? unit(bytes, "byte", 0, "long") : unit(bytes / 1000, "kilobyte", 1));

/** Returns how an announcement was shortened; `null` if it was not. */
export const shortening = (steps) => (steps?.length ? list(steps.map((step) => named("shortened", step))) : null);

/** Returns an amount. Its digits stay text, so that every digit of the payment is shown. */
export const money = ({ value, currency }) => t("figure.amount", { value, currency });

/** Returns a list of words, as the language writes lists. */
export const list = (words) => new Intl.ListFormat(interfaceLocale(), { type: "unit" }).format(words);

const time = (moment, options) =>
  (moment ? new Intl.DateTimeFormat(interfaceLocale(), options).format(new Date(moment)) : "");

export const clockTime = (moment) => time(moment, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export const minuteTime = (moment) => time(moment, { hour: "2-digit", minute: "2-digit" });

/** Returns the time of today, or the date and time of another day. */
export function dayTime(moment) {
  if (!moment) return "";
  const isToday = new Date(moment).toDateString() === new Date().toDateString();
  return isToday ? clockTime(moment) : time(moment, { dateStyle: "medium", timeStyle: "short" });
}

/** Puts dots between parts, which are texts or elements. Empty parts are left out. */
export const dotted = (parts) => parts.filter(Boolean).flatMap((part, index) => (index ? [" · ", part] : [part]));
