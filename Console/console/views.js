// SPDX-License-Identifier: Apache-2.0

// The views of the console. The address names the one that is shown, so that the browser's back button works.

import { $ } from "./page.js";

/** The functions that load a view's contents, by the view's name. */
const loaders = {};

const links = () => [...$("views").querySelectorAll("a")];

const viewOf = (link) => new URLSearchParams(link.hash.slice(1)).get("view");

/** Sets the function that loads a view's contents each time the view is shown. */
export const whenShown = (view, loader) => { loaders[view] = loader; };

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

/** Shows the view that the address names, or the first. Returns its name. */
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
  return view;
}

/** Loads the contents of the view that is shown. */
export const loadView = () => loaders[currentView()]?.();

/** Offers a view, or takes it away. */
export function offerView(view, isOffered) {
  links().find((link) => viewOf(link) === view).hidden = !isOffered;
}
