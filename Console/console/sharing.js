// SPDX-License-Identifier: Apache-2.0

// Work that one tab of a browser does for all its tabs. A browser opens about six connections to a host, so a stream for
// each tab would leave none for the buttons.

/**
 * Lets the tabs that use the same `name` choose one visible tab that works for all. `work(signal)` is called in that
 * tab, and `hear(message)` in every other tab for each message that it tells.
 *
 * Over plain http at an address of the local network, browsers have no locks. Each visible tab then works for itself.
 */
export class SharedWork {
  #name;
  #work;
  #channel = null;
  #stopper = null;
  #follow = () => {
    if (document.hidden) this.#rest();
    else if (!this.#stopper) this.#compete();
  };

  constructor(name, { work, hear }) {
    this.#name = name;
    this.#work = work;
    if (!navigator.locks) return;
    this.#channel = new BroadcastChannel(name);
    this.#channel.addEventListener("message", ({ data }) => hear(data));
  }

  /** Takes part in the choice while the tab is visible. */
  begin() {
    document.addEventListener("visibilitychange", this.#follow);
    this.#follow();
  }

  /** Sends a message to the other tabs. */
  tell(message) {
    this.#channel?.postMessage(message);
  }

  /** Ends the work in this tab. Another tab takes it over. */
  end() {
    document.removeEventListener("visibilitychange", this.#follow);
    this.#rest();
    this.#channel?.close();
  }

  #compete() {
    const stopper = new AbortController();
    this.#stopper = stopper;
    const { signal } = stopper;
    if (!navigator.locks) {
      this.#work(signal);
      return;
    }
    navigator.locks.request(this.#name, { signal }, () => (signal.aborted ? null : this.#work(signal)))
      .catch((error) => { if (!signal.aborted) throw error; });
  }

  #rest() {
    this.#stopper?.abort();
    this.#stopper = null;
  }
}
