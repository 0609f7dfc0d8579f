// SPDX-License-Identifier: Apache-2.0

// Follows the service's events, and refreshes what is shown when something happens. One tab of the browser reads them,
// and tells them to the other tabs.

import { access, publicPart } from "./access.js";
import { isConnected, lose, regain, suspect, whenConnected } from "./connection.js";
import { $, setText } from "./page.js";
import { refreshPlayer, whenControlled } from "./player.js";
import { refreshRecent } from "./recent.js";
import { Problem, call, isObsolete, translated } from "./service.js";
import { SharedWork } from "./sharing.js";
import { refreshShop, takeShop } from "./shop.js";
import { readEvents } from "./stream.js";
import { refreshToday } from "./today.js";
import { t, whenLanguageChanges } from "./translations.js";
import { currentView, loadView } from "./views.js";

/**
 * The work that the tabs share, the id of the last event, and the key of the text that says whether events come.
 * `refusal` is the service's problem instead, if the key may not read events. `isFresh` says whether the page asked
 * for everything since it began to follow, or since it is visible again.
 */
const stream = { shared: null, last: null, state: null, refusal: null, isFresh: false };

/** The pause before a new attempt, in milliseconds. It doubles with each failure. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 5000];

/** How often the page asks for changes while the service refuses the stream, in milliseconds. */
const POLL_PAUSE = 5000;

/** The longest time until the page asks for the stream again after a refusal, in milliseconds. */
const LONGEST_REFUSAL = 60000;

/** The time after which the page loads its contents, even if neither the service nor another tab gives it events. */
const PATIENCE = 600;

/** The time after which the page asks what providers reported in vain. Nothing on the first page waits for it. */
const NEWS_PAUSE = 4000;

/** The views whose contents change with events. */
const LIVE_VIEWS = ["announcement", "devices", "providers"];

export function stopFollowing() {
  stream.shared?.end();
  Object.assign(stream, { shared: null, last: null });
  showLink(null);
  regain("events");
}

/** Follows the events with the key in use until `stopFollowing` is called. A hidden tab follows none. */
export function follow() {
  stopFollowing();
  const shared = new SharedWork(`crier.events.${publicPart(access.key)}`, { work: read, hear });
  stream.shared = shared;
  shared.begin();
  shared.tell({ asks: true });
  begin();
}

/** Loads the contents once, when events come or after some time. */
function begin() {
  stream.isFresh = false;
  setTimeout(() => { if (stream.shared && !stream.isFresh && !document.hidden) refresh(); }, PATIENCE);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden || !stream.shared) return;
  begin();
  stream.shared.tell({ asks: true });
});

function showLink(state, refusal = null) {
  Object.assign(stream, { state, refusal });
  // While the page is not connected, nothing says otherwise.
  const words = refusal ? translated(refusal) : state && t(state);
  const text = isConnected() ? words ?? refusal?.detail : null;
  $("link").lang = refusal && !words ? "en" : "";
  setText($("link"), text ?? "");
}

for (const when of [whenLanguageChanges, whenConnected]) when(() => showLink(stream.state, stream.refusal));

const pauseFor = (milliseconds) => new Promise((resume) => { setTimeout(resume, milliseconds); });

function refresh() {
  stream.isFresh = true;
  refreshShop();
  refreshPlayer();
  refreshToday();
  refreshRecent();
  newsLater();
  if (LIVE_VIEWS.includes(currentView())) loadView();
}

/** Shows in every tab whether events come. */
function standing(state, refusal = null) {
  regain("events");
  showLink(state, refusal);
  stream.shared?.tell({ state, refusal });
}

// MARK: In the tab that reads

/** Reads events until the signal ends the work, or the key is refused. Reconnects after a lost connection. */
async function read(signal) {
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    try {
      const headers = { Accept: "text/event-stream", ...(stream.last ? { "Last-Event-ID": stream.last } : {}) };
      const response = await call("/v1/events", { headers, signal });
      standing("live.on");
      pause = FIRST_PAUSE;
      // Changes may have happened while no stream was open.
      refresh();
      await readEvents(response.body, (event) => { stream.shared?.tell({ event }); take(event); });
    } catch (error) {
      if (signal.aborted || isObsolete(error)) return;
      if (error instanceof Problem && error.status) {
        if (!(await waitOut(error, signal))) return;
        continue;
      }
    }
    if (signal.aborted) return;
    showLink(null);
    lose("events");
    stream.shared?.tell({ isLost: true });
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
    standing(null, { code: problem.code, detail: problem.detail, status: problem.status });
    refresh();
    return false;
  }
  const wait = Math.min(LONGEST_REFUSAL, Number(problem.retryAfter) * 1000 || 0);
  const end = performance.now() + wait;
  standing("live.off");
  do {
    refresh();
    stream.shared?.tell({ isDue: true });
    await pauseFor(POLL_PAUSE);
  } while (performance.now() < end && !signal.aborted);
  return true;
}

// MARK: In the other tabs

/** Does what the tab that reads tells. */
function hear({ asks, event, state, refusal, isLost, isDue }) {
  if (asks) {
    if (stream.state || stream.refusal) stream.shared?.tell({ state: stream.state, refusal: stream.refusal });
  } else if (event) {
    take(event);
  } else if (isLost) {
    showLink(null);
    lose("events");
  } else if (isDue) {
    if (!document.hidden) refresh();
  } else {
    regain("events");
    showLink(state, refusal);
    if (!stream.isFresh && !document.hidden) refresh();
  }
}

// What one tab does is shown in the others at once.
whenControlled(() => stream.shared?.tell({ isDue: true }));

// MARK: What events change

const playerSoon = soon(refreshPlayer, 120);
const recentSoon = soon(refreshRecent, 300);
const todaySoon = soon(refreshToday, 700);
const viewSoon = soon(loadView, 300);

/** Asks what providers reported in vain. What that needs is loaded then; without an answer, the next event asks again. */
const refreshNews = () => import("./missed.js").then((missed) => missed.refreshNews(), suspect);

const newsSoon = soon(refreshNews, 300);
const newsLater = soon(refreshNews, NEWS_PAUSE);

function take(event) {
  if (event.id) stream.last = event.id;
  if (event.event === "shop") {
    takeShop(JSON.parse(event.data.join("\n")));
    // A pause has no other event.
    if (!document.hidden) playerSoon();
    return;
  }
  // A hidden tab asks for everything when it is visible again.
  if (document.hidden) return;
  // A rendered clip does not change the queue.
  if (event.event !== "rendered") playerSoon();
  recentSoon();
  if (event.event === "rendered" || event.event === "accepted") todaySoon();
  if (LIVE_VIEWS.includes(currentView())) viewSoon();
  // The view of the providers tells the page of the shop what it learns.
  if (event.event?.startsWith("provider_") && currentView() !== "providers") newsSoon();
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
