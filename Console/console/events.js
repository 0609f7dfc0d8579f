// SPDX-License-Identifier: Apache-2.0

// Follows the service's events, and refreshes the player and the recent announcements when something happens.

import { lose, regain } from "./connection.js";
import { $, setText } from "./page.js";
import { refreshPlayer } from "./player.js";
import { refreshRecent } from "./recent.js";
import { Problem, call } from "./service.js";
import { readEvents } from "./stream.js";
import { t, whenLanguageChanges } from "./translations.js";

/** The stream that is read, and the id of its last event. `isOn` says whether it delivers events. */
const stream = { stopper: null, last: null, isOn: false };

/** The pause before a new attempt, in milliseconds. It doubles with each failure. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 5000];

export function stopFollowing() {
  stream.stopper?.abort();
  stream.last = null;
  stream.isOn = false;
  regain("events");
}

const showLink = () => setText($("link"), stream.isOn ? t("live.on") : "");

whenLanguageChanges(showLink);

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
      stream.isOn = true;
      regain("events");
      showLink();
      pause = FIRST_PAUSE;
      // Changes may have happened while no stream was open.
      refreshPlayer();
      refreshRecent();
      await readEvents(response.body, take);
    } catch (error) {
      if (stopper.signal.aborted) return;
      if (error instanceof Problem && (error.status === 401 || error.status === 403)) {
        setText($("link"), error.detail);
        return;
      }
    }
    if (stopper.signal.aborted) return;
    stream.isOn = false;
    lose("events");
    await new Promise((resume) => { setTimeout(resume, pause); });
    pause = Math.min(LONGEST_PAUSE, pause * 2);
  }
}

const playerSoon = soon(refreshPlayer, 120);
const recentSoon = soon(refreshRecent, 300);

function take(event) {
  if (event.id) stream.last = event.id;
  // A rendered clip does not change the queue.
  if (event.event !== "rendered") playerSoon();
  recentSoon();
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
