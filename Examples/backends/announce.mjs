// SPDX-License-Identifier: Apache-2.0
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/** Resolves to the report; the same payment may be sent any number of times. */
export async function announce(payment) {
  const address = (process.env.CRIER_URL ?? "").replace(/\/+$/, "");
  const key = (process.env.CRIER_KEY ?? "").trim();
  if (!/^https?:\/\/./.test(address) || !/^[!-~]+$/.test(key)) {
    throw new Error("set CRIER_URL, with http:// or https://, and CRIER_KEY");
  }
  const body = JSON.stringify({ ...payment, deliver: ["clip", "play"] }); // the same bytes at each attempt
  const started = performance.now();
  for (let attempt = 0; ; attempt++) {
    let wait = 2 ** attempt;
    let status = 0;
    let problem;
    try {
      const answer = await fetch(address + "/v1/announcements", {
        method: "POST", body, redirect: "manual", signal: AbortSignal.timeout(30_000),
        headers: { "Authorization": "Bearer " + key, "Content-Type": "application/json" },
      });
      status = answer.status;
      const after = answer.headers.get("Retry-After") ?? "";
      if (status >= 300 && /^\d{1,6}$/.test(after)) wait = Number(after); // a proxy may send a date
      const text = await answer.text();
      if (status === 200 || status === 201) return JSON.parse(text); // 200: it came before, and is not announced twice
      problem = `${status} ${text}`;
    } catch (error) {
      // It may have been accepted or not, and asking again is safe.
      problem = `no whole answer (${error.cause?.message ?? error.message})`;
    }
    if (status >= 300 && status < 500 && status !== 429) {
      // 409: another payment has this id; others: correct the request.
      throw new Error(`${payment.id}: ${problem}`);
    }
    if (attempt === 7 || (performance.now() - started) / 1000 + wait > 600) {
      throw new Error(`${payment.id}: gave up after ${attempt + 1} attempts: ${problem}`);
    }
    await setTimeout(wait * 1000);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [id, amount, currency] = process.argv.slice(2);
  try {
    if (process.argv.length !== 5) throw new Error("usage: announce.mjs ID AMOUNT CURRENCY");
    const report = await announce({ id, amount, currency });
    console.log(report.text, report.clip.url);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
