// SPDX-License-Identifier: Apache-2.0

// Records one word after another by the microphone, or takes a file instead. Each is sent as a 16-bit mono WAV file.

import { whenKeyChanges } from "./access.js";
import { addDialog, openDialog } from "./dialog.js";
import { seconds } from "./figures.js";
import { $, allow, make, onClick, setText } from "./page.js";
import { Problem, attempt, isObsolete, showProblem } from "./service.js";
import { recording } from "./sound.js";
import { t, whenLanguageChanges } from "./translations.js";
import { wav } from "./wav.js";

/** The HTML of the dialog. */
const markup = `<dialog id="recorder" aria-labelledby="recorder-title">
  <div class="head"><h2 id="recorder-title" data-text="recorder.title"></h2><p id="recorder-place" class="muted small"></p></div>
  <p id="recorder-words" class="said"></p>
  <p id="recorder-how" class="small" lang="en"></p>
  <p id="recorder-state" class="muted" role="status"></p>
  <progress id="recorder-level" class="level" max="1" value="0" data-aria-label="recorder.level"></progress>
  <p id="recorder-problem" class="problem" role="alert" hidden></p>
  <ul id="recorder-warnings" class="notices"></ul>
  <div class="actions">
    <button id="recorder-record" class="primary online"></button>
    <button id="recorder-upload" class="online" data-text="recorder.upload"></button>
    <button id="recorder-listen" data-text="recorder.listen"></button>
    <button id="recorder-save" class="online" data-text="recorder.save"></button>
    <button id="recorder-accept" class="danger online" data-text="recorder.accept" hidden></button>
  </div>
  <div class="actions ends">
    <button id="recorder-back" data-text="recorder.back"></button>
    <button id="recorder-next" data-text="recorder.next"></button>
    <button id="recorder-close" data-text="action.close"></button>
  </div>
  <input type="file" id="recorder-file" accept="audio/*" data-aria-label="recorder.upload" hidden>
</dialog>`;

/** The longest recording that the service takes, in seconds. The recorder stops there. */
const LONGEST = 15;

/** The level from which on a recording is clipped: the microphone could not give what it heard. */
const CLIPPED = 0.99;

/** The sample rate to which the browser converts a file, in Hz. */
const FILE_RATE = 48000;

/** The code with which the service refuses a recording that it suspects. It takes it if a person insists. */
const SUSPICIOUS = "recording_suspicious";

/**
 * What the recorder records of one word: the words, the running microphone, and the recording: its samples, its highest
 * level and its file. Each word has a take of its own, so that what ends later, such as a save, changes only its own.
 * `isStarting` and `isSaving` say what is under way, and `isSuspicious` that the service refused the file.
 */
const newTake = (clip) => ({
  clip, microphone: null, chunks: [], length: 0, peak: 0, file: null, isStarting: false, isSaving: false,
  isSuspicious: false,
});

let current = newTake(null);

/** The words that the recorder goes through: their list, the place in it, and what is the same for all. */
let tour = { list: [], at: 0 };

/** Whether the page has a microphone. Browsers give it only to pages that came over https or from this machine. */
const hasMicrophone = () => Boolean(navigator.mediaDevices?.getUserMedia);

/**
 * Opens the recorder at one entry of `list`. `save` sends an entry's file and returns the service's warnings; its last
 * argument says that the person insists. `place` is the element that shows the problem of a save that fails after the
 * recorder was closed.
 */
export function openRecorder({ list, at, locale, save, place }) {
  tour = { list, at, locale, save, place };
  $("recorder-words").lang = locale;
  showWord();
  openDialog($("recorder"), hasMicrophone() ? $("recorder-record") : $("recorder-upload"));
}

/** Begins with the word at the present place of the list. */
function showWord() {
  const { list, at, save, place } = tour;
  current = newTake({ entry: list[at], save, place });
  setText($("recorder-words"), list[at].words);
  setText($("recorder-how"), list[at].how);
  setText($("recorder-place"), list.length > 1 ? t("recorder.place", { number: at + 1, count: list.length }) : "");
  $("recorder-problem").hidden = true;
  $("recorder-warnings").replaceChildren();
  showState(hasMicrophone() ? t("recorder.ready") : t("recorder.no_microphone"));
}

/** Goes to another word. What was recorded of the present one and not saved is lost. */
async function go(step) {
  const take = current;
  recording.stop();
  tour.at += step;
  showWord();
  $(hasMicrophone() ? "recorder-record" : "recorder-upload").focus();
  await release(take);
}

function showState(text = null) {
  const { microphone, file, isStarting, isSaving, isSuspicious } = current;
  if (text !== null) setText($("recorder-state"), text);
  const start = file ? t("recorder.again") : t("recorder.record");
  setText($("recorder-record"), microphone ? t("recorder.stop") : start);
  $("recorder-record").hidden = $("recorder-level").hidden = !hasMicrophone();
  show("recorder-record", !isSaving, isStarting);
  show("recorder-upload", !isSaving && !microphone && !isStarting);
  show("recorder-listen", !microphone && !isStarting && file !== null);
  show("recorder-save", !microphone && !isStarting && file !== null && !isSuspicious, isSaving);
  $("recorder-save").hidden = isSuspicious;
  $("recorder-accept").hidden = !isSuspicious;
  show("recorder-accept", !microphone && file !== null, isSaving);
  show("recorder-back", tour.at > 0 && !isSaving && !microphone);
  show("recorder-next", tour.at < tour.list.length - 1 && !isSaving && !microphone);
  if (!microphone) showLevel(0);
}

/** Shows whether a button may be used, and whether its work is under way. */
function show(id, isOffered, isBusy = false) {
  allow($(id), isOffered && !isBusy);
  if (isBusy) $(id).setAttribute("aria-busy", "true");
  else $(id).removeAttribute("aria-busy");
}

function showLevel(level) {
  $("recorder-level").value = level;
  $("recorder-level").classList.toggle("clipped", level >= CLIPPED);
}

whenLanguageChanges(() => showState());

async function recordOrStop() {
  if (current.microphone) await stop(current);
  else await attempt($("recorder-problem"), () => start(current));
}

async function start(take) {
  recording.stop();
  $("recorder-warnings").replaceChildren();
  Object.assign(take, { chunks: [], length: 0, peak: 0, file: null, isStarting: true, isSuspicious: false });
  showState();
  try {
    take.microphone = await openMicrophone((samples) => add(take, samples));
  } catch (error) {
    // Nobody waits for the microphone of a recorder that was closed.
    if (take === current) throw error;
  } finally {
    take.isStarting = false;
    if (take === current) showState(take.microphone ? t("recorder.recording") : t("recorder.ready"));
  }
  // The person may have closed the recorder while the browser asked for the microphone.
  if (take !== current) await release(take);
}

/** Opens the microphone, and passes its samples on. Throws a `Problem`, and leaves nothing open, if that fails. */
async function openMicrophone(pass) {
  const audio = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const unavailable = () => new Problem({ code: "microphone_unavailable", detail: t("recorder.no_microphone") });
  // Pages that are not a secure context have no microphone.
  const stream = await navigator.mediaDevices?.getUserMedia({ audio }).catch(() => null);
  if (!stream) throw unavailable();
  const microphone = { stream, context: null };
  try {
    microphone.context = new AudioContext();
    // The browser loads this module from the service, which may not answer.
    await microphone.context.audioWorklet.addModule("/console/capture.js").catch(() => { throw new Problem(); });
    const capture = new AudioWorkletNode(microphone.context, "capture", { numberOfOutputs: 0 });
    capture.port.onmessage = ({ data }) => pass(data);
    microphone.context.createMediaStreamSource(stream).connect(capture);
    return microphone;
  } catch (error) {
    closeMicrophone(microphone);
    throw error instanceof Problem ? error : unavailable();
  }
}

function closeMicrophone({ stream, context }) {
  for (const track of stream.getTracks()) track.stop();
  return context?.close();
}

function add(take, samples) {
  if (!take.microphone) return;
  take.chunks.push(samples);
  take.length += samples.length;
  const level = samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
  take.peak = Math.max(take.peak, level);
  showLevel(level);
  if (take.length >= LONGEST * take.microphone.context.sampleRate) stop(take);
}

/** Closes the microphone, and returns its rate. */
async function release(take) {
  const { microphone } = take;
  take.microphone = null;
  if (!microphone) return 0;
  await closeMicrophone(microphone);
  return microphone.context.sampleRate;
}

async function stop(take) {
  const rate = await release(take);
  if (take !== current) return;
  if (take.length) take.file = wav(take.chunks, rate);
  showState(take.file ? t("recorder.recorded", { length: seconds((take.length / rate) * 1000) }) : t("recorder.ready"));
  if (take.peak >= CLIPPED) warn(t("recorder.clipped"));
  if (take.file) $("recorder-listen").focus();
}

/** Takes a sound file in place of a recording. The browser decodes it. */
async function useFile(file) {
  const take = current;
  $("recorder-warnings").replaceChildren();
  $("recorder-problem").hidden = true;
  let buffer;
  try {
    buffer = await new OfflineAudioContext(1, 1, FILE_RATE).decodeAudioData(await file.arrayBuffer());
  } catch {
    showProblem($("recorder-problem"), new Problem({ code: "file_unreadable", detail: t("recorder.unreadable") }));
    return;
  }
  if (take !== current) return;
  const samples = mixed(buffer);
  Object.assign(take, {
    chunks: [samples], length: samples.length, file: wav([samples], buffer.sampleRate), isSuspicious: false,
    peak: samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0),
  });
  showState(t("recorder.recorded", { length: seconds(buffer.duration * 1000) }));
  if (take.peak >= CLIPPED) warn(t("recorder.clipped"));
  $("recorder-listen").focus();
}

/** Returns the samples of a sound in one channel: the mean of its channels. */
function mixed(buffer) {
  const channels = Array.from({ length: buffer.numberOfChannels }, (_, index) => buffer.getChannelData(index));
  return channels[0].map((_, at) => channels.reduce((sum, channel) => sum + channel[at], 0) / channels.length);
}

const warn = (text, lang = "") => $("recorder-warnings").append(make("li", { lang }, text));

async function listen() {
  const take = current;
  recording.wake();
  const bytes = await take.file.arrayBuffer();
  if (take !== current) return;
  await recording.load(bytes);
  if (take === current) recording.start(0);
}

async function save(isAccepted) {
  const take = current;
  take.isSaving = true;
  $("recorder-problem").hidden = true;
  // The service compares the recording with what it should say, which can take some seconds.
  showState(t("recorder.saving"));
  try {
    const warnings = await take.clip.save(take.clip.entry, take.file, isAccepted);
    Object.assign(take, { file: null, isSaving: false, isSuspicious: false });
    if (take !== current) return;
    showState(t("recorder.saved"));
    $("recorder-warnings").replaceChildren();
    for (const warning of warnings) warn(warning, "en");
    $(tour.at < tour.list.length - 1 ? "recorder-next" : "recorder-close").focus();
  } catch (error) {
    if (isObsolete(error)) return;
    if (!(error instanceof Problem)) throw error;
    take.isSuspicious = error.code === SUSPICIOUS;
    if (take !== current) showProblem(take.clip.place, error);
    else if (take.isSuspicious) showSuspicion(error);
    else showProblem($("recorder-problem"), error);
  } finally {
    take.isSaving = false;
    if (take === current) showState(take.isSuspicious ? t("recorder.suspicious") : take.file && t("recorder.ready"));
    if (take === current && take.isSuspicious) $("recorder-record").focus();
  }
}

/** Shows why the service does not use a recording unasked. */
function showSuspicion({ detail }) {
  $("recorder-warnings").replaceChildren();
  // The last sentences are for programs; the buttons say the same.
  warn(detail.replace(/ Nothing was stored\..*/s, ""), "en");
}

async function close() {
  const take = current;
  // What is still under way for this opening does not change the next one.
  current = newTake(null);
  if ($("recorder").open) $("recorder").close();
  await release(take);
}

export function connectRecorder() {
  addDialog(markup);
  whenKeyChanges(close);
  onClick("recorder-record", recordOrStop);
  onClick("recorder-listen", listen);
  onClick("recorder-save", () => save(false));
  onClick("recorder-accept", () => save(true));
  onClick("recorder-back", () => go(-1));
  onClick("recorder-next", () => go(1));
  onClick("recorder-upload", () => $("recorder-file").click());
  $("recorder-file").addEventListener("change", () => {
    const [file] = $("recorder-file").files;
    $("recorder-file").value = "";
    if (file) useFile(file);
  });
  onClick("recorder-close", close);
  $("recorder").addEventListener("close", () => { if (!$("recorder").open) close(); });
}
