// SPDX-License-Identifier: Apache-2.0

// Follows the service's events, and refreshes the player and the recent announcements when something happens.

import { isConnected, lose, regain, whenConnected } from "./connection.js";
import { refreshDevices } from "./devices.js";
import { $, setText } from "./page.js";
import { refreshPlayer } from "./player.js";
import { refreshProviders } from "./providers.js";
import { refreshRecent } from "./recent.js";
import { Problem, call, isObsolete } from "./service.js";
import { readEvents } from "./stream.js";
import { t, whenLanguageChanges } from "./translations.js";
import { currentView } from "./views.js";

/**
 * The stream that is read, the id of its last event, and the key of the text that says whether it delivers events.
 * `refusal` is the service's description instead, if the key may not read events.
 */
const stream = { stopper: null, last: null, state: null, refusal: null };

/** The pause before a new attempt, in milliseconds. It doubles with each failure. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 5000];

/** How often the page asks for changes while the service refuses the stream, in milliseconds. */
const POLL_PAUSE = 5000;

/** The longest time until the page asks for the stream again after a refusal, in milliseconds. */
const LONGEST_REFUSAL = 60000;

export function stopFollowing() {
  stream.stopper?.abort();
  stream.last = null;
  showLink(null);
  regain("events");
}

function showLink(state, refusal = null) {
  Object.assign(stream, { state, refusal });
  // While the page is not connected, nothing says otherwise.
  const text = isConnected() ? refusal ?? (state && t(state)) : null;
  $("link").lang = refusal ? "en" : "";
  setText($("link"), text ?? "");
}

for (const when of [whenLanguageChanges, whenConnected]) when(() => showLink(stream.state, stream.refusal));

const pauseFor = (milliseconds) => new Promise((resume) => { setTimeout(resume, milliseconds); });

function refresh() {
  refreshPlayer();
  refreshRecent();
  refreshProviders();
  if (currentView() === "devices") refreshDevices();
}

/** Follows the events until `stopFollowing` is called or the key is refused. Reconnects after a lost connection. */
export async function follow() {
  stream.stopper?.abort();
  const stopper = new AbortController();
  stream.stopper = stopper;
  let pause = FIRST_PAUSE;
  while (!stopper.signal.aborted) {
    try {
      const headers = { Accept: "text/event-stream", ...(stream.last ? { "Last-Event-ID": stream.last } : {}) };
      const response = await call("/v1/events", { headers, signal: stopper.signal });
      regain("events");
      showLink("live.on");
      pause = FIRST_PAUSE;
      // Changes may have happened while no stream was open.
      refresh();
      await readEvents(response.body, take);
    } catch (error) {
      if (stopper.signal.aborted || isObsolete(error)) return;
      if (error instanceof Problem && error.status) {
        regain("events");
        if (!(await waitOut(error, stopper.signal))) return;
        continue;
      }
    }
    if (stopper.signal.aborted) return;
    showLink(null);
    lose("events");
    await pauseFor(pause);
    pause = Math.min(LONGEST_PAUSE, pause * 2);
  }
}

/**
 * Says that there are no live updates, because the service answered but refused the stream. Asks for changes until the
 * stream may be requested again. Returns false if the key may not read events.
 */
async function waitOut(problem, signal) {
  if (problem.status === 401 || problem.status === 403) {
    showLink(null, problem.detail);
    refreshRecent();
    return false;
  }
  const wait = Math.min(LONGEST_REFUSAL, Number(problem.retryAfter) * 1000 || 0);
  const end = performance.now() + wait;
  showLink("live.off");
  do {
    refresh();
    await pauseFor(POLL_PAUSE);
  } while (performance.now() < end && !signal.aborted);
  return true;
}

const playerSoon = soon(refreshPlayer, 120);
const recentSoon = soon(refreshRecent, 300);
const providersSoon = soon(refreshProviders, 300);

function take(event) {
  if (event.id) stream.last = event.id;
  // A rendered clip does not change the queue.
  if (event.event !== "rendered") playerSoon();
  recentSoon();
  // What a provider reports is announced like anything else. What is not announced has events of its own.
  if (event.event?.startsWith("provider_") || currentView() === "providers") providersSoon();
}

/** Returns a function that runs `work` once its calls have paused for `pause` ms, and after about 1 s at the latest. */
function soon(work, pause) {
  let timer = null;
  let first = 0;
  return () => {
    const now = performance.now();
    if (timer === null) first = now;
    else if (now - first > 1000) return;
    clearTimeout(timer);
    timer = setTimeout(() => { timer = null; work(); }, pause);
  };
}
