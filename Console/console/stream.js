// SPDX-License-Identifier: Apache-2.0

// Reads server-sent events. The browser's `EventSource` cannot send a key.

/** The service sends a comment line every 15 s. A stream without any line for longer than this is lost. */
const LONGEST_SILENCE = 40000;

/** Passes the events of an answer to `handle` until the stream ends. Throws an error if the stream falls silent. */
export async function readEvents(body, handle) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = { data: [] };
  for (;;) {
    const { value, done } = await withinTime(reader);
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const raw of lines) {
      const line = raw.replace(/\r$/, "");
      if (line === "") {
        if (event.data.length) handle(event);
        event = { data: [] };
      } else if (!line.startsWith(":")) {
        const [, name, text] = /^([^:]*):? ?(.*)$/.exec(line);
        if (name === "data") event.data.push(text);
        else event[name] = text;
      }
    }
  }
}

async function withinTime(reader) {
  const timer = setTimeout(() => reader.cancel(), LONGEST_SILENCE);
  try {
    return await reader.read();
  } finally {
    clearTimeout(timer);
  }
}
