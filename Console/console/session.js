// SPDX-License-Identifier: Apache-2.0

// Signing in with a key, and signing out.

import { access, canBeKey, publicPart, whenKeyChanges, whenRightsAreKnown } from "./access.js";
import { whenConnected } from "./connection.js";
import { dismiss } from "./dialog.js";
import { follow, stopFollowing } from "./events.js";
import { $, setText } from "./page.js";
import { Problem, isObsolete, json, showProblem, whenUnauthorized } from "./service.js";
import { refreshShop } from "./shop.js";
import { t, whenLanguageChanges } from "./translations.js";
import { loadView, offerView, showView } from "./views.js";

/** The pause before the page asks again what the key may do, in milliseconds. */
const ASK_AGAIN = 3000;

/** The views that only some keys see, and what a key has to allow. */
const GUARDED = {
  try: "announce", providers: "views", webhooks: "views", batches: "views", voices: "views", devices: "views", keys: "keys",
  settings: "views",
};

whenUnauthorized(signOut);
whenKeyChanges(offerViews);
whenRightsAreKnown(() => {
  offerViews();
  showOwner();
  showView();
});
whenLanguageChanges(showOwner);
whenConnected(() => {
  if (!access.key) return;
  if (access.isKnown) loadView();
  else signIn();
});

function offerViews() {
  for (const [view, what] of Object.entries(GUARDED)) offerView(view, access.may(what));
}

/** Shows whose key is in use: its name and its account, or the part of it that is not secret. */
function showOwner() {
  const { name, account } = access.owner ?? {};
  const shown = account ? t("key.owner", { name: name ?? publicPart(access.key), account }) : `${publicPart(access.key)}…`;
  setText($("key-name"), shown);
}

/** Signs in with the stored key, or the key or the code in the address, or asks for a key. */
export function begin() {
  access.load();
  if (access.code) {
    useCode();
    refreshShop();
  } else if (access.key) {
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
  showOwner();
  follow();
  const { key } = access;
  await learnRights(key);
  if (access.key !== key) return;
  loadView();
}

/** Signs in with the code of a link. Few pages need this, so it is loaded when it is. */
const useCode = async () => (await import("./signin.js")).useCode(signIn);

/** Finds out whose key it is and what it may do. If the service is too busy to tell, asks again later. */
async function learnRights(key) {
  const owner = await whoseKey();
  if (access.key !== key) return;
  if (owner === null) {
    setTimeout(() => { if (access.key === key) learnRights(key); }, ASK_AGAIN);
    return;
  }
  // The service accepts the key, so only the person can replace it from now on.
  access.offered = null;
  access.learn(owner);
}

/** Returns the owner of the key in use; `null` if the answer does not tell, for example from a busy service. */
async function whoseKey() {
  try {
    return await json("/v1/me");
  } catch (error) {
    if (isObsolete(error) || error instanceof Problem) return null;
    throw error;
  }
}

/** Forgets the key and asks for another. `problem` is the service's answer if it rejected the key. */
export function signOut(problem = null) {
  pause();
  dismiss();
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
export const pause = () => stopFollowing();

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
  if (access.code) useCode();
  else if (access.key !== before) signIn();
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
