// SPDX-License-Identifier: Apache-2.0

// Passes the microphone's samples to the page. It runs in the audio thread (AudioWorklet).

/** The samples of one message, about 50 ms. */
const MESSAGE = 2400;

registerProcessor("capture", class extends AudioWorkletProcessor {
  constructor() {
    super();
    this.samples = new Float32Array(MESSAGE);
    this.filled = 0;
  }

  process([input]) {
    for (const sample of input[0] ?? []) {
      this.samples[this.filled++] = sample;
      if (this.filled === MESSAGE) {
        this.port.postMessage(this.samples);
        this.samples = new Float32Array(MESSAGE);
        this.filled = 0;
      }
    }
    return true;
  }
});
