// SPDX-License-Identifier: Apache-2.0

// Calls to the service. The console uses the documented HTTP interface only (openapi.json).

import { access } from "./access.js";
import { suspect } from "./connection.js";
import { make } from "./page.js";
import { named, t } from "./translations.js";

/**
 * The time within which the service has to answer, in milliseconds. A call that makes a clip or sends a file takes
 * longer.
 */
export const LIMITS = { call: 8000, preview: 30000, file: 120000 };

/** A problem document, or its substitute when the service does not answer. */
export class Problem extends Error {
  constructor({ status = 0, code = "unreachable", detail = t("problem.unreachable"), retryAfter = null } = {}) {
    super(detail);
    Object.assign(this, { status, code, detail, retryAfter });
  }
}

let onUnauthorized = () => {};

/** Sets the function that is called when the service rejects the key in use. */
export function whenUnauthorized(handler) {
  onUnauthorized = handler;
}

/** The key with which each answer was requested. */
const keys = new WeakMap();

/** Throws an `AbortError` if the key changed since a request was sent. Its answer is about the former account. */
function expect(key) {
  if (key !== access.key) throw new DOMException("", "AbortError");
}

/** Whether an error says only that nobody waits for the answer any more. */
export const isObsolete = (error) => error.name === "AbortError";

/** Returns the result of `work`, or throws a `Problem` if it takes longer than the limit. */
async function withinTime(work, limit) {
  let timer = null;
  const end = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new Problem()), limit);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a problem will be the same next time: the key may not do this, or the service does not have the call. */
export const isRefusal = ({ status }) => [400, 403, 404].includes(status);

/**
 * Calls the service with the key, or without it if `isOpen`. Throws a `Problem` unless the status is 200 to 299, or if
 * the service does not answer within the limit, and an `AbortError` if the key changed meanwhile.
 */
export async function call(path, options = {}) {
  const { method = "GET", body = null, type = "application/json", headers = {}, signal = null, isOpen = false } = options;
  const { limit = body === null || typeof body === "string" ? LIMITS.call : LIMITS.file } = options;
  const key = access.key;
  const stopper = new AbortController();
  const stop = () => stopper.abort();
  signal?.addEventListener("abort", stop);
  const request = { method, signal: stopper.signal, cache: "no-store", headers: { ...headers } };
  if (key && !isOpen) request.headers.Authorization = `Bearer ${key}`;
  if (body !== null) {
    request.body = body;
    request.headers["Content-Type"] = type;
  }
  if (signal?.aborted) stop();
  const response = await withinTime(fetch(path, request), limit).catch((error) => {
    if (isObsolete(error)) throw error;
    // The connection of a request that nobody waits for is free for others.
    stop();
    suspect();
    throw error instanceof Problem ? error : new Problem();
  });
  expect(key);
  keys.set(response, key);
  if (response.ok) return response;
  const document = await withinTime(response.json(), LIMITS.call).catch(() => ({}));
  const problem = new Problem({
    status: response.status,
    code: document.code ?? `status_${response.status}`,
    detail: document.detail ?? document.title ?? t("problem.status", { status: String(response.status) }),
    retryAfter: response.headers.get("Retry-After"),
  });
  expect(key);
  if (problem.status === 401 && !isOpen) onUnauthorized(problem);
  throw problem;
}

/** Returns the JSON of an answer. An answer that breaks off counts as none. */
export async function read(response) {
  const document = await withinTime(response.json(), LIMITS.call).catch(() => { throw new Problem(); });
  expect(keys.get(response));
  return document;
}

/** Calls the service and returns the JSON of its answer. */
export const json = async (path, options) => read(await call(path, options));

/** Calls the service and returns the bytes of its answer. */
export async function bytes(path) {
  return withinTime((await call(path)).arrayBuffer(), LIMITS.file).catch(() => { throw new Problem(); });
}

/** Calls the service with a body in JSON. */
export const sendJSON = (path, method, body) => json(path, { method, body: JSON.stringify(body) });

/** Returns what a problem says in the language of the page, or null if only the service's own text says it, in English. */
export function translated({ code, detail, status }) {
  if (!status) return detail;
  const text = named("problem.code", code);
  return text === code ? null : text;
}

const codeOf = ({ code, status }) => make("code", {}, status ? `${code} · ${status}` : code);

/** Makes what the service says about a problem, for those who ask. */
export const detailsOf = (problem) => make("details", {},
  make("summary", {}, t("problem.details")), make("p", { lang: "en" }, problem.detail), codeOf(problem));

/** Shows a problem in an element, or clears the element if there is no problem. */
export function showProblem(element, problem) {
  element.hidden = !problem;
  element.replaceChildren();
  if (!problem) return;
  const wait = problem.retryAfter ? ` ${t("problem.wait", { count: Number(problem.retryAfter) })}` : "";
  const text = translated(problem);
  element.append(text ?? make("span", { lang: "en" }, problem.detail), wait,
    text && problem.status ? detailsOf(problem) : codeOf(problem));
}

/**
 * Runs `work` and shows its problem, if any, in the element `place`. Other errors are thrown on. `isRefresh` is true
 * for work that nobody asked for: without an answer, the page shows that it is not connected, and not the problem.
 */
export async function attempt(place, work, { isRefresh = false } = {}) {
  try {
    showProblem(place, null);
    return await work();
  } catch (error) {
    if (isObsolete(error)) return undefined;
    if (!(error instanceof Problem)) throw error;
    if (error.status || !isRefresh) showProblem(place, error);
    // Whoever pressed a button must see that it did nothing, however long the list above the message is.
    if (!isRefresh) place.scrollIntoView({ block: "nearest" });
    return undefined;
  }
}
