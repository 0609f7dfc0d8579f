// SPDX-License-Identifier: Apache-2.0

// Draws a clip's waveform, and places its words below the moments at which they are spoken.

/** The distance from one bar of the waveform to the next, in CSS pixels. */
export const BAR_STEP = 4;

/** Returns the loudest sample of each of `count` equal sections, from 0 to 1. */
export function peaks(buffer, count) {
  const samples = buffer.getChannelData(0);
  return Array.from({ length: count }, (_, index) => {
    const end = Math.floor(((index + 1) * samples.length) / count);
    let peak = 0;
    for (let at = Math.floor((index * samples.length) / count); at < end; at++) {
      peak = Math.max(peak, Math.abs(samples[at]));
    }
    return peak;
  });
}

/**
 * Places the words' buttons in as many lines as they need, and returns the height of the lines in CSS pixels.
 * `duration` is in milliseconds.
 */
export function placeWords(buttons, marks, width, duration) {
  /** The right end of each line. */
  const ends = [];
  const places = buttons.map((button, index) => {
    const wide = Math.min(button.offsetWidth, width);
    const middle = ((marks[index].start_ms + marks[index].end_ms) / 2 / duration) * width;
    const left = Math.max(0, Math.min(middle - wide / 2, width - wide));
    let line = ends.findIndex((end) => end <= left);
    if (line < 0) line = ends.length;
    ends[line] = left + wide + 2;
    return { left, line };
  });
  const lineHeight = (buttons[0]?.offsetHeight ?? 0) + 2;
  places.forEach(({ left, line }, index) => {
    buttons[index].style.left = `${left}px`;
    buttons[index].style.top = `${line * lineHeight}px`;
  });
  return ends.length * lineHeight;
}

/**
 * Draws the waveform.
 *
 * `position` and `duration` are in seconds. `bars` are the peaks. `current` is the index of the mark that is spoken at
 * the position, or -1.
 */
export function paint(canvas, { position, duration, marks, current, bars }) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const scale = devicePixelRatio || 1;
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
  // Setting a canvas's size clears the canvas, so the size is set only when it changed.
  if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const drawing = canvas.getContext("2d");
  drawing.setTransform(scale, 0, 0, scale, 0, 0);
  drawing.clearRect(0, 0, width, height);
  const x = (time) => (time / (duration || 1)) * width;
  marks.forEach((mark, index) => {
    drawing.fillStyle = colour(index === current ? "--accent-soft" : "--sunk");
    const left = x(mark.start_ms / 1000);
    drawing.beginPath();
    drawing.roundRect(left, 0, Math.max(2, x(mark.end_ms / 1000) - left - 1), height, 6);
    drawing.fill();
  });
  const middle = height / 2;
  const [played, unplayed] = [colour("--accent"), colour("--edge")];
  const loudest = Math.max(0.05, ...bars);
  bars.forEach((peak, index) => {
    const left = index * BAR_STEP + 0.5;
    const half = Math.max(1, (peak / loudest) * (middle - 8));
    drawing.fillStyle = left < x(position) ? played : unplayed;
    drawing.beginPath();
    drawing.roundRect(left, middle - half, 2.5, half * 2, 1.25);
    drawing.fill();
  });
  drawing.fillStyle = played;
  if (position > 0) drawing.fillRect(Math.min(width - 2, x(position) - 1), 0, 2, height);
}
