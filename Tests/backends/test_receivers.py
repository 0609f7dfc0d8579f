# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/webhooks.md, for each receiver in Examples/backends."""
import base64
import concurrent.futures
import contextlib
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import queue
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "Examples" / "backends"
SECRET, OTHER = ("whsec_" + base64.b64encode(bytes([byte] * 32)).decode() for byte in (1, 2))
BODY = json.dumps({"data": {"delivery": "play", "detail": {}, "id": "p-1"}, "type": "announcement.played"}).encode()
HEARD = "announcement.played p-1"
DEADLINE = 60

# The program that receives, and the program that processes the messages, if that is another one.
LANGUAGES = {
    "python": (["python3", "-B", f"{FOLDER}/receive.py", "{}"], None),
    "php": (["php", "-S", "127.0.0.1:{}", f"{FOLDER}/receive.php"], ["php", f"{FOLDER}/receive.php"]),
    "node": (["node", f"{FOLDER}/receive.mjs", "{}"], None),
}


def sign(number, sent, body, secret=SECRET):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    code = hmac.new(key, f"{number}.{sent}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(code).decode()


def signed(number="msg_1", sent=None, body=BODY, secret=SECRET):
    sent = str(int(time.time())) if sent is None else sent
    return {"webhook-id": number, "webhook-timestamp": sent, "webhook-signature": sign(number, sent, body, secret)}


class Receiver:
    """A running receiver, whose inbox outlives it."""

    def __init__(self, language, inbox, secret=SECRET):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        environment = {
            **os.environ, "CRIER_WEBHOOK_SECRET": secret, "CRIER_INBOX": inbox, "PHP_CLI_SERVER_WORKERS": "4"}
        self.lines = queue.Queue()
        self.errors = tempfile.TemporaryFile()
        self.processes = [
            subprocess.Popen(
                [word.format(self.port) for word in command], env=environment, text=True, start_new_session=True,
                stdout=subprocess.PIPE, stderr=self.errors)
            for command in LANGUAGES[language] if command]
        self.threads = [threading.Thread(target=self.read, args=(process,)) for process in self.processes]
        for thread in self.threads:
            thread.start()

    def read(self, process):
        for line in process.stdout:
            self.lines.put(line.strip())

    def __enter__(self):
        # The first answer tells that the port is open; each attempt ends at once, with an answer or a refusal.
        deadline = time.monotonic() + DEADLINE
        while True:
            try:
                self.post({}, b"")
                return self
            except ConnectionRefusedError:
                if time.monotonic() > deadline or self.processes[0].poll() is not None:
                    self.__exit__()
                    raise

    def __exit__(self, *_):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):  # it ended by itself
                os.killpg(process.pid, 9)  # also the workers of PHP's server; a crash is the hardest end
            process.wait(DEADLINE)
        for thread in self.threads:
            thread.join(DEADLINE)
        for process in self.processes:
            process.stdout.close()
        self.errors.close()

    def post(self, headers, body=BODY, method="POST"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        try:
            connection.request(method, "/hooks", body, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()

    def next_line(self):
        return self.lines.get(timeout=DEADLINE)

    def end_with(self, number):
        """Sends one more message, and returns all lines before it. Messages are worked on in their order."""
        body = BODY.replace(b"p-1", number.encode())
        assert self.post(signed(number, body=body), body) == 204
        lines = []
        while (line := self.next_line()) != f"announcement.played {number}":
            lines.append(line)
        return lines


class Receivers(unittest.TestCase):
    def each(self, rule, **options):
        def run(language):
            with tempfile.TemporaryDirectory() as inbox, Receiver(language, inbox, **options) as receiver:
                rule(receiver)
        self.each_language(run)

    def each_language(self, rule):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            checks = {language: pool.submit(rule, language) for language in LANGUAGES}
        for language, check in checks.items():
            with self.subTest(language):
                check.result()

    def test_a_message_is_answered_and_worked_on_once_however_often_it_comes(self):
        def rule(receiver):
            self.assertEqual(receiver.post(signed()), 204)
            self.assertEqual(receiver.next_line(), HEARD)
            # A later attempt has another timestamp and signature, and the same id.
            self.assertEqual(receiver.post(signed(sent=str(int(time.time()) - 10))), 204)
            with concurrent.futures.ThreadPoolExecutor() as pool:
                answers = list(pool.map(lambda _: receiver.post(signed("msg_2")), range(8)))
            self.assertEqual(answers, [204] * 8)
            self.assertEqual(receiver.end_with("msg_3"), [HEARD])
        self.each(rule)

    def test_a_restart_forgets_no_message(self):
        def rule(language):
            with tempfile.TemporaryDirectory() as inbox:
                with Receiver(language, inbox) as receiver:
                    self.assertEqual(receiver.post(signed()), 204)
                    # Two more messages show that the first one is marked as done.
                    self.assertEqual(receiver.end_with("msg_2"), [HEARD])
                    self.assertEqual(receiver.end_with("msg_3"), [])
                with Receiver(language, inbox) as receiver:
                    self.assertEqual(receiver.post(signed()), 204)
                    # The end may have come between the work on msg_3 and its mark, so it may be worked on again.
                    self.assertEqual(set(receiver.end_with("msg_4")) - {"announcement.played msg_3"}, set())
        self.each_language(rule)

    def test_work_that_was_not_done_is_done_after_a_restart(self):
        def rule(language):
            with tempfile.TemporaryDirectory() as inbox:
                with Receiver(language, inbox) as receiver:
                    self.assertEqual(receiver.post(signed()), 204)
                    self.assertEqual(receiver.end_with("msg_2"), [HEARD])
                    self.assertEqual(receiver.end_with("msg_3"), [])
                todo = pathlib.Path(inbox, "todo")
                self.change(inbox, "UPDATE messages SET done = 0", lambda path: path.rename(todo / path.name))
                with Receiver(language, inbox) as receiver:
                    self.assertEqual(receiver.post(signed()), 204)
                    lines = receiver.end_with("msg_4")
                    self.assertEqual(lines.count(HEARD), 1)
                    self.assertEqual(lines.count("announcement.played msg_2"), 1)
        self.each_language(rule)

    def test_a_message_is_remembered_for_four_days(self):
        def rule(language):
            for days, heard in ((3.9, 0), (4.1, 1)):
                with tempfile.TemporaryDirectory() as inbox:
                    with Receiver(language, inbox) as receiver:
                        self.assertEqual(receiver.post(signed()), 204)
                        self.assertEqual(receiver.end_with("msg_2"), [HEARD])
                        self.assertEqual(receiver.end_with("msg_3"), [])
                    then = time.time() - days * 86_400
                    arrived = f"UPDATE messages SET arrived = {then}"
                    self.change(inbox, arrived, lambda path: os.utime(path, (then, then)))
                    with Receiver(language, inbox) as receiver:
                        self.assertEqual(receiver.post(signed()), 204)
                        self.assertEqual(receiver.end_with("msg_4").count(HEARD), heard)
        self.each_language(rule)

    def change(self, inbox, statement, step):
        """Changes what a receiver that has ended has stored, by an SQL statement or a step for each file."""
        path = pathlib.Path(inbox)
        if (path / "webhooks.sqlite").exists():
            with contextlib.closing(sqlite3.connect(path / "webhooks.sqlite")) as database, database:
                database.execute(statement)
        for file in list((path / "done").glob("*")):
            step(file)

    def test_a_message_with_a_missing_or_malformed_header_is_answered_with_400(self):
        def rule(receiver):
            right = signed()
            for name in right:
                self.assertEqual(receiver.post({key: value for key, value in right.items() if key != name}), 400, name)
                for value in ("", " ", "\xe9", ",", "v1,", "v1", "1 2", "9" * 400, "-1", "1e9", "NaN", "\u00b2"):
                    self.assertEqual(receiver.post({**right, name: value.encode("latin-1")}), 400, f"{name} {value!r}")
            self.assertEqual(receiver.post({}), 400)
            self.assertEqual(receiver.end_with("msg_2"), [])
        self.each(rule)

    def test_a_changed_message_is_answered_with_400(self):
        def rule(receiver):
            right = signed()
            self.assertEqual(receiver.post(right, BODY + b" "), 400)
            self.assertEqual(receiver.post(right, b""), 400)
            self.assertEqual(receiver.post({**right, "webhook-id": "msg_2"}), 400)
            later = str(int(right["webhook-timestamp"]) + 1)
            self.assertEqual(receiver.post({**right, "webhook-timestamp": later}), 400)
            self.assertEqual(receiver.post(signed(secret=OTHER)), 400)
            self.assertEqual(receiver.post({**right, "webhook-signature": right["webhook-signature"].lower()}), 400)
            version = right["webhook-signature"].replace("v1,", "v1a,")
            self.assertEqual(receiver.post({**right, "webhook-signature": version}), 400)
            self.assertEqual(receiver.end_with("msg_3"), [])
        self.each(rule)

    def test_a_message_outside_the_window_of_five_minutes_is_answered_with_400(self):
        def rule(receiver):
            now = int(time.time())
            for sent in (now - 330, now + 330, 0):
                self.assertEqual(receiver.post(signed(sent=str(sent))), 400, sent - now)
            self.assertEqual(receiver.post(signed(sent=str(now - 270))), 204)
            self.assertEqual(receiver.next_line(), HEARD)
        self.each(rule)

    def test_one_right_signature_among_several_is_enough(self):
        def rule(receiver):
            right = signed()
            wrong = sign("msg_1", right["webhook-timestamp"], BODY, OTHER)
            several = f"v1a,AAAA {wrong} {right['webhook-signature']} v1,"
            self.assertEqual(receiver.post({**right, "webhook-signature": several}), 204)
            self.assertEqual(receiver.post({**right, "webhook-signature": f"v1a,AAAA {wrong}"}), 400)
        self.each(rule)

    def test_two_secrets_are_valid_while_one_replaces_the_other(self):
        def rule(receiver):
            self.assertEqual(receiver.post(signed("msg_1", secret=SECRET)), 204)
            self.assertEqual(receiver.post(signed("msg_2", secret=OTHER)), 204)
        self.each(rule, secret=f"{OTHER} {SECRET}")

    def test_a_body_that_is_too_long_is_answered_with_413(self):
        def rule(receiver):
            body = b" " * 100_001
            self.assertEqual(receiver.post(signed(body=body), body), 413)
        self.each(rule)

    def test_messages_are_accepted_only_with_a_secret(self):
        def rule(language):
            for secret in ("", "whsec_", SECRET.removeprefix("whsec_")):
                with tempfile.TemporaryDirectory() as inbox:
                    try:
                        with Receiver(language, inbox, secret=secret) as receiver:
                            self.assertEqual(receiver.post(signed(secret="whsec_")), 503)
                    except ConnectionRefusedError:
                        pass  # the program ended at its start
        self.each_language(rule)


if __name__ == "__main__":
    unittest.main()
