// SPDX-License-Identifier: Apache-2.0

// Records a word by the microphone, as a 16-bit mono WAV file.

import { seconds } from "./figures.js";
import { $, allow, busy, make, onClick, setText } from "./page.js";
import { Problem, attempt } from "./service.js";
import { recording } from "./sound.js";
import { t, whenLanguageChanges } from "./translations.js";
import { wav } from "./wav.js";

/** The longest recording that the service takes, in seconds. The recorder stops there. */
const LONGEST = 15;

/** The clip to record, the running microphone, and the recording: its samples and its file. */
const take = { clip: null, microphone: null, chunks: [], length: 0, file: null };

/** Opens the recorder. `save` sends the file and returns the service's warnings. */
export function openRecorder({ words, locale, save }) {
  Object.assign(take, { clip: { save }, chunks: [], length: 0, file: null });
  setText($("recorder-words"), words);
  $("recorder-words").lang = locale;
  $("recorder-problem").hidden = true;
  $("recorder-warnings").replaceChildren();
  showState(t("recorder.ready"));
  $("recorder").showModal();
  $("recorder-record").focus();
}

function showState(text = null) {
  if (text !== null) setText($("recorder-state"), text);
  const isRecording = take.microphone !== null;
  const start = take.file ? t("recorder.again") : t("recorder.record");
  setText($("recorder-record"), isRecording ? t("recorder.stop") : start);
  allow($("recorder-listen"), !isRecording && take.file !== null);
  allow($("recorder-save"), !isRecording && take.file !== null);
  if (!isRecording) $("recorder-level").value = 0;
}

whenLanguageChanges(() => showState());

async function recordOrStop() {
  if (take.microphone) await stop();
  else await attempt($("recorder-problem"), start);
}

async function start() {
  recording.stop();
  $("recorder-warnings").replaceChildren();
  Object.assign(take, { chunks: [], length: 0, file: null });
  const audio = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  // Pages that are not a secure context have no microphone.
  const stream = await navigator.mediaDevices?.getUserMedia({ audio }).catch(() => null);
  if (!stream) throw new Problem({ code: "microphone_unavailable", detail: t("recorder.no_microphone") });
  const context = new AudioContext();
  await context.audioWorklet.addModule("/console/capture.js");
  const source = context.createMediaStreamSource(stream);
  const capture = new AudioWorkletNode(context, "capture", { numberOfOutputs: 0 });
  capture.port.onmessage = ({ data }) => add(data);
  source.connect(capture);
  take.microphone = { stream, context };
  // The person may have closed the recorder while the browser asked for the microphone.
  if (!$("recorder").open) await close();
  else showState(t("recorder.recording"));
}

function add(samples) {
  if (!take.microphone) return;
  take.chunks.push(samples);
  take.length += samples.length;
  $("recorder-level").value = samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
  if (take.length >= LONGEST * take.microphone.context.sampleRate) stop();
}

async function release() {
  const { microphone } = take;
  take.microphone = null;
  for (const track of microphone?.stream.getTracks() ?? []) track.stop();
  await microphone?.context.close();
  return microphone?.context.sampleRate ?? 0;
}

async function stop() {
  const rate = await release();
  if (take.length) take.file = wav(take.chunks, rate);
  showState(take.file ? t("recorder.recorded", { length: seconds((take.length / rate) * 1000) }) : t("recorder.ready"));
  if (take.file) $("recorder-listen").focus();
}

async function listen() {
  recording.wake();
  await recording.load(await take.file.arrayBuffer());
  recording.start(0);
}

async function save() {
  // The service compares the recording with what it should say, which can take some seconds.
  setText($("recorder-state"), t("recorder.saving"));
  const warnings = await attempt($("recorder-problem"), () => take.clip.save(take.file));
  if (!warnings) {
    setText($("recorder-state"), t("recorder.ready"));
    return;
  }
  take.file = null;
  showState(t("recorder.saved"));
  $("recorder-warnings").replaceChildren(...warnings.map((warning) => make("li", { lang: "en" }, warning)));
  $("recorder-close").focus();
}

async function close() {
  await release();
  take.file = null;
  if ($("recorder").open) $("recorder").close();
}

export function connectRecorder() {
  onClick("recorder-record", recordOrStop);
  onClick("recorder-listen", listen);
  onClick("recorder-save", () => busy($("recorder-save"), save).then(() => showState()));
  onClick("recorder-close", close);
  $("recorder").addEventListener("close", close);
}
