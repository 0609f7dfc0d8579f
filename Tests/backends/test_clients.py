# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/backends.md, for each client in Examples/backends.

CLIENTS names the languages that are tested; the default is those that need no compiler.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import tempfile
import unittest

from stand_in import KEY, accept, cut_the_answer, lose_the_answer, refuse, stand_in

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "Examples" / "backends"

# The command that compiles a client into a folder, if there is one, and the command that announces a payment.
LANGUAGES = {
    "curl": (None, ["sh", f"{FOLDER}/announce.sh"]),
    "python": (None, ["python3", "-B", f"{FOLDER}/announce.py"]),
    "php": (None, ["php", f"{FOLDER}/announce.php"]),
    "node": (None, ["node", f"{FOLDER}/announce.mjs"]),
    "java": (
        ["javac", "-Werror", "-Xlint:all,-serial", "-d", "{}", f"{FOLDER}/Announce.java"],
        ["java", "-cp", "{}", "Announce"]),
    "swift": (
        ["swiftc", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-o", "{}/announce",
         f"{FOLDER}/announce.swift"],
        ["{}/announce"]),
}
TESTED = os.environ.get("CLIENTS", "curl python php node").split()

# On Linux, URLSession notices a lost connection only after its time-out of 30 s.
DEADLINE = 120

built = None


def setUpModule():
    global built
    built = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(built.cleanup)
    for language in TESTED:
        if compiler := LANGUAGES[language][0]:
            subprocess.run([word.format(built.name) for word in compiler], check=True, timeout=300)


def announce(language, address, amount="12.50", id="p-1", key=KEY):
    """Runs a client, and returns its exit status and what it printed. Without an address, CRIER_URL is not set."""
    command = [word.format(built.name) for word in LANGUAGES[language][1]]
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    environment |= {"CRIER_KEY": key} | ({} if address is None else {"CRIER_URL": address})
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [*command, id, amount, "USD"], env=environment, cwd=folder, capture_output=True, text=True,
            timeout=DEADLINE, check=False)


class Clients(unittest.TestCase):
    def each(self, rule):
        """Checks a rule for all languages at the same time, because clients mostly wait."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            checks = {language: pool.submit(rule, language) for language in TESTED}
        for language, check in checks.items():
            with self.subTest(language):
                check.result()

    def assert_accepted(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Received twelve dollars", result.stdout)
        self.assertIn("/v1/clips/a.wav", result.stdout)
        self.assertEqual(result.stderr, "")

    def assert_refused(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for word in ("p-1", *words):
            self.assertIn(word, result.stderr)
        self.assertNotIn(KEY, result.stdout + result.stderr)

    def test_a_client_without_an_address_or_a_key_says_so_at_once(self):
        def rule(language):
            for address, key in (("", KEY), (None, KEY), ("127.0.0.1:8080", KEY), ("http://127.0.0.1:9", "")):
                result = announce(language, address, key=key)
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                self.assertIn("set CRIER_URL, with http:// or https://, and CRIER_KEY", result.stderr)
                self.assertNotIn(KEY, result.stdout + result.stderr)
        self.each(rule)

    def test_a_newline_behind_the_key_and_a_slash_behind_the_address_do_no_harm(self):
        def rule(language):
            with stand_in(accept) as service:
                self.assert_accepted(announce(language, service.address + "/", key=KEY + "\n"))
                self.assertEqual(len(service.requests), 1)
        self.each(rule)

    def test_a_key_that_no_header_can_have_is_told_at_once_and_not_printed(self):
        def rule(language):
            result = announce(language, "http://127.0.0.1:9", key=KEY + " é")
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertNotIn(KEY, result.stdout + result.stderr)
        self.each(rule)

    def test_a_client_without_a_payment_says_how_it_is_used(self):
        for language in TESTED:
            command = [word.format(built.name) for word in LANGUAGES[language][1]]
            result = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)
            with self.subTest(language):
                self.assertNotEqual(result.returncode, 0)
                self.assertRegex(result.stderr, "^usage: .*ID AMOUNT CURRENCY\n$")

    def test_a_payment_is_sent_until_it_is_answered_and_is_heard_once(self):
        def rule(language):
            with stand_in(refuse(503, ("Retry-After", "2")), lose_the_answer) as service:
                self.assert_accepted(announce(language, service.address))
                first, second, third = service.requests
                self.assertEqual({first.body, second.body, third.body}, {first.body})
                self.assertGreaterEqual(second.at - first.at, 2)
                self.assertGreaterEqual(third.at - second.at, 1)
                self.assertEqual(first.path, "/v1/announcements")
                self.assertEqual(first.headers["Authorization"], "Bearer " + KEY)
                self.assertEqual(first.headers["Content-Type"], "application/json")
                # The same payment by another process, and then another amount under the same id.
                self.assert_accepted(announce(language, service.address))
                self.assertEqual(service.requests[3].body, first.body)
                self.assert_refused(announce(language, service.address, amount="13.50"), "409", "id_conflict")
                self.assertEqual(len(service.requests), 5)
                self.assertEqual(list(service.heard.values()), [first.body])
        self.each(rule)

    def test_an_answer_that_was_cut_off_is_none(self):
        def rule(language):
            with stand_in(cut_the_answer, accept) as service:
                self.assert_accepted(announce(language, service.address))
                self.assertEqual(len(service.requests), 2)
        self.each(rule)

    def test_a_fault_of_the_request_ends_the_attempts_and_is_told(self):
        def rule(language):
            for status in (400, 401, 422):
                with stand_in(refuse(status)) as service:
                    self.assert_refused(announce(language, service.address), str(status), f"some detail of {status}")
                    self.assertEqual(len(service.requests), 1)
        self.each(rule)

    def test_a_redirect_is_a_fault_and_is_not_followed(self):
        def rule(language):
            with stand_in() as other:
                location = ("Location", other.address + "/v1/announcements")
                for status in (301, 302, 307):
                    with stand_in(refuse(status, location)) as service:
                        self.assert_refused(announce(language, service.address), str(status))
                        self.assertEqual(len(service.requests), 1)
                self.assertEqual(other.requests, [])
        self.each(rule)

    def test_every_status_that_may_pass_is_tried_again_and_the_attempts_are_bounded(self):
        soon = ("Retry-After", "0")

        def rule(language):
            with stand_in(*(refuse(status, soon) for status in (429, 500, 502, 503, 504, 507, 503, 503))) as service:
                self.assert_refused(announce(language, service.address), "503", "some detail of 503")
                self.assertEqual(len(service.requests), 8)
                self.assertEqual(service.heard, {})
        self.each(rule)

    def test_a_long_retry_after_ends_the_attempts(self):
        def rule(language):
            with stand_in(refuse(429, ("Retry-After", "86400"))) as service:
                self.assert_refused(announce(language, service.address), "429", "some detail of 429")
                self.assertEqual(len(service.requests), 1)
        self.each(rule)

    def test_a_retry_after_that_is_no_number_of_seconds_is_ignored(self):
        def rule(language):
            for value in ("Fri, 20 Nov 2026 20:23:58 GMT", "-1", "9" * 5000):
                with stand_in(refuse(503, ("Retry-After", value))) as service:
                    self.assert_accepted(announce(language, service.address))
                    self.assertEqual(len(service.requests), 2)
        self.each(rule)


if __name__ == "__main__":
    unittest.main()
