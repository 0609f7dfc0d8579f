# SPDX-License-Identifier: Apache-2.0
import base64, hashlib, hmac, json, os, re, sqlite3, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

def work(message):
    """What your shop does with a message. It may get one again if the program ended during the work."""
    print(message["type"], message["data"].get("id", "-"), flush=True)

def key(secret):
    if not re.fullmatch("whsec_[A-Za-z0-9+/]{32,}={0,2}", secret):
        sys.exit("CRIER_WEBHOOK_SECRET: give the secret of the endpoint, which begins with whsec_")
    return base64.b64decode(secret.removeprefix("whsec_"))

# Two secrets with a space between them, while one replaces the other.
KEYS = [key(secret) for secret in os.environ.get("CRIER_WEBHOOK_SECRET", "").split() or [""]]
INBOX = os.environ.get("CRIER_INBOX") or sys.exit("CRIER_INBOX: give a folder that can be written")
DATABASE = os.path.join(INBOX, "webhooks.sqlite")
REMEMBERED = 4 * 86_400  # seconds
arrived = threading.Event()

def fault(headers, body, now):
    """Returns what is wrong with a message, or None."""
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    number, sent, signatures = (headers.get(name, "") for name in names)
    if not (number and sent and signatures):
        return "a header is missing: " + ", ".join(names)
    if not re.fullmatch("[0-9]{1,12}", sent):
        return "webhook-timestamp is not a number of seconds"
    if abs(now - int(sent)) > 300:
        return "webhook-timestamp differs from this clock by more than five minutes"
    signed = f"{number}.{sent}.".encode("latin-1") + body
    codes = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in KEYS]
    given = signatures.encode("latin-1").split(b" ")
    if not any([hmac.compare_digest(code, one) for code in codes for one in given]):
        return "no signature fits: the secret is another one, or the body was changed"
    return None

def database():
    opened = sqlite3.connect(DATABASE, timeout=10)
    opened.execute("CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, body BLOB, arrived REAL, done INT)")
    return opened

def keep(number, body):
    """Stores a message that is not known yet."""
    opened = database()
    try:
        with opened:  # the disk has the message when this block ends
            opened.execute("DELETE FROM messages WHERE done = 1 AND arrived < ?", (time.time() - REMEMBERED,))
            opened.execute("INSERT OR IGNORE INTO messages VALUES (?, ?, ?, 0)", (number, body, time.time()))
    finally:
        opened.close()
    arrived.set()

def work_on_messages():
    """Works on the stored messages, also on those that were left when the program ended."""
    opened = database()
    while True:
        arrived.clear()
        left = opened.execute("SELECT id, body FROM messages WHERE done = 0 ORDER BY arrived").fetchall()
        for number, body in left:
            try:
                work(json.loads(body))
                with opened:
                    opened.execute("UPDATE messages SET done = 1 WHERE id = ?", (number,))
            except Exception as error:  # the message is tried again with the next one, or in a minute
                print(f"{number}: {error!r}", file=sys.stderr, flush=True)
        arrived.wait(60)

class Receiver(BaseHTTPRequestHandler):
    timeout = 15  # seconds, so that a slow client does not hold a thread

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,5}", length):
            return self.answer(411 if length == "" else 413, "the body has no length, or more than 99,999 bytes")
        body = self.rfile.read(int(length))  # the bytes as they came
        wrong = fault(self.headers, body, time.time())
        if wrong:
            return self.answer(400, wrong)
        try:
            keep(self.headers["webhook-id"], body)
        except sqlite3.Error as error:
            return self.answer(503, f"the message cannot be stored: {error}")  # Crier sends it again
        self.answer(204)

    def answer(self, status, text=""):
        self.send_response(status)
        if text:
            self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(text.encode())

if __name__ == "__main__":
    database().close()  # a folder that cannot be written ends the program here
    threading.Thread(target=work_on_messages, daemon=True).start()
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
