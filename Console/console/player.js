// SPDX-License-Identifier: Apache-2.0

// The shop's speaker: what it plays, and its controls.

import { access, whenKeyChanges, whenRightsAreKnown } from "./access.js";
import { isConnected, lostText } from "./connection.js";
import { dayMinute, dotted } from "./figures.js";
import { $, allow, make, setText, showPill } from "./page.js";
import { clearQueue, offer, showQueue, wordsOf } from "./queue.js";
import { Problem, attempt, call, isObsolete, json, showProblem, translated } from "./service.js";
import { showSpeakerSettings } from "./speaker.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The colour of the label of each state of the player. */
const COLOURS = { idle: "good", playing: "good", paused: "warn", device_lost: "bad", stopped: "bad" };

/** The player's last answer, and when it came, by the page's clock. */
const last = { view: null, at: 0, turn: 0, hasNone: false };

/** Whether the service has a speaker of its own, as far as the page knows. */
export const hasSpeaker = () => !last.hasNone;

/** Asks the player for its state and shows it. */
export async function refreshPlayer() {
  if (!access.key) return;
  const turn = ++last.turn;
  try {
    const view = await json("/v1/playback");
    if (turn === last.turn) showPlayer(view);
  } catch (error) {
    if (isObsolete(error)) return;
    if (!(error instanceof Problem)) throw error;
    // Without an answer the last known state stays, and the page says since when it is not connected.
    if (turn === last.turn && error.status) showNoPlayer(error);
  }
}

whenLanguageChanges(() => {
  if (last.view) showPlayer(last.view, last.at);
  else refreshPlayer();
});

// Only keys with the scope `admin` see the chime.
whenRightsAreKnown(() => { if (last.view) showPlayer(last.view, last.at); });

whenKeyChanges(() => {
  Object.assign(last, { view: null, turn: last.turn + 1, hasNone: false });
  showPill($("player-state"), "", "");
  $("now").replaceChildren();
  clearQueue();
  showSpeakerSettings(null);
  showProblem($("queue-problem"), null);
});

function showNoPlayer(problem) {
  const hasNone = problem.code === "player_unavailable";
  Object.assign(last, { view: null, hasNone });
  showPill($("player-state"), hasNone ? t("player.none") : t("player.unknown"), hasNone ? "" : "bad");
  $("now").replaceChildren(make("p", { class: "muted" }, hasNone ? t("player.none_about") : translated(problem) ?? problem.detail));
  showQueue({ waiting: [], waiting_count: 0, elsewhere: [] });
  for (const id of ["pause", "skip", "replay"]) allow($(id), false);
  showSpeakerSettings(null);
}

/** Shows the player's answer. */
export function showPlayer(view, at = performance.now()) {
  Object.assign(last, { view, at, hasNone: false });
  const text = isConnected() ? named("player.state", view.state) : lostText();
  showPill($("player-state"), text, isConnected() ? COLOURS[view.state] ?? "" : "bad");
  showPlaying(view);
  const isPaused = view.state === "paused";
  setText($("pause"), isPaused ? t("player.resume") : t("player.pause"));
  $("pause").classList.toggle("primary", isPaused);
  allow($("pause"), view.state !== "stopped");
  allow($("skip"), Boolean(view.playing?.id));
  allow($("replay"), view.state !== "stopped");
  showQueue(view);
  showSpeakerSettings(view);
}

function showPlaying(view) {
  const { playing, state, device_lost_since: since, quiet_until: quiet } = view;
  if (!playing) {
    const reason = (since && t("player.lost_since", { time: dayMinute(since) }))
      || (quiet && state === "idle" && t("player.quiet", { time: dayMinute(quiet) }));
    $("now").replaceChildren(make("p", { class: "muted" }, reason || named("player.silent", state)));
    return;
  }
  const about = [
    t("queue.number", { number: playing.number }), named("category", playing.category),
    playing.replay && t("queue.replay"),
  ];
  const length = Math.max(1, playing.length_ms ?? 1);
  $("now").replaceChildren(
    make("p", { class: "title", translate: false }, wordsOf(playing)),
    make("p", { class: "muted small meta" }, ...dotted(about)),
    make("progress", { id: "progress", max: length, "aria-label": t("player.progress") }));
  advance();
}

/** Moves the progress bar by the page's clock between two answers of the player. */
export function advance() {
  const playing = last.view?.playing;
  const bar = $("progress");
  if (!playing || !bar || !isConnected()) return;
  const since = last.view.state === "playing" ? performance.now() - last.at : 0;
  bar.value = Math.min(bar.max, playing.position_ms + since);
}

const listeners = [];

/** Sets a function that is called after a command to the player. */
export const whenControlled = (listener) => { listeners.push(listener); };

/**
 * Sends a command to the player, then asks for its state. Returns whether the command was carried out. `place` shows
 * the problem, if any.
 */
export async function control(path, method, body = null, place = $("queue-problem")) {
  const isDone = await attempt(place, async () => {
    try {
      await call(path, { method, body });
    } catch (error) {
      // The problem is shown at once, even if the service does not answer this either.
      refreshPlayer();
      throw error;
    }
    for (const listener of listeners) listener();
    await refreshPlayer();
    return true;
  });
  return isDone === true;
}

export function pauseOrResume() {
  return control(last.view?.state === "paused" ? "/v1/playback/resume" : "/v1/playback/pause", "POST");
}

/** Skips the announcement that is playing. The focus leaves the button, so that a second press skips nothing. */
export async function skip(event) {
  const playing = last.view?.playing;
  if (!playing?.id || event.detail > 1) return;
  $("now").focus();
  if (!(await control(pathOf(playing), "DELETE"))) return;
  const text = t("queue.skipped", { text: wordsOf(playing) });
  offer({ text, action: t("action.replay"), undo: () => replay(playing.id) });
}

/** Returns the path that cancels an entry of the queue: one replay alone, or an announcement. */
export function pathOf(entry) {
  if (entry.replay) return `/v1/playback/replays/${entry.number}`;
  // An id may be the name of a call. A letter that is encoded makes it an id again.
  return `/v1/playback/${entry.id === "chime" ? "%63hime" : encodeURIComponent(entry.id)}`;
}

/** Plays an announcement again: the one with the id, or else the last one that was played. */
export function replay(id = null, place = $("queue-problem")) {
  return control("/v1/playback/replay", "POST", id === null ? null : JSON.stringify({ id }), place);
}
