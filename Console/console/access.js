// SPDX-License-Identifier: Apache-2.0

// The API key. It is stored for this tab only; without session storage it lasts until the page is closed.

const STORED_KEY = "crier.key";

/** Characters that cannot be in an HTTP header. */
const NOT_IN_HEADERS = /[^\x21-\x7e]/g;

const listeners = { key: [], rights: [] };

/** Sets a function that is called after the key in use changed. It removes the former account's data from the page. */
export const whenKeyChanges = (listener) => { listeners.key.push(listener); };

/** Sets a function that is called after the page learnt whether the key has the scope `admin`. */
export const whenRightsAreKnown = (listener) => { listeners.rights.push(listener); };

export const access = {
  /** The key in use. */
  key: null,

  /**
   * A key from the address that differs from the key in use. It is not used without the person's consent, because the
   * author of the link would see everything that is announced with it. One exception: if the page was loaded with the
   * key, and the service rejects the stored key, the key from the address replaces the stored key.
   */
  offered: null,

  /** Whether the key has the scope `admin`. The service does not tell, so the console asks for what needs it. */
  isAdmin: false,

  /** Whether the service has accepted the key. */
  isKnown: false,

  /** Reads the stored key and the key in the address, and removes the key from the address. */
  load() {
    try {
      this.key ??= sessionStorage.getItem(STORED_KEY);
    } catch {
      // Session storage is not available.
    }
    const fragment = new URLSearchParams(location.hash.slice(1));
    const given = fragment.get("key")?.replace(NOT_IN_HEADERS, "");
    if (!given) return;
    history.replaceState(null, "", location.pathname + location.search);
    if (!this.key) this.keep(given);
    else if (given !== this.key) this.offered = given;
  },

  /** Uses a key and stores it. `null` removes the key. */
  keep(key) {
    this.key = key;
    this.offered = null;
    this.isAdmin = false;
    this.isKnown = false;
    for (const listener of listeners.key) listener();
    try {
      if (key) sessionStorage.setItem(STORED_KEY, key);
      else sessionStorage.removeItem(STORED_KEY);
    } catch {
      // Session storage is not available.
    }
  },

  /** Notes whether the key has the scope `admin`. */
  learn(isAdmin) {
    this.isAdmin = isAdmin;
    this.isKnown = true;
    for (const listener of listeners.rights) listener();
  },
};

/** Whether a text can be sent as a key in an HTTP header. */
export const canBeKey = (text) => text.search(NOT_IN_HEADERS) < 0;

/** Returns the part of a key that is not secret. */
export const publicPart = (key) => /^crier_[0-9a-z]{8}(?=_)/.exec(key ?? "")?.[0] ?? "crier_";
