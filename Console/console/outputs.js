// SPDX-License-Identifier: Apache-2.0

// The loudspeaker: which output of the machine it is, and a sound that tries it.

import { access, whenKeyChanges } from "./access.js";
import { $, busy, fill, onClick, setText } from "./page.js";
import { Problem, attempt, call, isObsolete, json, sendJSON, showProblem } from "./service.js";
import { t, whenLanguageChanges } from "./translations.js";

export const markup = `<section id="outputs-card" class="card" aria-labelledby="outputs-title" hidden>
  <h2 id="outputs-title" data-text="outputs.title"></h2>
  <form id="outputs-form" class="line-form" novalidate>
    <div class="field"><label for="output" data-text="outputs.output"></label><select id="output" class="online"></select></div>
    <div class="actions"><button type="button" id="output-test" class="online" data-text="outputs.test"></button></div>
  </form>
  <p id="outputs-done" class="muted small" role="status"></p>
  <p id="outputs-problem" class="problem" role="alert" hidden></p>
</section>`;

let outputs = [];

/** Asks for the outputs. The card stays hidden if the service has no such call, or the key may not use it. */
export async function refreshOutputs() {
  if (!access.may("manage")) return;
  try {
    outputs = (await json("/v1/outputs")).outputs;
  } catch (error) {
    if (isObsolete(error)) return;
    if (!(error instanceof Problem)) throw error;
    outputs = [];
  }
  show();
}

whenLanguageChanges(() => setText($("outputs-done"), ""));

whenKeyChanges(() => {
  outputs = [];
  show();
  setText($("outputs-done"), "");
  showProblem($("outputs-problem"), null);
});

function show() {
  $("outputs-card").hidden = outputs.length === 0;
  fill($("output"), outputs.map(({ id, name }) => [id, name === id ? id : `${name} · ${id}`]));
  const used = outputs.find((output) => output.in_use);
  if (used) $("output").value = used.id;
}

async function choose() {
  setText($("outputs-done"), "");
  const output = $("output").value;
  const isDone = await attempt($("outputs-problem"), () => sendJSON("/v1/playback/output", "PUT", { output }));
  if (isDone) setText($("outputs-done"), t("outputs.chosen"));
  await refreshOutputs();
}

async function test() {
  setText($("outputs-done"), "");
  const isDone = await attempt($("outputs-problem"), () => call("/v1/playback/test", { method: "POST" }));
  if (isDone) setText($("outputs-done"), t("outputs.tested"));
}

export function connectOutputs() {
  $("outputs-form").addEventListener("submit", (event) => event.preventDefault());
  $("output").addEventListener("change", choose);
  onClick("output-test", () => busy($("output-test"), test));
}
