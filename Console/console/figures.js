// SPDX-License-Identifier: Apache-2.0

// Formats figures, names and times for people.

export const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(2)} s`;

/** Returns the loudness with a true minus sign. */
export const loudness = (lufs) => (lufs === null ? null : `${lufs.toFixed(2).replace("-", "\u2212")} LUFS`);

export const size = (bytes) => (bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`);

const STEPS = { note: "note left out", payer: "payer left out", rate: "spoken faster", amount_only: "amount only" };

/** Returns how an announcement was shortened; `null` if it was not. */
export const shortening = (steps) => (steps?.length ? steps.map((step) => STEPS[step] ?? step).join(", ") : null);

const METHODS = { speech: "speech engine", clips: "recorded clips", mixed: "recorded clips and speech engine" };

export const methodName = (method) => METHODS[method] ?? method;

export const clockTime = (time) =>
  (time ? new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }) : "");

/** Returns a language's name in its own language, or in `inLocale`. */
export function languageName(locale, inLocale = locale) {
  try {
    return new Intl.DisplayNames([inLocale], { type: "language" }).of(locale);
  } catch {
    return locale;
  }
}

/** Puts dots between parts, which are texts or elements. Empty parts are left out. */
export const dotted = (parts) => parts.filter(Boolean).flatMap((part, index) => (index ? [" · ", part] : [part]));
