// SPDX-License-Identifier: Apache-2.0

// Draws a QR code, whose modules the service works out.

const SVG = "http://www.w3.org/2000/svg";

/** The empty border by which readers find the code, in modules. */
const QUIET = 4;

/** Returns a drawing of the code: `rows` has a text of 0 and 1 for each row. It is black on white in any scheme. */
export function drawing({ size, rows }, label) {
  const whole = size + 2 * QUIET;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${whole} ${whole}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.setAttribute("shape-rendering", "crispEdges");
  const path = (data, fill) => {
    const element = document.createElementNS(SVG, "path");
    element.setAttribute("d", data);
    element.setAttribute("fill", fill);
    svg.append(element);
  };
  path(`M0 0h${whole}v${whole}h-${whole}z`, "white");
  const bars = rows.flatMap((row, y) => [...row.matchAll(/1+/g)].map(({ 0: run, index }) =>
    `M${index + QUIET} ${y + QUIET}h${run.length}v1h-${run.length}z`));
  path(bars.join(""), "black");
  return svg;
}
