// SPDX-License-Identifier: Apache-2.0

/** Writes samples from -1 to 1 as a WAV file with 16 bits and one channel. */
export function wav(chunks, rate) {
  const count = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const view = new DataView(new ArrayBuffer(44 + 2 * count));
  const tag = (at, text) => [...text].forEach((letter, index) => view.setUint8(at + index, letter.charCodeAt(0)));
  tag(0, "RIFF");
  view.setUint32(4, 36 + 2 * count, true);
  tag(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  // PCM, one channel.
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  tag(36, "data");
  view.setUint32(40, 2 * count, true);
  let at = 44;
  for (const chunk of chunks) {
    for (const sample of chunk) {
      view.setInt16(at, Math.round(Math.max(-1, Math.min(1, sample)) * 32767), true);
      at += 2;
    }
  }
  return new Blob([view], { type: "audio/wav" });
}
