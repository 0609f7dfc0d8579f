// SPDX-License-Identifier: Apache-2.0

// The preview of one clip: its words, its waveform and its figures.

import { whenKeyChanges } from "./access.js";
import { copyCurl, curl } from "./curl.js";
import { fixed, list, loudness, seconds, shortening, size } from "./figures.js";
import { previewMarkup } from "./markup.js";
import { $, make, onClick, rowButton, setText } from "./page.js";
import { Problem, attempt, bytes } from "./service.js";
import { sound } from "./sound.js";
import { fragment, named, t, whenLanguageChanges } from "./translations.js";
import { BAR_STEP, paint, peaks, placeWords } from "./waveform.js";

/** The sample rate of a clip that is decoded before the page may play sound. */
const DECODED_RATE = 44100;

export const preview = {
  report: null, sent: null, marks: [], buttons: [], peaks: [], current: -1, turn: 0,

  /** Shows a report and loads its clip. `sent` has the request's path and body, if the console sent it. */
  async show(report, sent = null) {
    const turn = ++this.turn;
    sound.clear();
    Object.assign(this, { report, sent, marks: report.marks ?? [], peaks: [], current: -1 });
    $("preview-empty").hidden = true;
    $("preview").hidden = false;
    $("said").textContent = report.text;
    $("said").lang = report.locale;
    this.showFacts();
    this.showCurl();
    this.buttons = this.marks.map((mark) => {
      const button = make("button", { type: "button", lang: report.locale }, mark.text);
      button.addEventListener("click", () => this.seek(mark.start_ms / 1000, true));
      return button;
    });
    $("words").replaceChildren(...this.buttons);
    this.layOut();
    await attempt($("decode-problem"), () => this.load(turn));
    this.layOut();
  },

  /** What it showed at the places where it was, by the place's id. */
  kept: {},

  /** Moves to another place of the page, and shows again what it showed there. */
  async moveTo(place) {
    const card = $("preview-card");
    if (place.contains(card)) return;
    this.kept[card.parentElement.id] = { report: this.report, sent: this.sent };
    place.append(card);
    card.hidden = false;
    const { report, sent } = this.kept[place.id] ?? {};
    if (report) await this.show(report, sent);
    else this.clear();
  },

  /** Forgets the report and its clip. */
  clear() {
    this.turn += 1;
    sound.clear();
    Object.assign(this, { report: null, sent: null, marks: [], buttons: [], peaks: [], current: -1 });
    $("preview-empty").hidden = false;
    $("preview").hidden = true;
    for (const id of ["said", "words", "facts", "curl", "live"]) $(id).replaceChildren();
    $("download").removeAttribute("href");
  },

  /** Fetches and decodes the clip. Its result is ignored if another report is shown meanwhile. */
  async load(turn) {
    const { clip } = this.report;
    const file = await bytes(`/v1/clips/${encodeURIComponent(clip.name)}`);
    if (turn !== this.turn) return;
    try {
      // Browsers allow no sound before a person acts on the page, but they decode it.
      const decoder = sound.context ?? new OfflineAudioContext(1, 1, DECODED_RATE);
      const buffer = await decoder.decodeAudioData(file);
      if (turn === this.turn) sound.buffer = buffer;
    } catch {
      const detail = t("preview.not_playable", { format: `${clip.format}, ${clip.encoding}` });
      if (turn === this.turn) throw new Problem({ code: "not_playable_here", detail });
    }
  },

  showFacts() {
    const { report } = this;
    const { clip } = report;
    const facts = [
      [t("fact.loudness"), loudness(report.loudness_lufs)],
      [t("fact.length"), seconds(clip.duration_ms)],
      [t("fact.size"), size(clip.bytes)],
      [t("fact.format"), `${clip.format}, ${clip.encoding}`],
      [t("fact.method"), named("method", report.reproducible === false ? `${report.method}_server` : report.method)],
      [t("fact.voice"), report.voice],
      ...(report.fallback ? [[t("fact.fallback"), fallback(report.fallback)]] : []),
      ...(report.shortened?.length ? [[t("fact.shortened"), shortening(report.shortened)]] : []),
      ...(report.unspoken?.length ? [[t("fact.unspoken"), list(report.unspoken.map(({ text }) => text))]] : []),
      ...(report.warnings ?? []).map((warning) => [t("fact.warning"), warning]),
    ];
    $("facts").replaceChildren(...facts.map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, value ?? t("fact.unknown")))));
    // The host is left out: behind a proxy, the service may not know the name that the browser uses.
    const url = new URL(clip.url, location.href);
    $("download").href = url.pathname + url.search;
    $("download").download = clip.name;
  },

  showCurl() {
    $("curl").closest("details").hidden = !this.sent;
    if (this.sent) $("curl").textContent = curl(this.sent, false);
  },

  /** The clip's duration in seconds. */
  get duration() { return sound.buffer?.duration ?? (this.report ? this.report.clip.duration_ms / 1000 : 0); },

  /** Plays the clip from the start. */
  play() { this.seek(0, true); },

  /** Plays, or stops at the current position. */
  toggle() {
    if (!sound.buffer) return;
    if (sound.isPlaying) {
      sound.stop();
      this.draw();
    } else {
      this.seek(sound.from >= this.duration - 0.02 ? 0 : sound.from, true);
    }
  },

  seek(to, play = sound.isPlaying) {
    if (!sound.buffer) return;
    const position = Math.max(0, Math.min(this.duration, to));
    if (play) sound.start(Math.min(position, Math.max(0, this.duration - 0.01)));
    else sound.from = position;
    this.follow();
  },

  /** Draws each frame while the clip plays. */
  follow() {
    cancelAnimationFrame(this.frame);
    const step = () => {
      this.draw();
      if (sound.isPlaying) this.frame = requestAnimationFrame(step);
    };
    step();
  },

  /** Places the words and computes the waveform for the current width. */
  layOut() {
    if (!this.report) return;
    const width = $("wave").clientWidth;
    if (!width) return;
    $("words").style.height = `${placeWords(this.buttons, this.marks, width, this.duration * 1000)}px`;
    this.peaks = sound.buffer ? peaks(sound.buffer, Math.floor(width / BAR_STEP)) : [];
    this.draw();
  },

  draw() {
    if (!this.report) return;
    const { duration, marks } = this;
    const position = sound.position;
    const hasStarted = sound.isPlaying || position > 0;
    this.current = hasStarted ? this.markAt(position * 1000) : -1;
    this.buttons.forEach((button, index) => {
      const isCurrent = index === this.current;
      button.classList.toggle("now", isCurrent);
      button.classList.toggle("past", hasStarted && marks[index].end_ms <= position * 1000);
      if (isCurrent) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    $("play").classList.toggle("playing", sound.isPlaying);
    $("play").setAttribute("aria-label", sound.isPlaying ? t("action.stop") : t("action.play"));
    const [now, end] = [fixed(position, 1), fixed(duration, 1)];
    setText($("position"), now);
    setText($("length"), t("preview.length", { length: end }));
    const word = marks[this.current]?.text;
    const wave = $("wave");
    wave.setAttribute("aria-valuemax", duration.toFixed(1));
    wave.setAttribute("aria-valuenow", position.toFixed(1));
    const text = word ? t("preview.position_word", { now, end, word }) : t("preview.position", { now, end });
    wave.setAttribute("aria-valuetext", text);
    paint($("canvas"), { position, duration, marks, current: this.current, bars: this.peaks });
  },

  /** Returns the index of the mark that is spoken at a time in milliseconds, or -1. */
  markAt(time) {
    const index = this.marks.findLastIndex((mark) => mark.start_ms <= time);
    return index >= 0 && time <= this.marks[index].end_ms + 80 ? index : -1;
  },
};

/** Returns why another voice than a speech server spoke some words or all. Most reasons are faults of the server. */
function fallback(reason) {
  const text = named("fallback", reason);
  return text === reason ? t("fallback.other", { reason }) : text;
}

/** Makes a button that shows a report in the preview and plays its clip. */
export function playButton(report, sent, name) {
  return rowButton(t("recent.listen"), t("preview.play_named", { name }), async () => {
    sound.wake();
    await preview.show(report, sent);
    preview.play();
  });
}

let isConnected = false;

/** Adds the preview to the view that is opened first, and connects it. Several views share it. */
export function connectPreview() {
  if (isConnected) return;
  isConnected = true;
  document.querySelector("#try-preview, #announcement-preview").append(fragment(previewMarkup));
  sound.onEnd = () => preview.draw();
  whenKeyChanges(() => { preview.kept = {}; preview.clear(); });
  whenLanguageChanges(() => {
    if (preview.report) preview.showFacts();
    preview.draw();
  });
  onClick("play", () => preview.toggle());
  onClick("copy", () => copyCurl(preview.sent));
  $("wave").addEventListener("click", (event) => {
    const frame = $("wave").getBoundingClientRect();
    preview.seek(((event.clientX - frame.left) / frame.width) * preview.duration, true);
  });
  $("wave").addEventListener("keydown", (event) => {
    const [back, forward] = [sound.position - 0.2, sound.position + 0.2];
    const moves = {
      ArrowLeft: back, ArrowDown: back, ArrowRight: forward, ArrowUp: forward, Home: 0, End: preview.duration,
    };
    if (event.key === " " || event.key === "Enter") preview.toggle();
    else if (event.key in moves && !event.ctrlKey && !event.altKey && !event.metaKey) preview.seek(moves[event.key]);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(() => preview.layOut()).observe($("wave"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => preview.draw());
}
