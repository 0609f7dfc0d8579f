// SPDX-License-Identifier: Apache-2.0

// The service's readiness.

import { isConnected, suspect } from "./connection.js";
import { list } from "./figures.js";
import { $, showPill } from "./page.js";
import { named, t } from "./translations.js";

/** The statuses with which a proxy hides the readiness from the browser, as Deployment/nginx.conf does. */
const HIDDEN = [401, 403, 404];

/** Asks the service whether it is ready, and shows the answer with the names of failing checks. */
export async function refreshReadiness() {
  try {
    const response = await fetch("/readyz", { cache: "no-store" });
    // An answer without checks comes from a proxy in front of the service.
    const answer = await response.json().catch(() => null);
    if (!isConnected()) return;
    if (answer?.checks) showReadiness(response, answer);
    else if (response.ok || HIDDEN.includes(response.status)) showPill($("ready"), t("ready.hidden"), "");
    else showPill($("ready"), t("problem.status", { status: String(response.status) }), "bad");
  } catch {
    suspect();
  }
}

function showReadiness(response, { status, checks }) {
  const failing = Object.entries(checks).filter(([, check]) => !check.ok).map(([name]) => named("check", name));
  const name = named("ready", status);
  const text = failing.length ? t("ready.failing", { status: name, reasons: list(failing) }) : name;
  showPill($("ready"), text, response.ok && status === "ready" ? "good" : "bad");
}
