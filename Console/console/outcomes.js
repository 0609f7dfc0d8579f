// SPDX-License-Identifier: Apache-2.0

// What became of an announcement, in words: whether the shop heard it, and on how many phones it is.

import { minuteTime } from "./figures.js";
import { t } from "./translations.js";

/** The text and the colour for each state of the playback. Other states are those of an announcement that waits. */
const PLAYED = {
  played: ["outcome.heard", "good"], playing: ["outcome.playing", "good"], quiet: ["outcome.quiet", ""],
  cancelled: ["outcome.cancelled", ""], failed: ["outcome.not_heard", "bad"], expired: ["outcome.not_heard", "bad"],
};

/** The states of a push that has not ended. */
const UNDER_WAY = ["waiting", "sending"];

/** Returns `[text, colour]` for what became of an announcement as a whole. */
export function outcome({ delivery }) {
  const { play, push } = delivery ?? {};
  const parts = [play && heard(play), push?.length && onPhones(push)].filter(Boolean);
  if (!parts.length) return [t("outcome.clip"), ""];
  const colours = parts.map(([, colour]) => colour);
  const text = parts.length === 1 ? parts[0][0] : t("outcome.both", { shop: parts[0][0], phones: parts[1][0] });
  return [text, ["bad", "warn", "good", ""].find((colour) => colours.includes(colour))];
}

function heard({ state, finished_at: at }) {
  const [key, colour] = PLAYED[state] ?? ["outcome.waiting", ""];
  return [t(key, { time: minuteTime(at) }), colour];
}

function onPhones(pushes) {
  const reached = pushes.filter(({ state }) => state === "delivered").length;
  const open = pushes.filter(({ state }) => UNDER_WAY.includes(state)).length;
  if (open) return [t("outcome.to_phones", { count: open }), ""];
  if (reached === pushes.length) return [t("outcome.on_phones", { count: reached }), "good"];
  return [t("outcome.on_some_phones", { reached, count: pushes.length }), reached ? "warn" : "bad"];
}
