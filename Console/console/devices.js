// SPDX-License-Identifier: Apache-2.0

// The account's devices: the phones to which announcements are pushed. Each has a page with an address of its own, which
// device.js shows.

import { whenKeyChanges } from "./access.js";
import { connectDevice, markup as page, outcomeOf, showDevice } from "./device.js";
import { dayTime, list, meta } from "./figures.js";
import { $, busy, buttons, fill, make, onClick, tag } from "./page.js";
import { showList } from "./rows.js";
import { attempt, json, showProblem } from "./service.js";
import { named, parts, t, whenLanguageChanges } from "./translations.js";

/** The HTML of the view. */
export const markup = [`<section id="devices-card" class="card" aria-labelledby="devices-title">
  <div class="head"><h2 id="devices-title" tabindex="-1" data-text="devices.title"></h2><button class="link online" id="devices-again" data-text="recent.refresh"></button></div>
  <p class="muted" data-text="devices.about"></p>
  <p class="stale" hidden></p>
  <p id="devices-problem" class="problem" role="alert" hidden></p>
  <p id="devices-off" class="notice-line" hidden></p>
  <div id="devices-filter" class="field short" hidden><label for="devices-group" data-text="devices.group"></label><select id="devices-group"></select></div>
  <ul id="devices" class="rows" aria-labelledby="devices-title"></ul>
  <div class="actions"><button id="devices-more" class="online" data-text="devices.more" hidden></button></div>
</section>`, page].join("");

/** The number of devices on a page. */
const PAGE = 50;

/** The loaded devices, the id after which the next page begins, and whether the service sends pushes at all. */
const shown = { devices: [], next: null, isOff: false };

/** Asks for the first page of devices, or for the one that the address names. */
export async function refresh() {
  const id = new URLSearchParams(location.hash.slice(1)).get("device");
  $("devices-card").hidden = id !== null;
  await showDevice(id);
  if (id !== null) return;
  await attempt($("devices-problem"), async () => {
    const [answer, readiness] = await Promise.all([json(`/v1/devices?limit=${PAGE}`), readinessOfPushes()]);
    Object.assign(shown, { devices: answer.devices, next: answer.next ?? null, isOff: readiness?.state === "none" });
    showDevices();
  }, { isRefresh: true });
}

/** Returns the check of the pushes, or `undefined` if a proxy hides it. */
const readinessOfPushes = () =>
  fetch("/readyz", { cache: "no-store" }).then((answer) => answer.json()).then(({ checks }) => checks?.pushes, () => {});

async function showMore() {
  await attempt($("devices-problem"), async () => {
    const answer = await json(`/v1/devices?limit=${PAGE}&after=${encodeURIComponent(shown.next)}`);
    Object.assign(shown, { devices: [...shown.devices, ...answer.devices], next: answer.next ?? null });
    showDevices();
  });
}

whenLanguageChanges(showDevices);

whenKeyChanges(() => {
  Object.assign(shown, { devices: [], next: null });
  $("devices").replaceChildren();
  $("devices-more").hidden = true;
  showProblem($("devices-problem"), null);
});

function showDevices() {
  $("devices-off").hidden = !shown.isOff;
  $("devices-off").replaceChildren(...parts("devices.off", {
    setting: make("code", {}, "apns"), page: make("code", {}, "docs/push.md"),
  }));
  const groups = [...new Set(shown.devices.map(({ device_group: group }) => group).filter(Boolean))].sort();
  fill($("devices-group"), [["", t("recent.any_state")], ...groups.map((group) => [group, group])]);
  $("devices-filter").hidden = groups.length === 0;
  const group = $("devices-group").value;
  const found = shown.devices.filter((device) => !group || device.device_group === group);
  showList($("devices"), found, {
    keyOf: ({ id }) => id, create: row, none: t("devices.none"), fallback: $("devices-title"), staysInList: false,
  });
  $("devices-more").hidden = !shown.next;
}

function row(device) {
  const { id, tokens } = device;
  const kinds = Object.keys(tokens).sort();
  const about = [
    device.device_group && t("devices.group_named", { group: device.device_group }),
    make("code", {}, device.bundle_id), named("devices.environment", device.environment), device.locale,
    kinds.length ? list(kinds.map((kind) => named("devices.token", kind))) : null,
    t("devices.changed_at", { time: dayTime(device.changed_at) }),
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title" }, make("a", { href: `#view=devices&device=${encodeURIComponent(id)}`, translate: false }, id)),
      meta(about)),
    buttons(status(device)));
}

/** Says what is wrong with the tokens, or that the last push arrived. */
function status({ tokens, last_outcomes: outcomes }) {
  const all = Object.values(tokens);
  if (!all.length) return tag("bad", t("devices.no_token"));
  const refusals = all.reduce((sum, token) => sum + token.refusals, 0);
  if (refusals) return tag("bad", t("devices.refusals", { count: refusals }));
  return outcomeOf(outcomes?.alert ?? Object.values(outcomes ?? {})[0]);
}

export function connect() {
  onClick("devices-more", () => busy($("devices-more"), showMore));
  onClick("devices-again", () => busy($("devices-again"), refresh));
  $("devices-group").addEventListener("change", showDevices);
  connectDevice();
}
