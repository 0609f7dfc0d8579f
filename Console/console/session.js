// SPDX-License-Identifier: Apache-2.0

// Signing in with a key, and signing out.

import { access, canBeKey, publicPart, whenKeyChanges, whenRightsAreKnown } from "./access.js";
import { refreshBatches, stopFollowingBatches } from "./batches.js";
import { whenConnected } from "./connection.js";
import { refreshDevices } from "./devices.js";
import { dismiss } from "./dialog.js";
import { follow, stopFollowing } from "./events.js";
import { refreshKeys } from "./keys.js";
import { refreshPacks } from "./packs.js";
import { $, setText } from "./page.js";
import { refreshProviders } from "./providers.js";
import { Problem, showProblem, whenUnauthorized } from "./service.js";
import { refreshShop } from "./shop.js";
import { t } from "./translations.js";
import { loadView, offerView, showView, whenShown } from "./views.js";

/** The pause before the page asks again what the key may do, in milliseconds. */
const ASK_AGAIN = 3000;

whenUnauthorized(signOut);
whenShown("try", later(() => import("./try.js")));
whenShown("announcement", later(() => import("./announcement.js")));
whenShown("batches", refreshBatches);
whenShown("voices", refreshPacks);
whenShown("devices", refreshDevices);
whenShown("providers", refreshProviders);
whenShown("keys", refreshKeys);
whenKeyChanges(() => offerView("keys", false));
whenRightsAreKnown(() => {
  offerView("keys", access.isAdmin);
  showView();
});
whenConnected(() => {
  if (!access.key) refreshShop();
  else if (access.isKnown) loadView();
  else signIn();
});

/** Returns a loader of a view whose module is loaded when the view is first shown. */
function later(load) {
  let module = null;
  return async () => {
    module ??= load().then((loaded) => { loaded.connect(); return loaded; });
    await (await module).refresh();
  };
}

/** Signs in with the stored key or the key in the address, or asks for a key. */
export function begin() {
  access.load();
  if (access.key) {
    signIn();
    offerKey();
  } else {
    signOut();
    refreshShop();
  }
}

/** Shows the console and loads its contents with the key in use. */
async function signIn() {
  closeKeyPanel();
  $("main").hidden = false;
  $("key-shown").hidden = false;
  $("views").hidden = false;
  showView();
  setText($("key-name"), `${publicPart(access.key)}…`);
  follow();
  const { key } = access;
  await learnRights(key);
  if (access.key !== key) return;
  loadView();
}

/** Finds out whether the key has the scope `admin`. If the service is too busy to tell, asks again later. */
async function learnRights(key) {
  const isAdmin = await refreshKeys();
  if (access.key !== key) return;
  if (isAdmin === null) {
    setTimeout(() => { if (access.key === key) learnRights(key); }, ASK_AGAIN);
    return;
  }
  // The service accepts the key, so only the person can replace it from now on.
  access.offered = null;
  access.learn(isAdmin);
}

/** Forgets the key and asks for another. `problem` is the service's answer if it rejected the key. */
export function signOut(problem = null) {
  pause();
  dismiss();
  $("recorder").close();
  const { offered } = access;
  access.keep(problem && offered);
  // The service rejected the stored key, and the page was loaded with another: sign in with that one. This happens in a
  // task of its own, after the failed call has ended.
  if (access.key) {
    setTimeout(signIn);
    return;
  }
  $("key").value = "";
  $("key-keep").hidden = true;
  $("key-panel").hidden = false;
  $("main").hidden = true;
  $("key-shown").hidden = true;
  $("views").hidden = true;
  showProblem($("key-problem"), problem);
  $("key").focus();
}

/** Ends the connections that stay open. */
export function pause() {
  stopFollowing();
  stopFollowingBatches();
}

/** Loads everything again, after `pause`. */
export function resume() {
  if (access.key) signIn();
}

/** Signs in with the key that was typed, if it can be a key. */
export function useTypedKey() {
  const key = $("key").value.trim();
  if (!key) {
    showProblem($("key-problem"), new Problem({ code: "key_missing", detail: t("key.missing") }));
    return;
  }
  if (!canBeKey(key)) {
    const detail = t("key.malformed");
    showProblem($("key-problem"), new Problem({ code: "key_malformed", detail }));
    return;
  }
  access.keep(key);
  signIn();
  leaveKeyPanel();
}

/** Shows the key of a link, and changes nothing until the person decides. */
function offerKey() {
  if (!access.offered) return;
  $("key-panel").hidden = false;
  $("key-keep").hidden = false;
  $("key").value = access.offered;
  const detail = t("key.differs", { key: `${publicPart(access.offered)}…` });
  showProblem($("key-problem"), new Problem({ code: "key_differs", detail }));
}

/** Keeps the key in use and hides the key of a link. */
export function declineKey() {
  closeKeyPanel();
  leaveKeyPanel();
}

/** Takes the key from an address that changed while the page was open. */
export function addressChanged() {
  const before = access.key;
  access.load();
  if (access.key !== before) signIn();
  else if (access.key && showView() && !access.offered) loadView();
  offerKey();
  access.offered = null;
}

function closeKeyPanel() {
  $("key-panel").hidden = true;
  $("key-keep").hidden = true;
  $("key").value = "";
  showProblem($("key-problem"), null);
}

const leaveKeyPanel = () => $("main").focus({ preventScroll: true });
