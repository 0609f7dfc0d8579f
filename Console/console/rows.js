// SPDX-License-Identifier: Apache-2.0

// Lists that change while a person uses them.

import { make } from "./page.js";
import { interfaceLocale } from "./translations.js";

/**
 * Shows items in a list, and keeps the rows of unchanged items, so that the focus stays where it is.
 *
 * `keyOf` returns an item's identity, and `create` makes its row. `none` is shown if there are no items. If the row
 * with the focus disappears, the focus moves to the row at its place, or to `fallback`. If `staysInList` is false, the
 * focus always moves to `fallback`, so that a key press meant for one row does not act on another.
 *
 * A row that leaves the list keeps its heir: the new row of the same item, or `fallback`. See `heirOf`.
 */
export function showList(list, items, { keyOf, create, none = null, fallback, staysInList = true }) {
  const before = new Map([...list.children].filter((row) => row.dataset.key).map((row) => [row.dataset.key, row]));
  const focused = [...list.children].findIndex((row) => row.contains(document.activeElement));
  const rows = items.map((item) => keptOrNewRow(item, before.get(String(keyOf(item))), keyOf, create));
  const wanted = rows.length || !none ? rows : [make("li", { class: "none" }, none)];
  if (wanted.length === list.children.length && wanted.every((row, index) => row === list.children[index])) return;
  const active = document.activeElement;
  // Moving an element takes its focus away, so rows that stay in place are not moved.
  for (const row of [...list.children]) {
    if (wanted.includes(row)) continue;
    row.heir = rows.find((other) => other.dataset.key === row.dataset.key) ?? fallback;
    row.remove();
  }
  wanted.forEach((row, index) => {
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null);
  });
  if (focused < 0 || active === document.activeElement) return;
  queueMicrotask(() => {
    if (document.activeElement !== document.body) return;
    const neighbour = staysInList ? list.children[Math.min(focused, list.children.length - 1)] : null;
    (neighbour?.querySelector("button, a") ?? fallback).focus();
  });
}

/** Returns the item's row if nothing in the item changed, else a new row. */
function keptOrNewRow(item, kept, keyOf, create) {
  // A row is made again if its item or the language of the interface changed.
  const shown = JSON.stringify([interfaceLocale(), item]);
  if (kept?.shown === shown) return kept;
  const row = create(item);
  row.dataset.key = String(keyOf(item));
  row.shown = shown;
  if (kept?.contains(document.activeElement)) {
    const { activeElement } = document;
    queueMicrotask(() => sameButton(row, activeElement)?.focus());
  }
  return row;
}

/** A link is the same if it leads to the same place, and a button if it has the same text. */
const isSame = (one, other) => (one.href ? one.href === other.href : one.textContent === other.textContent);

/** Returns the button of a new row that has the label of a button of the former row. */
const sameButton = (row, button) =>
  [...row.querySelectorAll(button.tagName)].find((other) => isSame(other, button));

/**
 * Returns the element that takes the place of a button whose row left the page: the same button of the item's new row,
 * else that row's first button, else the list's fallback.
 */
export function heirOf(button) {
  let place = button.closest("[data-key]");
  while (place && !place.isConnected) place = place.heir;
  if (!place?.dataset.key) return place ?? null;
  return sameButton(place, button) ?? place.querySelector("button");
}
