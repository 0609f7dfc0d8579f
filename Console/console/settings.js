// SPDX-License-Identifier: Apache-2.0

// What the service is: its health, the machines that share its ledger, its versions and its settings. Nothing here
// changes them.

import { whenKeyChanges } from "./access.js";
import { dayTime, duration, list, meta, number } from "./figures.js";
import { $, busy, buttons, make, onClick, tag } from "./page.js";
import { saveFile } from "./saving.js";
import { Problem, attempt, call, json, showProblem } from "./service.js";
import { showList } from "./rows.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The HTML of the view. */
export const markup = `<section class="card" aria-labelledby="health-title">
  <div class="head"><h2 id="health-title" tabindex="-1" data-text="health.title"></h2><button class="link online" id="settings-again" data-text="recent.refresh"></button></div>
  <p class="stale" hidden></p>
  <p id="health-problem" class="problem" role="alert" hidden></p>
  <ul id="health" class="rows" aria-labelledby="health-title"></ul>
  <div id="bundle-choice" class="choice" data-may="manage">
    <div class="actions"><button id="bundle" class="online" data-text="bundle.make"></button></div>
    <p class="muted small" data-text="bundle.about"></p>
    <p id="bundle-problem" class="problem" role="alert" hidden></p>
  </div>
</section>
<section id="nodes-card" class="card" aria-labelledby="nodes-title" hidden>
  <h2 id="nodes-title" tabindex="-1" data-text="nodes.title"></h2>
  <ul id="nodes" class="rows" aria-labelledby="nodes-title"></ul>
  <ul id="differences" class="rows" aria-labelledby="nodes-title"></ul>
  <p id="doctor" class="muted small" data-text="nodes.doctor"></p>
</section>
<section id="versions-card" class="card" aria-labelledby="versions-title" hidden>
  <h2 id="versions-title" data-text="versions.title"></h2>
  <dl id="versions" class="facts plain"></dl>
</section>
<section id="settings-card" class="card" aria-labelledby="settings-title" hidden>
  <h2 id="settings-title" data-text="settings.title"></h2>
  <p class="muted" data-text="settings.about"></p>
  <form id="settings-filter" class="filter" role="search" novalidate>
    <div class="field"><label for="settings-search" data-text="recent.search"></label><input type="search" id="settings-search" autocomplete="off"></div>
    <label class="check"><input type="checkbox" id="settings-set"><span data-text="settings.only_set"></span></label>
  </form>
  <ul id="settings" class="rows" tabindex="-1" aria-labelledby="settings-title"></ul>
</section>`;

/** The source of a setting that nobody set. */
const DEFAULT = "default";

/** The deliveries of a machine that have another name in the checks. */
const CHECKS = { "provider-payments": "providers" };

/**
 * The checks of the readiness, the machines with their differences, the settings and the versions; `null` until they are
 * loaded.
 */
const shown = { checks: null, nodes: null, settings: null, versions: null };

/** Asks for the health, the machines, the settings and the versions. A service without a call shows nothing of it. */
export async function refresh() {
  await Promise.all([
    attempt($("health-problem"), async () => {
      // A service that is not ready answers with its checks too.
      const answer = await fetch("/readyz", { cache: "no-store" }).catch(() => { throw new Problem(); });
      shown.checks = (await answer.json().catch(() => ({}))).checks ?? {};
    }, { isRefresh: true }),
    json("/v1/nodes").then((nodes) => Object.assign(shown, { nodes }), hide("nodes")),
    json("/v1/settings").then(({ version, settings, versions }) =>
      Object.assign(shown, { settings, versions: { Crier: version, ...versions } }), hide("settings", "versions")),
  ]);
  show();
}

/** Hides what the service does not have, or the key may not see. Anything else is shown as a problem. */
const hide = (...parts) => (error) => {
  if (!(error instanceof Problem)) throw error;
  for (const part of parts) shown[part] = null;
  if (error.status && error.status !== 404 && error.status !== 403) showProblem($("health-problem"), error);
};

whenLanguageChanges(show);

whenKeyChanges(() => {
  Object.assign(shown, { nodes: null, settings: null, versions: null });
  for (const id of ["health-problem", "bundle-problem"]) showProblem($(id), null);
  show();
});

function show() {
  const { checks, nodes, settings, versions } = shown;
  const parts = Object.entries(checks ?? {}).map(([name, check]) => ({ name, ...check }));
  showList($("health"), parts, { keyOf: ({ name }) => name, create: checkRow, none: t("health.hidden"), fallback: $("health-title") });
  showNodes(nodes ?? { nodes: [], differences: [] });
  $("bundle-choice").hidden = !settings;
  $("versions-card").hidden = !versions;
  $("versions").replaceChildren(...Object.entries(versions ?? {}).map(([name, version]) =>
    make("div", {}, make("dt", { translate: false }, name), make("dd", { translate: false }, valueText(version)))));
  $("settings-card").hidden = !settings;
  const search = $("settings-search").value.trim().toLowerCase();
  const found = (settings ?? []).filter(({ name, value, source }) =>
    (source !== DEFAULT || !$("settings-set").checked) && `${name} ${valueText(value)}`.toLowerCase().includes(search));
  showList($("settings"), found, { keyOf: ({ name }) => name, create: settingRow, none: t("settings.none"), fallback: $("settings") });
}

function checkRow({ name, ok, state, code, cause, since, waiting, free_bytes: free }) {
  const isUnused = state === "none";
  const about = [
    since && t("health.since", { time: dayTime(since) }), (cause ?? code) && make("code", {}, cause ?? code),
    waiting ? t("health.waiting", { count: waiting }) : null, free ? t("health.free", { size: gigabytes(free) }) : null,
  ];
  const [kind, text] = ok ? [isUnused ? "" : "good", t(isUnused ? "health.unused" : "health.good")] : ["bad", t("health.bad")];
  return make("li", {},
    make("div", {}, make("p", { class: "title" }, named("check", name)), meta(about)),
    buttons(tag(kind, text)));
}

/** Shows the machines that share the ledger; nothing if the ledger is a file. */
function showNodes({ nodes, differences }) {
  const hosts = new Map(nodes.map(({ id, host }) => [id, host]));
  $("nodes-card").hidden = !nodes.length;
  $("doctor").hidden = !differences.some((difference) => !difference.is_of_upgrade);
  showList($("nodes"), nodes, { keyOf: ({ id }) => id, create: nodeRow, fallback: $("nodes-title") });
  const rows = differences.map(({ groups, ...rest }) =>
    ({ machines: groups.map((ids) => list(ids.map((id) => hosts.get(id) ?? id))), ...rest }));
  showList($("differences"), rows, { keyOf: ({ thing }) => thing, create: differenceRow, fallback: $("nodes-title") });
}

function nodeRow({ host, version, is_this: isThis, started_at: since, silence_seconds: silence, is_running: runs, deliveries, lanes }) {
  const time = duration(Math.round(silence));
  const about = [
    isThis ? t("nodes.this") : null, version || null, t("health.since", { time: dayTime(since) }),
    deliveries.length ? t("nodes.delivers", { list: list(deliveries.map((name) => named("check", CHECKS[name] ?? name))) }) : null,
    lanes.length ? t("nodes.plays", { list: list(lanes) }) : null,
  ];
  return make("li", {},
    make("div", {}, make("p", { class: "title", translate: false }, host), meta(about)),
    buttons(runs ? tag("good", t("nodes.heard", { time })) : tag("bad", t("nodes.gone", { time }))));
}

function differenceRow({ thing, machines, is_of_upgrade: isOfUpgrade }) {
  return make("li", {},
    make("div", {}, make("p", {}, make("code", {}, thing)), meta(machines)),
    buttons(isOfUpgrade ? tag("", t("nodes.upgrade")) : tag("bad", t("nodes.differs"))));
}

const gigabytes = (bytes) =>
  number(bytes / 1e9, { style: "unit", unit: "gigabyte", maximumFractionDigits: 1 });

function settingRow({ name, value, source }) {
  return make("li", {},
    make("div", {},
      make("p", {}, make("code", {}, name)),
      make("p", { class: "setting", translate: false }, valueText(value) || t("settings.empty"))),
    buttons(
      tag(source === DEFAULT ? "" : "good", named("settings.source", source))));
}

/** Returns a value as a person reads it: lists and the entries of maps with commas, other values as they are. */
function valueText(value) {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (typeof value !== "object") return String(value);
  return Object.entries(value).map(([name, part]) => `${name}: ${valueText(part)}`).join(", ");
}

async function saveBundle() {
  await attempt($("bundle-problem"), async () => {
    const answer = await call("/v1/support-bundle");
    saveFile(await answer.blob(), `crier-support-${new Date().toISOString().slice(0, 10)}.tar.gz`);
  });
}

export function connect() {
  onClick("settings-again", () => busy($("settings-again"), refresh));
  onClick("bundle", () => busy($("bundle"), saveBundle));
  $("settings-filter").addEventListener("submit", (event) => event.preventDefault());
  $("settings-filter").addEventListener("input", show);
}
