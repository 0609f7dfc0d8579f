// SPDX-License-Identifier: Apache-2.0

// The views of the console. The address names the one that is shown, so that the browser's back button works. A view
// that is not needed at once is loaded when it is first opened.

import { access } from "./access.js";
import { suspect } from "./connection.js";
import { $, make, reflect, setText } from "./page.js";
import { fragment, loadViewTexts, t } from "./translations.js";

/**
 * The modules of the views that are loaded when they are first opened. Each exports `markup`, the view's HTML;
 * `connect`, which is called once, when the HTML is on the page; and `refresh`, which loads the view's contents.
 */
const MODULES = {
  announcement: () => import("./announcement.js"),
  try: () => import("./try.js"),
  providers: () => import("./providers.js"),
  batches: () => import("./batches.js"),
  voices: () => import("./voices.js"),
  devices: () => import("./devices.js"),
  webhooks: () => import("./webhooks.js"),
  keys: () => import("./keys.js"),
  settings: () => import("./settings.js"),
};

/** The views that are open or being opened, as promises of their modules. */
const opened = {};

let styleLoads = null;

const links = () => [...$("views").querySelectorAll("a")];

const viewOf = (link) => new URLSearchParams(link.hash.slice(1)).get("view");

const sectionOf = (view) => document.querySelector(`.view[data-view="${view}"]`);

/** Returns the id of the announcement whose page a fragment names, or null. */
export function announcementOf(hash) {
  const [, id] = /^#\/announcements\/(.+)$/.exec(hash) ?? [];
  try {
    return id === undefined ? null : decodeURIComponent(id);
  } catch {
    return null;
  }
}

/** Returns the address of an announcement's page. */
export const addressOf = (id) => `#/announcements/${encodeURIComponent(id)}`;

/** The name of the view that is shown. */
export const currentView = () => document.querySelector(".view:not([hidden])").dataset.view;

/** Shows the view that the address names, or the first, and says so if the key may not open it. Returns its name. */
export function showView() {
  const id = announcementOf(location.hash);
  const wanted = id === null ? new URLSearchParams(location.hash.slice(1)).get("view") : "announcement";
  const offered = [...links().filter((link) => !link.hidden).map(viewOf), "announcement"];
  const view = offered.includes(wanted) ? wanted : offered[0];
  for (const section of document.querySelectorAll(".view")) section.hidden = section.dataset.view !== view;
  for (const link of links()) {
    // The page of an announcement belongs to the shop.
    if (viewOf(link) === (view === "announcement" ? "shop" : view)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  showRefusal(links().find((link) => link.hidden && viewOf(link) === wanted));
  return view;
}

/** Says which view the key may not open. Before the service told what it may, nothing is certain. */
function showRefusal(link) {
  const isRefused = Boolean(link) && access.isKnown;
  $("view-refused").hidden = !isRefused;
  if (!isRefused) return;
  $("view-refused-name").dataset.text = link.dataset.text;
  setText($("view-refused-name"), link.textContent);
}

/** Loads the contents of the view that is shown, and the view itself if it was not open before. */
export async function loadView() {
  const view = currentView();
  if (!(view in MODULES)) return;
  opened[view] ??= open(view);
  let module;
  try {
    module = await opened[view];
  } catch {
    delete opened[view];
    sectionOf(view).replaceChildren(make("p", { class: "problem", role: "alert" }, t("problem.unreachable")));
    suspect();
    return;
  }
  if (currentView() === view) await module.refresh();
}

/** Loads a view's module, its texts and the style of the views, and puts its HTML on the page. */
async function open(view) {
  styleLoads ??= loadStyle();
  // A module shows its texts when the language changes, so its HTML follows at once.
  await Promise.all([loadViewTexts(), styleLoads]);
  const module = await MODULES[view]();
  sectionOf(view).replaceChildren(fragment(module.markup));
  for (const control of sectionOf(view).querySelectorAll(".online")) reflect(control);
  module.connect();
  return module;
}

function loadStyle() {
  const link = make("link", { rel: "stylesheet", href: "/console/views.css" });
  return new Promise((resolve, reject) => {
    Object.assign(link, { onload: resolve, onerror: reject });
    document.head.append(link);
  }).catch((error) => {
    link.remove();
    styleLoads = null;
    throw error;
  });
}

/** Offers a view, or takes it away. */
export function offerView(view, isOffered) {
  links().find((link) => viewOf(link) === view).hidden = !isOffered;
}
