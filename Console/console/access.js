// SPDX-License-Identifier: Apache-2.0

// The API key. One that was typed is stored for this tab only. One that came by a link is stored until somebody signs out
// or it expires, because the link works only once. Without a storage, a key lasts until the page is closed.

const STORED_KEY = "crier.key";

/** Characters that cannot be in an HTTP header. */
const NOT_IN_HEADERS = /[^\x21-\x7e]/g;

const listeners = { key: [], rights: [] };

/** Sets a function that is called after the key in use changed. It removes the former account's data from the page. */
export const whenKeyChanges = (listener) => { listeners.key.push(listener); };

/** Sets a function that is called after the page learnt what the key may do. */
export const whenRightsAreKnown = (listener) => { listeners.rights.push(listener); };

/**
 * What the scopes of a key allow, as far as the page differs for it: `views` are the views besides the shop's, `speaker`
 * is pausing, replaying and the volume, `register` gives out secrets of receivers, and `manage` changes what all accounts
 * use.
 */
const ALLOWED = {
  announce: ["announce", "register", "views"],
  read: ["views"],
  play: ["speaker", "cancel"],
  till: ["speaker"],
  operator: ["views", "announce", "speaker", "cancel", "manage"],
  admin: ["views", "announce", "register", "speaker", "cancel", "manage", "keys"],
};

export const access = {
  /** The key in use. */
  key: null,

  /**
   * A key from the address that differs from the key in use. It is not used without the person's consent, because the
   * author of the link would see everything that is announced with it. One exception: if the page was loaded with the
   * key, and the service rejects the stored key, the key from the address replaces the stored key.
   */
  offered: null,

  /** The one-time code of a link, which is exchanged for a key. */
  code: null,

  /** The key's scopes, its name and its account, as the service tells them; `null` until it told. */
  owner: null,

  /** Whether the key may see and change keys. */
  get isAdmin() { return this.may("keys"); },

  /** Whether the key allows something (`ALLOWED`). Before the service told, only what every key of today may do. */
  may(what) {
    if (!this.owner) return what !== "keys" && what !== "manage";
    return this.owner.scopes.some((scope) => ALLOWED[scope]?.includes(what));
  },

  /** Whether the service has accepted the key. */
  get isKnown() { return this.owner !== null; },

  /** Reads the stored key, and the key or the code in the address, and removes them from the address. */
  load() {
    try {
      this.key ??= sessionStorage.getItem(STORED_KEY) ?? localStorage.getItem(STORED_KEY);
    } catch {
      // The storages are not available.
    }
    const fragment = new URLSearchParams(location.hash.slice(1));
    const given = fragment.get("key")?.replace(NOT_IN_HEADERS, "");
    this.code = fragment.get("sign-in");
    if (!given && !this.code) return;
    history.replaceState(null, "", location.pathname + location.search);
    if (this.code) return;
    if (!this.key) this.keep(given);
    else if (given !== this.key) this.offered = given;
  },

  /** Uses a key and stores it, for this tab or for all and for long. `null` removes the key. */
  keep(key, isLasting = false) {
    this.key = key;
    this.offered = null;
    this.owner = null;
    showRights();
    for (const listener of listeners.key) listener();
    try {
      sessionStorage.removeItem(STORED_KEY);
      if (!key || isLasting) localStorage.removeItem(STORED_KEY);
      if (key) (isLasting ? localStorage : sessionStorage).setItem(STORED_KEY, key);
    } catch {
      // The storages are not available.
    }
  },

  /** Notes whose key it is, and what it may do. */
  learn(owner) {
    this.owner = owner;
    showRights();
    for (const listener of listeners.rights) listener();
  },
};

/** Names what the key may not do in the page, whose style then does not show the controls for it. */
function showRights() {
  document.documentElement.dataset.mayNot = ALLOWED.admin.filter((what) => !access.may(what)).join(" ");
}

/** Whether a text can be sent as a key in an HTTP header. */
export const canBeKey = (text) => text.search(NOT_IN_HEADERS) < 0;

/** Returns the part of a key that is not secret. */
export const publicPart = (key) => /^crier_[0-9a-z]{8}(?=_)/.exec(key ?? "")?.[0] ?? "crier_";
