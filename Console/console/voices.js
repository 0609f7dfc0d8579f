// SPDX-License-Identifier: Apache-2.0

// The view of the voices: who speaks, the loudspeaker, the voice packs, their recordings, and the recorder.

import { connectClips, markup as clips } from "./clips.js";
import { connectOutputs, markup as outputs, refreshOutputs } from "./outputs.js";
import { connectPacks, markup as packs, refreshPacks } from "./packs.js";
import { connectRecorder } from "./recorder.js";
import { markup as speakers } from "./speakers.js";

/** The HTML of the view. */
export const markup = [speakers, packs, clips, outputs].join("");

export const refresh = () => Promise.all([refreshPacks(), refreshOutputs()]);

export function connect() {
  connectRecorder();
  connectPacks();
  connectClips();
  connectOutputs();
}
