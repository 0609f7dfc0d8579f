// SPDX-License-Identifier: Apache-2.0
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import * as fs from "node:fs";
import { createServer } from "node:http";

/** What your shop does with a message. It may get one again if the program ended during the work. */
async function work(message) {
  console.log(message.type, message.data.id ?? "-");
}

// Two secrets with a space between them, while one replaces the other.
const keys = (process.env.CRIER_WEBHOOK_SECRET ?? "").split(" ").map((secret) => {
  const found = /^whsec_([A-Za-z0-9+/]{32,}={0,2})$/.exec(secret);
  if (found) return Buffer.from(found[1], "base64");
  console.error("CRIER_WEBHOOK_SECRET: give the secret of the endpoint, which begins with whsec_");
  process.exit(1);
});
const inbox = process.env.CRIER_INBOX; // a folder that only this program uses
if (!inbox) {
  console.error("CRIER_INBOX: give a folder that can be written");
  process.exit(1);
}
const remembered = 4 * 86_400_000; // milliseconds

/** Returns what is wrong with a message, or null. */
function fault(headers, body, now) {
  const id = headers["webhook-id"];
  const sent = headers["webhook-timestamp"];
  const signatures = headers["webhook-signature"];
  if (!id || !sent || !signatures) return "a header is missing: webhook-id, webhook-timestamp, webhook-signature";
  if (!/^[0-9]{1,12}$/.test(sent)) return "webhook-timestamp is not a number of seconds";
  if (Math.abs(now / 1000 - Number(sent)) > 300) {
    return "webhook-timestamp differs from this clock by more than five minutes";
  }
  let fits = false;
  for (const key of keys) {
    const hmac = createHmac("sha256", key).update(`${id}.${sent}.`, "latin1").update(body);
    const code = Buffer.from("v1," + hmac.digest("base64"));
    for (const one of signatures.split(" ").map((text) => Buffer.from(text, "latin1"))) {
      fits = (one.length === code.length && timingSafeEqual(one, code)) || fits;
    }
  }
  return fits ? null : "no signature fits: the secret is another one, or the body was changed";
}

/** Lets the disk have a file, or the names in a folder. */
function synchronize(path) {
  const descriptor = fs.openSync(path);
  fs.fsyncSync(descriptor);
  fs.closeSync(descriptor);
}

/** Stores a message that is not known yet. Only one process may have the folder. */
function keep(id, body) {
  const name = createHash("sha256").update(id, "latin1").digest("hex");
  if (fs.existsSync(`${inbox}/done/${name}`) || fs.existsSync(`${inbox}/todo/${name}`)) return;
  const path = `${inbox}/new/${name}.${randomBytes(8).toString("hex")}`;
  fs.writeFileSync(path, body, { flag: "wx" });
  synchronize(path);
  fs.renameSync(path, `${inbox}/todo/${name}`);
  synchronize(`${inbox}/todo`);
}

let working = false;
let arrived = false;

/** Works on the stored messages, also on those that were left when the program ended. */
async function workOnMessages() {
  arrived = true;
  if (working) return;
  working = true;
  while (arrived) {
    arrived = false;
    const age = (name) => fs.statSync(`${inbox}/todo/${name}`).mtimeMs;
    for (const name of fs.readdirSync(`${inbox}/todo`).sort((one, other) => age(one) - age(other))) {
      try {
        await work(JSON.parse(fs.readFileSync(`${inbox}/todo/${name}`, "utf8")));
        fs.renameSync(`${inbox}/todo/${name}`, `${inbox}/done/${name}`);
      } catch (error) {
        console.error(`${name}: ${error.message}`); // the message is tried again with the next one, or in a minute
      }
    }
  }
  working = false;
}

/** Forgets messages after four days. */
function forget() {
  for (const folder of ["new", "done"]) {
    for (const path of fs.readdirSync(`${inbox}/${folder}`).map((name) => `${inbox}/${folder}/${name}`)) {
      if (fs.statSync(path).mtimeMs < Date.now() - remembered) fs.unlinkSync(path);
    }
  }
}

for (const folder of ["new", "todo", "done"]) fs.mkdirSync(`${inbox}/${folder}`, { recursive: true, mode: 0o700 });
forget();
setInterval(forget, 3_600_000);
setInterval(workOnMessages, 60_000);
workOnMessages();

const server = createServer((request, response) => {
  const answer = (status, text = "") => response.writeHead(status, { "Content-Type": "text/plain" }).end(text);
  const parts = [];
  let length = 0;
  request.on("data", (part) => {
    length += part.length;
    if (length < 100_000) parts.push(part);
  });
  request.on("end", () => {
    if (request.method !== "POST") return answer(405, "send a POST");
    if (length >= 100_000) return answer(413, "the body has more than 99,999 bytes");
    const body = Buffer.concat(parts); // the bytes as they came
    const wrong = fault(request.headers, body, Date.now());
    if (wrong) return answer(400, wrong);
    try {
      keep(request.headers["webhook-id"], body);
    } catch (error) {
      return answer(503, `the message cannot be stored: ${error.message}`); // Crier sends it again
    }
    answer(204);
    setImmediate(workOnMessages);
  });
});
server.requestTimeout = 15_000; // milliseconds, so that a slow client does not hold a connection
server.listen(Number(process.argv[2]), "127.0.0.1");
