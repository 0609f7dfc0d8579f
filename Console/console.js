// SPDX-License-Identifier: Apache-2.0

// The console: what a backend does with the service, done by hand. It calls the documented calls and nothing else.
// Amounts stay the text that was typed, from the field to the request: they are never made into numbers here.
"use strict";

const $ = (id) => document.getElementById(id);
const STORED_KEY = "crier.key";

/** Makes an element: properties by name, `class` and `aria-…` as attributes; children are elements or text. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name === "class" || name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function setText(element, text) {
  // What is the same is not set again: a status would be read aloud twice.
  if (element.textContent !== text) element.textContent = text;
}

// MARK: The service

/** A problem document, or what stands in for one when the service does not answer. */
class Problem extends Error {
  constructor({ status = 0, code = "unreachable", detail = "The service does not answer.", retryAfter = null } = {}) {
    super(detail);
    Object.assign(this, { status, code, detail, retryAfter });
  }
}

/** The key is kept for this tab alone. Without session storage it lasts as long as the page. */
const access = {
  key: null,
  /** A link's key that is another than the one in use. Whoever made the link would be told what is announced with it, so
   * it takes the other's place only when somebody says so, or when the page is loaded with it and the service does not
   * know the other any more. */
  offered: null,
  /** Looks for a key; a link's other one is offered. */
  load() {
    try {
      this.key ??= sessionStorage.getItem(STORED_KEY);
    } catch {
      // Then there is none but the page's own.
    }
    const fragment = new URLSearchParams(location.hash.slice(1));
    const given = fragment.get("key")?.replace(/[^\x21-\x7e]/g, "");
    if (given) {
      history.replaceState(null, "", location.pathname + location.search);
      if (!this.key) this.keep(given);
      else if (given !== this.key) this.offered = given;
    }
  },
  keep(key) {
    this.key = key;
    this.offered = null;
    unanswered.clear();
    try {
      if (key) sessionStorage.setItem(STORED_KEY, key);
      else sessionStorage.removeItem(STORED_KEY);
    } catch {
      // It lasts as long as the page, then.
    }
  },
};

/** As much of a key as is no secret. */
const nameOf = (key) => /^crier_[0-9a-z]{8}(?=_)/.exec(key ?? "")?.[0] ?? "crier_";

/** What was sent and got no answer, by its form: it may be announced all the same. Sent again as it is, it is the same
 * announcement, and is not heard twice. It is forgotten when the form is changed, or the key. */
const unanswered = new Map();

/** Calls the service with the key. Throws a `Problem` for every answer that is not a good one. */
async function call(path, { method = "GET", body = null, headers = {}, signal = null } = {}) {
  const key = access.key;
  const request = { method, signal, cache: "no-store", headers: { ...headers } };
  if (key) request.headers.Authorization = `Bearer ${key}`;
  if (body !== null) {
    request.body = body;
    request.headers["Content-Type"] = "application/json";
  }
  const response = await fetch(path, request).catch((error) => {
    throw error.name === "AbortError" ? error : new Problem();
  });
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  const problem = new Problem({
    status: response.status,
    code: told.code ?? `status_${response.status}`,
    detail: told.detail ?? told.title ?? `The service answered ${response.status}.`,
    retryAfter: response.headers.get("Retry-After"),
  });
  // An answer to a key that was changed meanwhile says nothing of the new one.
  if (problem.status === 401 && key === access.key) askForKey(problem);
  throw problem;
}

/** An answer that breaks off is as one that did not come. */
const read = (response) => response.json().catch(() => { throw new Problem(); });
const json = async (path, options) => read(await call(path, options));

function showProblem(element, problem) {
  element.hidden = !problem;
  element.replaceChildren();
  if (!problem) return;
  const wait = problem.retryAfter ? ` Try again in ${problem.retryAfter} s.` : "";
  element.append(problem.detail + wait, make("code", {}, problem.status ? `${problem.code} · ${problem.status}` : problem.code));
}

/** Does what a button asks; what goes wrong is shown in `place`. */
async function attempt(place, work) {
  try {
    showProblem(place, null);
    return await work();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    if (!(error instanceof Problem)) throw error;
    showProblem(place, error);
    return undefined;
  }
}

/** A new id, also where the page is not a secure context and has no `randomUUID`. */
function newID() {
  if (crypto.randomUUID) return `console-${crypto.randomUUID()}`;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

// MARK: What can be spoken

const spoken = { locales: [], voices: [], packs: [] };

/** A payment that looks at home in a language, for whoever has typed nothing yet. */
const HOME = {
  "en-US": ["USD", "12.50", "card"], "es-MX": ["MXN", "120.50", "card"], "hi-IN": ["INR", "250", "upi"],
  "ja-JP": ["JPY", "1980", "paypay"], "ko-KR": ["KRW", "12500", "kakaopay"], "zh-CN": ["CNY", "12.50", "alipay"],
};
const touched = new Set();

function languageName(locale, inLocale = locale) {
  try {
    return new Intl.DisplayNames([inLocale], { type: "language" }).of(locale);
  } catch {
    return locale;
  }
}

function fill(select, choices) {
  const before = select.value;
  select.replaceChildren(...choices.map(([value, text]) => make("option", { value }, text)));
  if (choices.some(([value]) => value === before)) select.value = before;
}

async function loadSpoken() {
  const [locales, voices] = await Promise.all([json("/v1/locales"), json("/v1/voices")]);
  spoken.locales = locales.locales;
  spoken.voices = voices.voices;
  fill($("locale"), spoken.locales.map(({ locale }) => [locale, `${languageName(locale)} · ${locale}`]));
  const wanted = navigator.languages.flatMap((tag) => [tag, tag.split("-")[0]]);
  const found = wanted.map((tag) => spoken.locales.find(({ locale }) => locale === tag || locale.startsWith(`${tag}-`)));
  const first = found.find(Boolean) ?? spoken.locales.find(({ locale }) => locale === "en-US");
  if (first) $("locale").value = first.locale;
  localeChanged();
}

async function loadPacks() {
  spoken.packs = (await json("/v1/packs")).packs;
  fillPacks();
  const rows = spoken.packs.map((pack) => {
    const line = (kind, text) => make("div", { class: "line" }, make("p", { class: "title" }, pack.id), make("span", { class: `tag ${kind}` }, text));
    if (pack.error) return make("li", {}, line("bad", pack.error.code ?? "faulty"), make("p", { class: "meta" }, pack.error.message ?? String(pack.error)));
    const missing = pack.missing_count ?? 0;
    const names = pack.missing ?? [];
    const about = [pack.locale && languageName(pack.locale, "en"), pack.speaker, pack.licence, `${pack.clips} clips`];
    return make("li", {},
      missing === 0 ? line("good", "complete") : line("bad", `${missing} missing`),
      make("p", { class: "meta" }, about.filter(Boolean).join(" · ")),
      make("progress", { max: Math.max(1, pack.tokens + missing), value: pack.tokens, "aria-label": `${pack.id}: coverage` }),
      missing === 0 ? null : make("details", {},
        make("summary", {}, "What is missing"),
        make("p", { class: "meta" }, make("code", {}, names.join("  ")), missing > names.length ? ` and ${missing - names.length} more` : null)));
  });
  $("packs").replaceChildren(...(rows.length ? rows : [make("li", { class: "none" }, "There are none: the engine speaks.")]));
}

function fillPacks() {
  const packs = spoken.packs.filter((pack) => pack.locale === $("locale").value && !pack.error);
  fill($("pack"), [["", packs.length ? "the one the service chooses" : "there is none"], ...packs.map(({ id, speaker }) => [id, speaker ? `${id} · ${speaker}` : id])]);
}

function localeChanged() {
  const chosen = $("locale").value;
  const entry = spoken.locales.find(({ locale }) => locale === chosen);
  const voices = spoken.voices.filter(({ locale }) => locale === chosen);
  fill($("voice"), [["", entry?.voice ? `the language's own (${entry.voice})` : "the language's own"], ...voices.map(({ voice }) => [voice, voice])]);
  fillPacks();
  $("currencies").replaceChildren(...(entry?.currencies ?? []).map((value) => make("option", { value })));
  $("channels").replaceChildren(...(entry?.channels ?? []).map((value) => make("option", { value })));
  for (const id of ["payer", "note", "text"]) $(id).lang = chosen;
  const home = HOME[chosen];
  if (!home || touched.has("amount") || touched.has("currency")) return;
  [$("currency").value, $("amount").value] = home;
  if (!touched.has("channel")) $("channel").value = entry?.channels.includes(home[2]) ? home[2] : "";
}

// MARK: The form

const isText = () => $("what-text").checked;

/** What the form says, as it will be sent. */
function announcement({ locale = $("locale").value, plain = false } = {}) {
  const body = {};
  if (isText()) {
    body.text = $("text").value;
  } else {
    body.amount = $("amount").value;
    body.currency = $("currency").value;
    if ($("kind").value !== "received") body.kind = $("kind").value;
    for (const id of ["channel", "payer", "note"]) if ($(id).value.trim()) body[id] = $(id).value;
  }
  body.locale = locale;
  if (plain) return body;
  if ($("method").value !== "auto") body.method = $("method").value;
  if ($("voice").value) body.voice = $("voice").value;
  if ($("pack").value) body.pack = $("pack").value;
  if ($("format").value !== "wav") body.format = $("format").value;
  if ($("aloud").checked) body.deliver = ["clip", "play"];
  return body;
}

function clearFaults() {
  showProblem($("form-problem"), null);
  for (const field of $("form").querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
}

/** Shows what is wrong beside the form, and leads to the field that it names. */
function showFault(problem) {
  clearFaults();
  showProblem($("form-problem"), problem);
  const name = /^(?:payment\.)?([a-z]+):/.exec(problem?.detail ?? "")?.[1];
  const field = name && $("form").elements.namedItem(name);
  if (!field || !field.id || field.closest("[hidden]")) return;
  const details = field.closest("details");
  if (details) details.open = true;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", "form-problem");
  field.focus();
}

/** Runs the work of a button once at a time; the button keeps its focus meanwhile. */
async function busy(button, work) {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } finally {
    button.removeAttribute("aria-disabled");
    button.removeAttribute("aria-busy");
  }
}

/** Announces what a form says. Returns the report, what was sent, and whether it had been announced before. */
async function send(form) {
  const key = JSON.stringify(form);
  const before = unanswered.get(key);
  const sent = before ?? JSON.stringify({ id: newID(), ...form });
  unanswered.set(key, sent);
  try {
    const response = await call("/v1/announcements", { method: "POST", body: sent });
    const report = await read(response);
    unanswered.delete(key);
    return { report, sent, isKnown: response.status === 200 };
  } catch (error) {
    // Refused at once, it was not announced; what refuses it later says nothing of the first time.
    if (!before && error instanceof Problem && error.status >= 400 && error.status < 500) unanswered.delete(key);
    throw error;
  }
}

async function announce() {
  sound.wake();
  clearFaults();
  try {
    const { report, sent, isKnown } = await send(announcement());
    setText($("live"), `${isKnown ? "It had been announced already" : "Made"}: ${report.text}, ${seconds(report.clip.duration_ms)}.`);
    await stage.show(report, sent);
    stage.hear();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    showFault(error);
  }
}

async function announceEverywhere() {
  sound.wake();
  clearFaults();
  const card = $("locales-card");
  card.hidden = false;
  $("locales").replaceChildren();
  await Promise.all(spoken.locales.map(async ({ locale }) => {
    const words = make("p", { class: "title", lang: locale }, "…");
    const meta = make("p", { class: "meta" });
    const item = make("li", {}, make("h3", {}, `${languageName(locale, "en")} · ${locale}`), words, meta);
    $("locales").append(item);
    const problem = make("p", { class: "problem", hidden: true });
    const answer = await attempt(problem, () => send(announcement({ locale, plain: true })));
    if (!answer) {
      item.replaceChildren(item.firstChild, problem);
      return;
    }
    const { report, sent } = answer;
    words.textContent = report.text;
    meta.textContent = [seconds(report.clip.duration_ms), loudness(report.loudness_lufs), report.voice, shortened(report.shortened)].filter(Boolean).join(" · ");
    item.append(hearButton(report, sent, languageName(locale, "en")));
  }));
  setText($("live"), `Said in ${spoken.locales.length} languages.`);
  card.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
}

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// MARK: Saying figures

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(2)} s`;
const loudness = (lufs) => (lufs === null ? null : `${lufs.toFixed(2).replace("-", "\u2212")} LUFS`);
const size = (bytes) => (bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`);
const STEPS = { note: "the note", payer: "the payer", rate: "spoken faster", amount_only: "all but the amount" };
const shortened = (steps) => (steps?.length ? `shortened: ${steps.map((step) => STEPS[step] ?? step).join(", ")}` : null);
const METHODS = { speech: "engine's speech", clips: "recorded clips", mixed: "clips and speech" };

function hearButton(report, sent, what) {
  const button = make("button", { type: "button", class: "quiet", "aria-label": `Hear ${what}` }, "Hear");
  button.addEventListener("click", () => {
    sound.wake();
    stage.show(report, sent).then(() => stage.hear());
  });
  return button;
}

// MARK: Sound

/** Plays one clip at a time in the browser. */
const sound = {
  context: null, buffer: null, source: null, from: 0, startedAt: 0,
  /** Browsers let a page make sound once somebody has done something on it: call it from an event. */
  wake() {
    this.context ??= new AudioContext();
    if (this.context.state === "suspended") this.context.resume().catch(() => {});
  },
  get isPlaying() { return this.source !== null; },
  /** Seconds from the clip's first sample, as they are heard. */
  get position() {
    if (!this.source) return this.from;
    const heard = this.context.currentTime - this.startedAt - (this.context.outputLatency || 0);
    return Math.min(this.buffer.duration, this.from + Math.max(0, heard));
  },
  start(from) {
    this.stop();
    this.wake();
    const source = this.context.createBufferSource();
    source.buffer = this.buffer;
    source.connect(this.context.destination);
    this.from = from;
    this.startedAt = this.context.currentTime;
    source.onended = () => {
      if (this.source !== source) return;
      this.source = null;
      this.from = 0;
      stage.draw();
    };
    source.start(0, from);
    this.source = source;
  },
  stop() {
    const source = this.source;
    if (!source) return;
    this.from = this.position;
    this.source = null;
    source.stop();
  },
};

/** The one clip that is looked at: its words, its waveform, its figures. */
const stage = {
  report: null, sent: null, marks: [], buttons: [], peaks: null, current: -1, turn: 0,
  async show(report, sent = null) {
    const turn = ++this.turn;
    sound.stop();
    Object.assign(sound, { buffer: null, from: 0 });
    Object.assign(this, { report, sent, marks: report.marks ?? [], peaks: null, current: -1 });
    $("stage-empty").hidden = true;
    $("stage").hidden = false;
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
    await attempt($("decode-problem"), async () => {
      const bytes = await (await call(`/v1/clips/${encodeURIComponent(report.clip.name)}`)).arrayBuffer();
      if (turn !== this.turn) return;
      sound.wake();
      try {
        const buffer = await sound.context.decodeAudioData(bytes);
        if (turn === this.turn) sound.buffer = buffer;
      } catch {
        const detail = `This browser cannot play ${report.clip.format} with ${report.clip.encoding}: download it.`;
        if (turn === this.turn) throw new Problem({ code: "not_playable_here", detail });
      }
    });
    this.layOut();
  },
  showFacts() {
    const { report } = this;
    const clip = report.clip;
    const facts = [
      ["Loudness", loudness(report.loudness_lufs)],
      ["Length", seconds(clip.duration_ms)],
      ["Size", size(clip.bytes)],
      ["Format", `${clip.format}, ${clip.encoding}`],
      ["Method", METHODS[report.method] ?? report.method],
      ["Voice", report.voice],
      ["Left out or changed", report.shortened?.length ? report.shortened.map((step) => STEPS[step] ?? step).join(", ") : "nothing"],
      ["Not spoken", report.unspoken?.length ? report.unspoken.map(({ text }) => text).join(", ") : "nothing"],
      ...(report.warnings ?? []).map((warning) => ["Warning", warning]),
      ["Clip", report.cached ? "was there already" : "made anew"],
    ];
    $("facts").replaceChildren(...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value ?? "not known"))));
    // The path alone: behind a proxy the service may not know the name that it is reached by.
    const url = new URL(clip.url, location.href);
    $("download").href = url.pathname + url.search;
    $("download").download = clip.name;
  },
  showCurl() {
    $("curl").closest("details").hidden = !this.sent;
    if (this.sent) $("curl").textContent = curl(this.sent, false);
  },
  get duration() { return sound.buffer?.duration ?? (this.report ? this.report.clip.duration_ms / 1000 : 0); },

  hear() { this.seek(0, true); },
  toggle() {
    if (!sound.buffer) return;
    if (!sound.isPlaying) return this.seek(sound.from >= this.duration - 0.02 ? 0 : sound.from, true);
    sound.stop();
    this.draw();
  },
  seek(to, play = sound.isPlaying) {
    if (!sound.buffer) return;
    const position = Math.max(0, Math.min(this.duration, to));
    if (play) sound.start(Math.min(position, Math.max(0, this.duration - 0.01)));
    else sound.from = position;
    this.follow();
  },
  follow() {
    cancelAnimationFrame(this.frame);
    const step = () => {
      this.draw();
      if (sound.isPlaying) this.frame = requestAnimationFrame(step);
    };
    step();
  },
  /** Sets the words under their sound, in as many lines as they need, and looks at the samples anew. */
  layOut() {
    if (!this.report) return;
    const width = $("wave").clientWidth;
    if (!width) return;
    const total = this.duration * 1000;
    const ends = [];
    const places = this.buttons.map((button, index) => {
      const wide = Math.min(button.offsetWidth, width);
      const middle = ((this.marks[index].start_ms + this.marks[index].end_ms) / 2 / total) * width;
      const left = Math.max(0, Math.min(middle - wide / 2, width - wide));
      let line = ends.findIndex((end) => end <= left);
      if (line < 0) line = ends.length;
      ends[line] = left + wide + 2;
      return { left, line };
    });
    const lineHeight = (this.buttons[0]?.offsetHeight ?? 0) + 2;
    places.forEach(({ left, line }, index) => {
      this.buttons[index].style.left = `${left}px`;
      this.buttons[index].style.top = `${line * lineHeight}px`;
    });
    $("words").style.height = `${ends.length * lineHeight}px`;
    this.peaks = sound.buffer ? peaks(sound.buffer, Math.floor(width / 4)) : null;
    this.draw();
  },
  draw() {
    if (!this.report) return;
    const position = sound.position;
    const at = position * 1000;
    const started = sound.isPlaying || position > 0;
    let current = -1;
    if (started) current = this.marks.findLastIndex((mark) => mark.start_ms <= at);
    if (current >= 0 && at > this.marks[current].end_ms + 80) current = -1;
    this.buttons.forEach((button, index) => {
      button.classList.toggle("now", index === current);
      button.classList.toggle("past", started && this.marks[index].end_ms <= at);
      if (index === current) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    this.current = current;
    $("hear").classList.toggle("playing", sound.isPlaying);
    $("hear").setAttribute("aria-label", sound.isPlaying ? "Stop" : "Hear it");
    setText($("position"), position.toFixed(1));
    setText($("length"), this.duration.toFixed(1));
    const wave = $("wave");
    wave.setAttribute("aria-valuemax", this.duration.toFixed(1));
    wave.setAttribute("aria-valuenow", position.toFixed(1));
    wave.setAttribute("aria-valuetext", `${position.toFixed(1)} of ${this.duration.toFixed(1)} seconds${current >= 0 ? `, ${this.marks[current].text}` : ""}`);
    this.paint(position);
  },
  paint(position) {
    const canvas = $("canvas");
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const scale = devicePixelRatio || 1;
    const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
    // To set a canvas's size clears it: only when it changed.
    if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const drawing = canvas.getContext("2d");
    drawing.setTransform(scale, 0, 0, scale, 0, 0);
    drawing.clearRect(0, 0, width, height);
    const total = this.duration || 1;
    const x = (time) => (time / total) * width;
    this.marks.forEach((mark, index) => {
      drawing.fillStyle = colour(index === this.current ? "--accent-soft" : "--sunk");
      const left = x(mark.start_ms / 1000);
      drawing.beginPath();
      drawing.roundRect(left, 0, Math.max(2, x(mark.end_ms / 1000) - left - 1), height, 6);
      drawing.fill();
    });
    const middle = height / 2;
    const [heard, unheard] = [colour("--accent"), colour("--edge")];
    const bars = this.peaks ?? [];
    const loudest = Math.max(0.05, ...bars);
    bars.forEach((peak, index) => {
      const left = index * 4 + 0.5;
      const half = Math.max(1, (peak / loudest) * (middle - 8));
      drawing.fillStyle = left < x(position) ? heard : unheard;
      drawing.beginPath();
      drawing.roundRect(left, middle - half, 2.5, half * 2, 1.25);
      drawing.fill();
    });
    drawing.fillStyle = heard;
    if (position > 0) drawing.fillRect(Math.min(width - 2, x(position) - 1), 0, 2, height);
  },
};

/** The loudest sample of each of `count` equal stretches, 0 to 1. */
function peaks(buffer, count) {
  const samples = buffer.getChannelData(0);
  return Array.from({ length: count }, (_, index) => {
    const end = Math.floor(((index + 1) * samples.length) / count);
    let peak = 0;
    for (let at = Math.floor((index * samples.length) / count); at < end; at++) peak = Math.max(peak, Math.abs(samples[at]));
    return peak;
  });
}

/** The command that sends the same bytes, for a POSIX shell. */
function curl(sent, withKey) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  // Through a pipe: what is on curl's command line is seen by all who list processes.
  const key = withKey ? quoted(access.key) : '"$CRIER_KEY"';
  return [`printf 'Authorization: Bearer %s\\n' ${key} | curl -sS ${location.origin}/v1/announcements`, "  -H @- -H 'Content-Type: application/json'", `  --data-binary ${quoted(sent)}`].join(" \\\n");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure context there is no clipboard; the old way still works.
    const field = make("textarea", { value: text, class: "hidden" });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

async function copyCurl() {
  const button = $("copy");
  await copy(curl(stage.sent, $("with-key").checked));
  button.focus();
  button.textContent = "Copied";
  setText($("live"), "The command was copied.");
  setTimeout(() => { button.textContent = "Copy the curl"; }, 2000);
}

// MARK: Lists that change while they are looked at

/** Shows items in a list and keeps the elements of those that stay, so that the keyboard stays where it is. */
function showList(list, items, keyOf, create, none) {
  const before = new Map([...list.children].filter((row) => row.dataset.key).map((row) => [row.dataset.key, row]));
  const focused = [...list.children].findIndex((row) => row.contains(document.activeElement));
  const rows = items.map((item) => {
    const key = String(keyOf(item));
    const kept = before.get(key);
    if (kept && kept.shown === JSON.stringify(item)) return kept;
    const row = create(item);
    row.dataset.key = key;
    row.shown = JSON.stringify(item);
    // A row that changed keeps the focus on the button of the same name.
    const name = kept?.contains(document.activeElement) ? document.activeElement.textContent : null;
    if (name) queueMicrotask(() => [...row.querySelectorAll("button")].find((button) => button.textContent === name)?.focus());
    return row;
  });
  const wanted = rows.length ? rows : [make("li", { class: "none" }, none)];
  if (wanted.length === list.children.length && wanted.every((row, index) => row === list.children[index])) return;
  const kept = document.activeElement;
  // Moving an element takes its focus away: only what is new or elsewhere is moved.
  for (const row of [...list.children]) if (!wanted.includes(row)) row.remove();
  wanted.forEach((row, index) => { if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null); });
  if (focused >= 0 && kept !== document.activeElement) {
    queueMicrotask(() => {
      if (document.activeElement !== document.body) return;
      (list.children[Math.min(focused, list.children.length - 1)]?.querySelector("button") ?? $("pause")).focus();
    });
  }
}

/** An id: as much of it as there is room for, and all of it under the pointer. */
const idOf = (id) => make("span", { class: "id", title: id }, id);
const dotted = (parts) => parts.filter(Boolean).flatMap((part, index) => (index ? [" · ", part] : [part]));

const clock = (time) => (time ? new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }) : "");

// MARK: The speaker

const PLAYER = {
  idle: ["idle", "good"], playing: ["playing", "good"], paused: ["paused", ""], device_lost: ["the speaker is gone", "bad"], stopped: ["stopped", "bad"],
};
const queue = { view: null, seen: 0, turn: 0, words: new Map() };

const allow = (button, allowed) => (allowed ? button.removeAttribute("aria-disabled") : button.setAttribute("aria-disabled", "true"));
const isAllowed = (button) => button.getAttribute("aria-disabled") !== "true";

function showPill(element, text, kind) {
  setText(element, text);
  element.className = `pill ${kind}`;
}

async function refreshQueue() {
  const turn = ++queue.turn;
  try {
    const view = await json("/v1/playback");
    if (turn === queue.turn) showQueue(view);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (turn !== queue.turn) return;
    queue.view = null;
    const without = error.code === "player_unavailable";
    showPill($("player-state"), without ? "no speaker" : "not known", without ? "" : "bad");
    $("now").replaceChildren(make("p", { class: "muted" }, without ? "This service has no speaker: it makes clips." : error.detail));
    showList($("waiting"), [], String, null, "Nothing waits.");
    for (const id of ["pause", "skip", "replay"]) allow($(id), false);
  }
}

/** Where an entry of the queue is taken back: a replay alone, and not the announcement's other replays. */
function place(entry) {
  return entry.replay ? `/v1/playback/replays/${entry.number}` : `/v1/playback/${encodeURIComponent(entry.id)}`;
}

function showQueue(view, seen = performance.now()) {
  Object.assign(queue, { view, seen });
  const [text, kind] = PLAYER[view.state] ?? [view.state, ""];
  showPill($("player-state"), text, kind);
  const now = view.playing;
  if (now) {
    const bar = make("progress", { id: "progress", max: Math.max(1, now.length_ms ?? 1), "aria-label": "How far it is" });
    $("now").replaceChildren(
      make("p", { class: "title" }, now.text ?? (now.id ? now.category : "An announcement of another account, or the player's own.")),
      make("p", { class: "muted small meta" }, ...dotted([`number ${now.number}`, now.category, now.replay ? "again" : ""])), bar);
    advance();
  } else {
    const said = { paused: "Paused: what comes waits.", device_lost: "Announcements wait for it to come back.", stopped: "The player does not run." };
    $("now").replaceChildren(make("p", { class: "muted" }, said[view.state] ?? "Nothing plays."));
  }
  $("pause").textContent = view.state === "paused" ? "Resume" : "Pause";
  allow($("pause"), view.state !== "stopped");
  allow($("skip"), Boolean(now?.id));
  allow($("replay"), view.state !== "stopped");
  // The player tells ids; the words are those of the list beside it.
  const waiting = view.waiting.map((entry) => ({ ...entry, text: queue.words.get(entry.id) }));
  showList($("waiting"), waiting, ({ number }) => number, (entry) => {
    // One that is heard again is taken back by its number; whoever asked for it sees when it was accepted.
    const isOurs = entry.id || (entry.replay && entry.accepted_at);
    const back = isOurs ? make("button", { type: "button", class: "quiet", "aria-label": `Take back number ${entry.number}` }, "Take back") : null;
    back?.addEventListener("click", () => control(place(entry), "DELETE"));
    return make("li", {},
      make("div", {}, make("p", { class: "title" }, entry.text ?? entry.id ?? "another account's"),
        make("p", { class: "meta" }, dotted([`number ${entry.number}`, entry.category, entry.replay ? "again" : "", entry.state, clock(entry.accepted_at)]).join(""))),
      make("div", { class: "buttons" }, back));
  }, "Nothing waits.");
  const more = view.waiting_count - view.waiting.length;
  setText($("waiting-title"), view.waiting_count ? `Waiting: ${view.waiting_count}${more > 0 ? `, the first ${view.waiting.length} are shown` : ""}` : "Waiting");
}

/** Between two looks at the player, the bar goes on by the clock. */
function advance() {
  const now = queue.view?.playing;
  const bar = $("progress");
  if (!now || !bar) return;
  const since = queue.view.state === "playing" ? performance.now() - queue.seen : 0;
  bar.value = Math.min(bar.max, now.position_ms + since);
}

/** Sends what a button asks of the player, and looks at it afterwards. */
async function control(path, method, body = null) {
  await attempt($("queue-problem"), async () => {
    try {
      await call(path, { method, body });
    } finally {
      await refreshQueue();
    }
  });
}

// MARK: What happens

/** Runs `work` a moment after the last time it was asked for, and after a second at the latest. */
function soon(work, pause = 120) {
  let timer = null;
  let first = 0;
  return () => {
    const now = performance.now();
    if (timer === null) first = now;
    else if (now - first > 1000) return;
    clearTimeout(timer);
    timer = setTimeout(() => { timer = null; work(); }, pause);
  };
}

const queueSoon = soon(refreshQueue);
const recentSoon = soon(() => refreshRecent(), 300);

/** Reads server-sent events until the stream ends. `EventSource` cannot send a key. */
async function readEvents(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = { data: [] };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const raw of lines) {
      const line = raw.replace(/\r$/, "");
      if (line === "") {
        if (event.data.length) take(event);
        event = { data: [] };
      } else if (!line.startsWith(":")) {
        const [, name, text] = /^([^:]*):? ?(.*)$/.exec(line);
        if (name === "data") event.data.push(text);
        else event[name] = text;
      }
    }
  }
}

const feed = { stopper: null, last: null };

async function follow() {
  feed.stopper?.abort();
  const stopper = new AbortController();
  feed.stopper = stopper;
  let pause = 1000;
  while (!stopper.signal.aborted) {
    try {
      const headers = { Accept: "text/event-stream", ...(feed.last ? { "Last-Event-ID": feed.last } : {}) };
      const response = await call("/v1/events", { headers, signal: stopper.signal });
      setText($("link"), "Live.");
      pause = 1000;
      // What happened while nobody listened is looked up.
      refreshQueue();
      refreshRecent();
      await readEvents(response.body, (event) => {
        if (event.id) feed.last = event.id;
        if (event.event !== "rendered") queueSoon();
        recentSoon();
      });
    } catch (error) {
      if (stopper.signal.aborted) return;
      if (error instanceof Problem && (error.status === 401 || error.status === 403)) {
        setText($("link"), error.detail);
        return;
      }
    }
    if (stopper.signal.aborted) return;
    setText($("link"), "Not live: trying again.");
    await new Promise((resume) => { setTimeout(resume, pause); });
    pause = Math.min(30000, pause * 2);
  }
}

const STATES = { played: "good", playing: "good", failed: "bad", expired: "bad" };

async function refreshRecent() {
  await attempt($("recent-problem"), async () => {
    const { announcements } = await json("/v1/announcements?limit=12");
    const known = queue.words;
    queue.words = new Map([...known].slice(-500));
    for (const { id, text } of announcements) if (text) queue.words.set(id, text);
    if (queue.view && announcements.some(({ id }) => !known.has(id))) showQueue(queue.view, queue.seen);
    showList($("recent"), announcements, ({ id }) => id, (entry) => {
      const play = entry.delivery?.play;
      const state = play?.state ?? entry.delivery?.clip?.state ?? "not kept";
      const about = [entry.locale, entry.amount && `${entry.amount.value} ${entry.amount.currency}`, entry.clip && seconds(entry.clip.duration_ms), play && clock(play.accepted_at), play?.code, idOf(entry.id)];
      const name = entry.text ?? entry.id;
      const again = play && ["played", "cancelled", "failed", "expired"].includes(play.state)
        ? make("button", { type: "button", class: "quiet", "aria-label": `Play aloud again: ${name}` }, "Aloud again") : null;
      again?.addEventListener("click", () => control("/v1/playback/replay", "POST", JSON.stringify({ id: entry.id })));
      return make("li", {},
        make("div", {}, make("p", { class: "title", lang: entry.locale }, name), make("p", { class: "meta" }, ...dotted(about))),
        make("div", { class: "buttons" }, make("span", { class: `tag ${STATES[state] ?? ""}` }, state), again, entry.clip ? hearButton(entry, null, name) : null));
    }, "None yet.");
  });
}

async function refreshReady() {
  let text = "not reachable";
  let kind = "bad";
  try {
    const response = await fetch("/readyz", { cache: "no-store" });
    const { status, checks } = await response.json();
    const failing = Object.entries(checks ?? {}).filter(([, check]) => !check.ok).map(([name]) => name);
    text = failing.length ? `${status}: ${failing.join(", ")}` : status;
    kind = response.ok && status === "ready" ? "good" : "bad";
  } catch {
    // Said above.
  }
  showPill($("ready"), text, kind);
}

// MARK: Coming and going

function askForKey(problem = null) {
  feed.stopper?.abort();
  const { offered } = access;
  access.keep(problem && offered);
  // The one in use is not known any more, and a link brought another: with that it begins anew, after what failed.
  if (access.key) {
    setTimeout(enter);
    return;
  }
  $("key").value = "";
  $("key-keep").hidden = true;
  $("key-panel").hidden = false;
  $("main").hidden = true;
  $("key-shown").hidden = true;
  showProblem($("key-problem"), problem);
  $("key").focus();
}

/** Shows a link's key for whoever wants it, and changes nothing. */
function offerKey() {
  if (!access.offered) return;
  $("key-panel").hidden = false;
  $("key-keep").hidden = false;
  $("key").value = access.offered;
  showProblem($("key-problem"), new Problem({
    code: "key_differs",
    detail: `The link has another key, ${nameOf(access.offered)}…, than the one in use. Use it only if you know who made the link.`,
  }));
}

function closeKeyPanel() {
  $("key-panel").hidden = true;
  $("key-keep").hidden = true;
  $("key").value = "";
  showProblem($("key-problem"), null);
}

async function enter() {
  closeKeyPanel();
  $("main").hidden = false;
  $("key-shown").hidden = false;
  setText($("key-name"), `${nameOf(access.key)}…`);
  feed.last = null;
  refreshReady();
  const { key } = access;
  await attempt($("form-problem"), loadSpoken);
  if (!access.key || access.key !== key) return;
  // The service knows it: from now on only a person puts another in its place.
  access.offered = null;
  attempt($("packs-problem"), loadPacks);
  follow();
}

function listen() {
  $("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const key = $("key").value.trim();
    if (!key) return showProblem($("key-problem"), new Problem({ code: "key_missing", detail: "Type or paste a key." }));
    // A header cannot hold every text that can be typed.
    if (/[^\x21-\x7e]/.test(key)) return showProblem($("key-problem"), new Problem({ code: "key_malformed", detail: "A key has Latin letters, digits, _ and - only." }));
    access.keep(key);
    enter();
    $("say").focus({ preventScroll: true });
  });
  $("key-forget").addEventListener("click", () => askForKey());
  $("key-keep").addEventListener("click", () => {
    closeKeyPanel();
    $("say").focus({ preventScroll: true });
  });
  addEventListener("hashchange", () => {
    const before = access.key;
    access.load();
    if (access.key !== before) enter();
    offerKey();
    access.offered = null;
  });

  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    busy($("announce"), announce);
  });
  $("everywhere").addEventListener("click", () => busy($("everywhere"), announceEverywhere));
  $("form").addEventListener("input", ({ target }) => {
    unanswered.clear();
    touched.add(target.id);
    target.removeAttribute("aria-invalid");
  });
  $("currency").addEventListener("change", () => { $("currency").value = $("currency").value.trim().toUpperCase(); });
  $("locale").addEventListener("change", localeChanged);
  for (const choice of ["what-payment", "what-text"]) {
    $(choice).addEventListener("change", () => {
      $("payment-fields").hidden = isText();
      $("text-fields").hidden = !isText();
    });
  }

  $("hear").addEventListener("click", () => stage.toggle());
  $("copy").addEventListener("click", copyCurl);
  $("wave").addEventListener("click", (event) => {
    const frame = $("wave").getBoundingClientRect();
    stage.seek(((event.clientX - frame.left) / frame.width) * stage.duration, true);
  });
  $("wave").addEventListener("keydown", (event) => {
    const at = sound.position;
    const moves = { ArrowLeft: at - 0.2, ArrowDown: at - 0.2, ArrowRight: at + 0.2, ArrowUp: at + 0.2, Home: 0, End: stage.duration };
    if (event.key === " " || event.key === "Enter") stage.toggle();
    else if (event.key in moves && !event.ctrlKey && !event.altKey && !event.metaKey) stage.seek(moves[event.key]);
    else return;
    event.preventDefault();
  });

  $("pause").addEventListener("click", () => {
    if (isAllowed($("pause"))) control(queue.view?.state === "paused" ? "/v1/playback/resume" : "/v1/playback/pause", "POST");
  });
  $("skip").addEventListener("click", () => {
    const now = queue.view?.playing;
    if (now?.id && isAllowed($("skip"))) control(place(now), "DELETE");
  });
  $("replay").addEventListener("click", () => { if (isAllowed($("replay"))) control("/v1/playback/replay", "POST"); });
  $("recent-again").addEventListener("click", refreshRecent);

  new ResizeObserver(() => stage.layOut()).observe($("wave"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => stage.draw());
  setInterval(advance, 200);
  setInterval(() => {
    if (document.hidden) return;
    refreshReady();
    if (access.key) refreshQueue();
  }, 15000);
}

listen();
access.load();
if (access.key) {
  enter();
  offerKey();
} else {
  askForKey();
  refreshReady();
}
