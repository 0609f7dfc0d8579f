// SPDX-License-Identifier: Apache-2.0

// The service's readiness.

import { isConnected, suspect } from "./connection.js";
import { list } from "./figures.js";
import { $, showPill } from "./page.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** Asks the service whether it is ready, and shows the answer with the names of failing checks. */
export async function refreshReadiness() {
  try {
    const response = await fetch("/readyz", { cache: "no-store" });
    const { status, checks } = await response.json();
    if (!isConnected()) return;
    const failing = Object.entries(checks ?? {}).filter(([, check]) => !check.ok).map(([name]) => named("check", name));
    const name = named("ready", status);
    const text = failing.length ? t("ready.failing", { status: name, reasons: list(failing) }) : name;
    showPill($("ready"), text, response.ok && status === "ready" ? "good" : "bad");
  } catch {
    suspect();
  }
}

whenLanguageChanges(refreshReadiness);
