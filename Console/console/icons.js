// SPDX-License-Identifier: Apache-2.0

// The icons of the kinds of announcements. Each has a shape of its own, so that the colour is not needed to tell them.

const SVG = "http://www.w3.org/2000/svg";

/** The lines of each icon, in a square of 20 units. */
const SHAPES = {
  received: "M10 4.5v10M5.5 10.5l4.5 4.5 4.5-4.5",
  refunded: "M6 5.5L3 8.5l3 3M3 8.5h9a4 4 0 0 1 0 8H8",
  withdrawn: "M10 15.5v-10M5.5 9.5L10 5l4.5 4.5",
  pending: "M10 5v5.5l3.5 2M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14",
  failed: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  text: "M4 6h12M4 10h12M4 14h7",
};

/** Makes the icon of a kind. What it means is said in words beside it. */
export function kindIcon(kind) {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  for (const [name, value] of Object.entries({
    viewBox: "0 0 20 20", class: `kind-icon kind-${kind in SHAPES ? kind : "text"}`, "aria-hidden": "true",
  })) svg.setAttribute(name, value);
  path.setAttribute("d", SHAPES[kind] ?? SHAPES.text);
  svg.append(path);
  return svg;
}
