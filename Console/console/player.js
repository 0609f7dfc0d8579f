// SPDX-License-Identifier: Apache-2.0

// The shop's speaker: what it plays, what waits, and its controls.

import { access } from "./access.js";
import { clockTime, dotted } from "./figures.js";
import { $, allow, make, setText, showPill } from "./page.js";
import { showList } from "./rows.js";
import { Problem, attempt, call, json } from "./service.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The colour of the label of each state of the player. */
const COLOURS = { idle: "good", playing: "good", device_lost: "bad", stopped: "bad" };

/** The player's last answer, and when it came, by the page's clock. */
const last = { view: null, at: 0, turn: 0 };

/** The texts of recent announcements by id. The player reports the text of the playing announcement only. */
let texts = new Map();

/** Asks the player for its state and shows it. */
export async function refreshPlayer() {
  const turn = ++last.turn;
  try {
    const view = await json("/v1/playback");
    if (turn === last.turn) showPlayer(view);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (turn === last.turn) showNoPlayer(error);
  }
}

whenLanguageChanges(() => { if (last.view) showPlayer(last.view, last.at); else if (access.key) refreshPlayer(); });

function showNoPlayer(problem) {
  last.view = null;
  const hasNone = problem.code === "player_unavailable";
  showPill($("player-state"), hasNone ? t("player.none") : t("player.unknown"), hasNone ? "" : "bad");
  const text = hasNone ? t("player.none_about") : problem.detail;
  $("now").replaceChildren(make("p", { class: "muted" }, text));
  showWaiting([]);
  setText($("elsewhere"), "");
  for (const id of ["pause", "skip", "replay"]) allow($(id), false);
}

function showPlayer(view, at = performance.now()) {
  Object.assign(last, { view, at });
  showPill($("player-state"), named("player.state", view.state), COLOURS[view.state] ?? "");
  showPlaying(view);
  $("pause").textContent = view.state === "paused" ? t("player.resume") : t("player.pause");
  allow($("pause"), view.state !== "stopped");
  allow($("skip"), Boolean(view.playing?.id));
  allow($("replay"), view.state !== "stopped");
  showWaiting(view.waiting.map((entry) => ({ ...entry, text: texts.get(entry.id) })));
  setText($("waiting-title"), waitingTitle(view.waiting_count, view.waiting.length));
  setText($("elsewhere"), view.elsewhere.map(elsewhere).join(" "));
}

function waitingTitle(count, shown) {
  if (!count) return t("queue.title");
  return count > shown ? t("queue.title_some", { count, shown }) : t("queue.title_count", { count });
}

/** Returns a sentence about the announcements that wait on another output. */
const elsewhere = ({ lane, waiting_count: count, played }) =>
  (played ? t("queue.elsewhere", { count, lane }) : t("queue.elsewhere_unplayed", { count, lane }));

function showPlaying({ playing, state, device_lost_since: since, device_code: code }) {
  if (!playing) {
    const lost = since && t("player.lost_since", { time: clockTime(since), code });
    $("now").replaceChildren(make("p", { class: "muted" }, lost || named("player.silent", state)));
    return;
  }
  const category = named("category", playing.category);
  const about = [t("queue.number", { number: playing.number }), category, playing.replay && t("queue.replay")];
  const length = Math.max(1, playing.length_ms ?? 1);
  $("now").replaceChildren(
    make("p", { class: "title" }, playing.text ?? (playing.id ? category : t("player.foreign"))),
    make("p", { class: "muted small meta" }, ...dotted(about)),
    make("progress", { id: "progress", max: length, "aria-label": t("player.progress") }));
  advance();
}

function showWaiting(entries) {
  showList($("waiting"), entries, {
    keyOf: ({ number }) => number, create: waitingRow, none: t("queue.empty"), fallback: $("pause"),
  });
}

function waitingRow(entry) {
  // The account that asked for a replay sees when it was accepted, and cancels it by its number.
  const isOurs = entry.id || (entry.replay && entry.accepted_at);
  const label = t("queue.cancel_number", { number: entry.number });
  const cancel = isOurs ? make("button", { type: "button", class: "quiet", "aria-label": label }, t("action.cancel")) : null;
  cancel?.addEventListener("click", () => control(pathOf(entry), "DELETE"));
  const about = [
    t("queue.number", { number: entry.number }), named("category", entry.category), entry.replay && t("queue.replay"),
    named("state", entry.state), clockTime(entry.accepted_at),
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title" }, entry.text ?? entry.id ?? t("queue.foreign")),
      make("p", { class: "meta" }, ...dotted(about))),
    make("div", { class: "buttons" }, cancel));
}

/** Returns the path that cancels an entry of the queue: one replay alone, or an announcement. */
function pathOf(entry) {
  return entry.replay ? `/v1/playback/replays/${entry.number}` : `/v1/playback/${encodeURIComponent(entry.id)}`;
}

/** Moves the progress bar by the page's clock between two answers of the player. */
export function advance() {
  const playing = last.view?.playing;
  const bar = $("progress");
  if (!playing || !bar) return;
  const since = last.view.state === "playing" ? performance.now() - last.at : 0;
  bar.value = Math.min(bar.max, playing.position_ms + since);
}

/** Remembers the texts of announcements, and shows those of waiting ones. */
export function rememberTexts(announcements) {
  const known = texts;
  texts = new Map([...known].slice(-500));
  for (const { id, text } of announcements) if (text) texts.set(id, text);
  if (last.view && announcements.some(({ id }) => !known.has(id))) showPlayer(last.view, last.at);
}

/** Sends a command to the player, then asks for its state. */
export async function control(path, method, body = null) {
  await attempt($("queue-problem"), async () => {
    try {
      await call(path, { method, body });
    } finally {
      await refreshPlayer();
    }
  });
}

export function pauseOrResume() {
  control(last.view?.state === "paused" ? "/v1/playback/resume" : "/v1/playback/pause", "POST");
}

export function skip() {
  const playing = last.view?.playing;
  if (playing?.id) control(pathOf(playing), "DELETE");
}

/** Plays an announcement again: the one with the id, or else the last one that was played. */
export function replay(id = null) {
  control("/v1/playback/replay", "POST", id === null ? null : JSON.stringify({ id }));
}
