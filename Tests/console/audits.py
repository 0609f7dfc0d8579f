# SPDX-License-Identifier: Apache-2.0
"""JavaScript expressions that examine the whole page. `PAINTED` returns a number, the others the faults that they find."""

# The elements that reach beyond the window, except those in an element that scrolls by itself.
WIDE = """(() => { const out = []; const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) out.push("the page is " + document.documentElement.scrollWidth + " px wide");
  for (const e of document.querySelectorAll("body *")) { const r = e.getBoundingClientRect();
    if (r.width && r.right > width + 0.5 && !e.closest("pre, .hidden, .skip")) out.push(e.tagName + "#" + e.id + "." + e.className + " " + Math.round(r.right)); }
  return out.slice(0, 5); })()"""

# The texts whose contrast with their background is below WCAG level AA: 4.5, or 3 for large text. A text that is partly
# transparent is mixed with its background. Controls that are disabled, and what is behind an open dialog, need no contrast.
FAINT = """(() => { const out = []; const probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgb = (c) => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = c; probe.fillRect(0, 0, 1, 1); return [...probe.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  for (const e of document.querySelectorAll("body *")) {
    const text = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || e.matches("input:not([type=radio], [type=checkbox]), select, textarea");
    if (!text || !e.checkVisibility() || e.closest(".hidden, .skip, option, datalist, noscript, :disabled, [aria-disabled=true], label:has(:disabled)")) continue;
    if (document.querySelector("dialog[open]") && !e.closest("dialog")) continue;
    let under = e, behind = null;
    while (under && !behind) { const c = rgb(getComputedStyle(under).backgroundColor); if (c[3] === 255) behind = c; under = under.parentElement; }
    let opacity = 1; for (let at = e; at; at = at.parentElement) opacity *= getComputedStyle(at).opacity;
    const style = getComputedStyle(e), ground = behind ?? [255, 255, 255];
    const a = light(rgb(style.color).slice(0, 3).map((value, at) => value * opacity + ground[at] * (1 - opacity))), b = light(ground);
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), pixels = parseFloat(style.fontSize);
    if (contrast < (pixels >= 24 || (pixels >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5)) out.push(`${e.tagName}#${e.id}.${e.className} ${contrast.toFixed(2)}`); }
  return out.slice(0, 8); })()"""

# The controls without a name, and the ids that occur more than once.
NAMELESS = """[...document.querySelectorAll("input, select, textarea, button, a, [role=slider]")].filter((e) => e.checkVisibility() &&
  !(e.labels?.length || e.textContent.trim() || e.getAttribute("aria-label"))).map((e) => e.outerHTML.slice(0, 80))
  .concat([...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, at, all) => all.indexOf(id) !== at))"""

# The number of colours that cover more than 200 pixels of the waveform.
PAINTED = """(() => { const c = document.querySelector("#canvas"); if (!c.width) return 0; const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  const colours = new Map(); for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255) { const k = d[i] << 16 | d[i + 1] << 8 | d[i + 2]; colours.set(k, (colours.get(k) ?? 0) + 1); }
  return [...colours.values()].filter((n) => n > 200).length; })()"""

# The targets that are smaller than `%d` px high or `%d` px wide. A box with a label is as large as the label. A field may
# scroll, and a word of a text may be as narrow as it is, but not on a phone.
SMALL = """(() => { const out = []; const [high, wide] = [%d, %d];
  for (const e of document.querySelectorAll("a, button, input, select, textarea, summary, [role=slider]")) {
    if (!e.checkVisibility() || e.closest(".hidden, .skip, dialog:not([open])")) continue;
    const box = e.matches("[type=checkbox], [type=radio]") ? e.closest("label") ?? e.labels[0] : e; const r = box.getBoundingClientRect();
    if (r.height < high - 0.5 || r.width < wide - 0.5) out.push(`${e.tagName}#${e.id}.${e.className} ${Math.round(r.width)}x${Math.round(r.height)}`); }
  return out.slice(0, 8); })()"""
