// SPDX-License-Identifier: Apache-2.0

/** Plays one clip at a time in the browser. Times are in seconds from the clip's first sample. */
const makeSound = () => ({
  context: null, buffer: null, source: null, from: 0, startedAt: 0,

  /** Called when a clip has played to its end. */
  onEnd() {},

  /** Allows sound. Browsers block sound until a person acts on the page, so call it from an event handler. */
  wake() {
    this.context ??= new AudioContext();
    if (this.context.state === "suspended") this.context.resume().catch(() => {});
  },

  get isPlaying() { return this.source !== null; },

  /** The position that is audible now. */
  get position() {
    if (!this.source) return this.from;
    const heard = this.context.currentTime - this.startedAt - (this.context.outputLatency || 0);
    return Math.min(this.buffer.duration, this.from + Math.max(0, heard));
  },

  /** Decodes a file and makes it the clip. */
  async load(bytes) {
    this.clear();
    this.buffer = await this.context.decodeAudioData(bytes);
  },

  start(from) {
    for (const other of [sound, recording]) other.stop();
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
      this.onEnd();
    };
    source.start(0, from);
    this.source = source;
  },

  /** Stops at the current position. */
  stop() {
    const source = this.source;
    if (!source) return;
    this.from = this.position;
    this.source = null;
    source.stop();
  },

  /** Stops and removes the clip. */
  clear() {
    this.stop();
    this.buffer = null;
    this.from = 0;
  },
});

/** The clip of the preview, and the recording that is heard in the voices or in the recorder. */
export const sound = makeSound();
export const recording = makeSound();
