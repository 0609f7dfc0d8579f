// SPDX-License-Identifier: Apache-2.0

// Records a word by the microphone, as a 16-bit mono WAV file.

import { openDialog } from "./dialog.js";
import { seconds } from "./figures.js";
import { $, allow, make, onClick, setText } from "./page.js";
import { Problem, attempt, isObsolete, showProblem } from "./service.js";
import { recording } from "./sound.js";
import { t, whenLanguageChanges } from "./translations.js";
import { wav } from "./wav.js";

/** The longest recording that the service takes, in seconds. The recorder stops there. */
const LONGEST = 15;

/**
 * What one opening of the recorder records: the clip's words and how to save them, the running microphone, and the
 * recording: its samples and its file. Each opening has a `take` of its own, so that what ends later, such as a save,
 * changes only its own. `isStarting` and `isSaving` say what is under way.
 */
const newTake = (clip) =>
  ({ clip, microphone: null, chunks: [], length: 0, file: null, isStarting: false, isSaving: false });

let current = newTake(null);

/**
 * Opens the recorder. `save` sends the file and returns the service's warnings. `place` is the element that shows the
 * problem of a save that fails after the recorder was closed.
 */
export function openRecorder({ words, locale, save, place }) {
  current = newTake({ save, place });
  setText($("recorder-words"), words);
  $("recorder-words").lang = locale;
  $("recorder-problem").hidden = true;
  $("recorder-warnings").replaceChildren();
  showState(t("recorder.ready"));
  openDialog($("recorder"), $("recorder-record"));
}

function showState(text = null) {
  const { microphone, file, isStarting, isSaving } = current;
  if (text !== null) setText($("recorder-state"), text);
  const start = file ? t("recorder.again") : t("recorder.record");
  setText($("recorder-record"), microphone ? t("recorder.stop") : start);
  show("recorder-record", !isSaving, isStarting);
  show("recorder-listen", !microphone && !isStarting && file !== null);
  show("recorder-save", !microphone && !isStarting && file !== null, isSaving);
  if (!microphone) $("recorder-level").value = 0;
}

/** Shows whether a button may be used, and whether its work is under way. */
function show(id, isOffered, isBusy = false) {
  allow($(id), isOffered && !isBusy);
  if (isBusy) $(id).setAttribute("aria-busy", "true");
  else $(id).removeAttribute("aria-busy");
}

whenLanguageChanges(() => showState());

async function recordOrStop() {
  if (current.microphone) await stop(current);
  else await attempt($("recorder-problem"), () => start(current));
}

async function start(take) {
  recording.stop();
  $("recorder-warnings").replaceChildren();
  Object.assign(take, { chunks: [], length: 0, file: null, isStarting: true });
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
  $("recorder-level").value = samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
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
  if (take.file) $("recorder-listen").focus();
}

async function listen() {
  const take = current;
  recording.wake();
  const bytes = await take.file.arrayBuffer();
  if (take !== current) return;
  await recording.load(bytes);
  if (take === current) recording.start(0);
}

async function save() {
  const take = current;
  take.isSaving = true;
  // The service compares the recording with what it should say, which can take some seconds.
  showState(t("recorder.saving"));
  try {
    const warnings = await take.clip.save(take.file);
    take.file = null;
    if (take !== current) return;
    take.isSaving = false;
    showState(t("recorder.saved"));
    $("recorder-warnings").replaceChildren(...warnings.map((warning) => make("li", { lang: "en" }, warning)));
    $("recorder-close").focus();
  } catch (error) {
    if (isObsolete(error)) return;
    if (!(error instanceof Problem)) throw error;
    showProblem(take === current ? $("recorder-problem") : take.clip.place, error);
  } finally {
    take.isSaving = false;
    if (take === current) showState(take.file ? t("recorder.ready") : null);
  }
}

async function close() {
  const take = current;
  // What is still under way for this opening does not change the next one.
  current = newTake(null);
  if ($("recorder").open) $("recorder").close();
  await release(take);
}

export function connectRecorder() {
  onClick("recorder-record", recordOrStop);
  onClick("recorder-listen", listen);
  onClick("recorder-save", save);
  onClick("recorder-close", close);
  $("recorder").addEventListener("close", () => { if (!$("recorder").open) close(); });
}
