// SPDX-License-Identifier: Apache-2.0

// Whether the page is connected to the service. While it is not, the page shows one state everywhere, and every control
// that needs the service is disabled.

import { minuteTime } from "./figures.js";
import { $, reflect, setText, showPill } from "./page.js";
import { t, whenLanguageChanges } from "./translations.js";

/** How often the page asks a service that does not answer, in milliseconds. */
const PROBE_PAUSE = 2000;

/** How long the page waits for an answer to that question, in milliseconds. */
const PROBE_LIMIT = 4000;

/** `causes` are the parts that lost the service: `service` for calls, `events` for the stream of events. */
const state = { causes: new Set(), since: null };

const listeners = { connected: [], changes: [] };

/** Sets a function that is called when the page is connected again. */
export const whenConnected = (listener) => { listeners.connected.push(listener); };

/** Sets a function that is called when the connection is lost, and when it is back. */
export const whenConnectionChanges = (listener) => { listeners.changes.push(listener); };

export const isConnected = () => state.since === null;

/** Marks the page as not connected. The time is that of the first cause. */
export function lose(cause) {
  state.causes.add(cause);
  state.since ??= new Date();
  show();
}

/** Ends one cause. The page is connected again when no cause is left. */
export function regain(cause) {
  if (!state.causes.delete(cause) || state.causes.size > 0) return;
  state.since = null;
  show();
  for (const listener of listeners.connected) listener();
}

/** Finds out whether the service still answers, after a call that was not answered. */
export async function suspect() {
  if (state.causes.has("service")) return;
  if (!(await answers())) {
    lose("service");
    setTimeout(probe, PROBE_PAUSE);
  }
}

async function probe() {
  if (await answers()) regain("service");
  else setTimeout(probe, PROBE_PAUSE);
}

const answers = () =>
  fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(PROBE_LIMIT) }).then(() => true, () => false);

/** Returns the sentence that the whole page shows while it is not connected. */
export const lostText = () => t("connection.lost", { time: minuteTime(state.since) });

function show() {
  const isLost = !isConnected();
  document.documentElement.classList.toggle("not-connected", isLost);
  for (const note of document.querySelectorAll(".stale")) {
    note.hidden = !isLost;
    setText(note, isLost ? t("connection.stale") : "");
  }
  for (const control of document.querySelectorAll(".online")) reflect(control);
  for (const listener of listeners.changes) listener();
  if (!isLost) return;
  for (const id of ["ready", "player-state"]) showPill($(id), lostText(), "bad");
  setText($("link"), "");
}

whenLanguageChanges(show);
