// SPDX-License-Identifier: Apache-2.0

// The account's devices: the phones to which announcements are pushed, and what became of the pushes to one of them.

import { whenKeyChanges } from "./access.js";
import { ask } from "./dialog.js";
import { dayTime, dotted, list } from "./figures.js";
import { $, busy, make, onClick, rowButton, setText } from "./page.js";
import { showList } from "./rows.js";
import { attempt, json, showProblem } from "./service.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The number of devices on a page, and of the pushes that are shown for a device. */
const [PAGE, LATEST] = [50, 20];

/** The colour of each state's label. */
const COLOURS = { delivered: "good", failed: "bad", expired: "bad", unregistered: "bad" };

/** The loaded devices, the id after which the next page begins, and the device whose pushes are shown. */
const shown = { devices: [], next: null, chosen: null, pushes: [] };

/** Asks for the first page of devices, and for the pushes of the chosen one. */
export async function refreshDevices() {
  await attempt($("devices-problem"), async () => {
    const answer = await json(`/v1/devices?limit=${PAGE}`);
    Object.assign(shown, { devices: answer.devices, next: answer.next ?? null });
    showDevices();
    if (shown.chosen) await refreshPushes();
  }, { isRefresh: true });
}

async function showMore() {
  await attempt($("devices-problem"), async () => {
    const answer = await json(`/v1/devices?limit=${PAGE}&after=${encodeURIComponent(shown.next)}`);
    Object.assign(shown, { devices: [...shown.devices, ...answer.devices], next: answer.next ?? null });
    showDevices();
  });
}

whenLanguageChanges(() => { showDevices(); showPushes(); });

whenKeyChanges(() => {
  Object.assign(shown, { devices: [], next: null, chosen: null, pushes: [] });
  $("devices").replaceChildren();
  $("devices-more").hidden = true;
  showPushes();
  showProblem($("devices-problem"), null);
});

function showDevices() {
  showList($("devices"), shown.devices, {
    keyOf: ({ id }) => id, create: row, none: t("devices.none"), fallback: $("devices-title"), staysInList: false,
  });
  $("devices-more").hidden = !shown.next;
}

function row(device) {
  const { id, tokens } = device;
  const kinds = Object.keys(tokens).sort();
  const refusals = Object.values(tokens).reduce((sum, token) => sum + token.refusals, 0);
  const about = [
    device.device_group && t("devices.group_named", { group: device.device_group }),
    make("code", {}, device.bundle_id), named("devices.environment", device.environment), device.locale,
    kinds.length ? list(kinds.map((kind) => named("devices.token", kind))) : null,
    t("devices.changed_at", { time: dayTime(device.changed_at) }),
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title", translate: false }, id),
      make("p", { class: "meta" }, ...dotted(about))),
    make("div", { class: "buttons" },
      kinds.length ? null : make("span", { class: "tag bad" }, t("devices.no_token")),
      refusals ? make("span", { class: "tag bad" }, t("devices.refusals", { count: refusals })) : null,
      rowButton(t("devices.pushes"), t("devices.pushes_named", { id }), () => choose(device)),
      rowButton(t("devices.remove"), t("devices.remove_named", { id }), () => askAndRemove(id))));
}

// MARK: The pushes of a device

async function choose(device) {
  shown.chosen = device.id;
  shown.pushes = [];
  showPushes();
  $("pushes-title").focus();
  await attempt($("pushes-problem"), refreshPushes);
}

/** Asks for the last pushes to the chosen device. The service counts them, and lists them from a number on. */
async function refreshPushes() {
  const { chosen } = shown;
  const path = `/v1/devices/${encodeURIComponent(chosen)}`;
  const { last_sequence: last } = await json(path);
  const answer = await json(`${path}/announcements?limit=${LATEST}&after=${Math.max(0, last - LATEST)}`);
  if (shown.chosen !== chosen) return;
  shown.pushes = answer.announcements.reverse();
  showPushes();
}

function showPushes() {
  $("pushes-card").hidden = !shown.chosen;
  if (!shown.chosen) {
    $("pushes").replaceChildren();
    showProblem($("pushes-problem"), null);
    return;
  }
  setText($("pushes-title"), t("pushes.title", { id: shown.chosen }));
  showList($("pushes"), shown.pushes, {
    keyOf: ({ sequence }) => sequence, create: pushRow, none: t("pushes.none"), fallback: $("pushes-title"),
  });
}

function pushRow(push) {
  const { alert } = push.payload.aps;
  const text = [alert?.title, alert?.body].filter(Boolean).join(" · ") || push.id || String(push.sequence);
  const about = [
    t("queue.number", { number: push.sequence }), dayTime(push.pushed_at),
    push.id && make("code", { class: "id", title: push.id }, push.id),
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title", lang: push.payload.crier?.locale ?? null, translate: false }, text),
      make("p", { class: "meta" }, ...dotted(about))),
    make("div", { class: "buttons" },
      make("span", { class: `tag ${COLOURS[push.state] ?? ""}` }, named("pushes.state", push.state))));
}

async function askAndRemove(id) {
  const isAgreed = await ask({
    title: t("devices.ask"), about: t("devices.ask_about", { id }), yes: t("devices.remove"), no: t("devices.ask_no"),
  });
  if (!isAgreed) return;
  $("devices-title").focus();
  const isDone = await attempt($("devices-problem"), () =>
    json(`/v1/devices/${encodeURIComponent(id)}`, { method: "DELETE" }));
  if (!isDone) return;
  if (shown.chosen === id) {
    Object.assign(shown, { chosen: null, pushes: [] });
    showPushes();
  }
  await refreshDevices();
}

export function connectDevices() {
  onClick("devices-more", () => busy($("devices-more"), showMore));
  onClick("devices-again", () => busy($("devices-again"), refreshDevices));
}
