// SPDX-License-Identifier: Apache-2.0

import { make } from "./page.js";

/** Lets the browser save a file. */
export function saveFile(blob, name) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
