// SPDX-License-Identifier: Apache-2.0

// The service's readiness.

import { $, showPill } from "./page.js";
import { list } from "./figures.js";
import { named, t, whenLanguageChanges } from "./translations.js";

whenLanguageChanges(refreshReadiness);

/** Asks the service whether it is ready, and shows the answer with the names of failing checks. */
export async function refreshReadiness() {
  let text = t("ready.unreachable");
  let kind = "bad";
  try {
    const response = await fetch("/readyz", { cache: "no-store" });
    const { status, checks } = await response.json();
    const failing = Object.entries(checks ?? {}).filter(([, check]) => !check.ok).map(([name]) => name);
    text = named("ready", status);
    const reasons = list(failing.map((name) => named("check", name)));
    if (failing.length) text = t("ready.failing", { status: text, reasons });
    kind = response.ok && status === "ready" ? "good" : "bad";
  } catch {
    // Without an answer the service stays marked as unreachable.
  }
  showPill($("ready"), text, kind);
}
