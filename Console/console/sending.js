// SPDX-License-Identifier: Apache-2.0

// Sends previews, and announcements so that a lost answer never leads to a second announcement.

import { whenKeyChanges } from "./access.js";
import { LIMITS, Problem, call, json, read } from "./service.js";

/**
 * The bodies that were sent without an answer, by the form's content. Such a body may have been announced, so the same
 * form sends it again with the same id, and it is not announced twice. A change of the form or of the key clears them.
 */
const unanswered = new Map();

whenKeyChanges(forgetUnanswered);

export function forgetUnanswered() {
  unanswered.clear();
}

/** Makes a new announcement id. `randomUUID` does not exist in pages that are not a secure context. */
function newID() {
  if (crypto.randomUUID) return `console-${crypto.randomUUID()}`;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Makes a preview of a form's content, which the service does not store. Returns the report and what was sent. */
export async function makePreview(form) {
  const sent = { path: "/v1/previews", body: JSON.stringify(form) };
  const report = await json(sent.path, { method: "POST", body: sent.body, limit: LIMITS.preview });
  return { report, sent };
}

/** Announces a form's content. Returns the report, what was sent, and whether it was announced before. */
export async function send(form) {
  const content = JSON.stringify(form);
  const before = unanswered.get(content);
  const body = before ?? JSON.stringify({ id: newID(), ...form });
  const sent = { path: "/v1/announcements", body };
  unanswered.set(content, body);
  try {
    const response = await call(sent.path, { method: "POST", body, limit: LIMITS.preview });
    const report = await read(response);
    unanswered.delete(content);
    return { report, sent, isKnown: response.status === 200 };
  } catch (error) {
    // A body refused on its first attempt was not announced. A later refusal says nothing about the first attempt.
    const isRefused = error instanceof Problem && error.status >= 400 && error.status < 500;
    if (!before && isRefused) unanswered.delete(content);
    throw error;
  }
}
