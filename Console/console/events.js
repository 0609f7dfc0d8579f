// SPDX-License-Identifier: Apache-2.0

// Follows the service's events, and refreshes the player and the recent announcements when something happens.

import { $, setText } from "./page.js";
import { refreshPlayer } from "./player.js";
import { refreshRecent } from "./recent.js";
import { Problem, call } from "./service.js";
import { t, whenLanguageChanges } from "./translations.js";

/** The stream that is read, and the id of its last event. */
const stream = { stopper: null, last: null };

/** The state of the connection, as the key of its text. */
let link = null;

function showLink(key) {
  link = key;
  setText($("link"), key ? t(key) : "");
}

whenLanguageChanges(() => showLink(link));

/** The pause before a new attempt, in milliseconds. It doubles with each failure. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [1000, 30000];

export function stopFollowing() {
  stream.stopper?.abort();
  stream.last = null;
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
      showLink("live.on");
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
    showLink("live.interrupted");
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

/** Reads server-sent events until the stream ends. The browser's `EventSource` cannot send a key. */
async function readEvents(body, handle) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = { data: [] };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const raw of lines) {
      const line = raw.replace(/\r$/, "");
      if (line === "") {
        if (event.data.length) handle(event);
        event = { data: [] };
      } else if (!line.startsWith(":")) {
        const [, name, text] = /^([^:]*):? ?(.*)$/.exec(line);
        if (name === "data") event.data.push(text);
        else event[name] = text;
      }
    }
  }
}
