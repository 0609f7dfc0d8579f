# SPDX-License-Identifier: Apache-2.0
"""OpenAI's own Python client speaks with the service, as in docs/backends.md.

The client is installed from PyPI into .build/openai. Without it, or without a built program, nothing is checked, and that
is said. CRIER_PROGRAM names another program than the newest one in .build.
"""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
import wave

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SPEAK = ROOT / "Examples" / "backends" / "speak.py"
FOLDER = ROOT / ".build" / "openai"
PYTHON = FOLDER / "bin" / "python"
VERSION = "3.57.0"
DEADLINE = 120

# The parts of an error that a program sees: its type, its status and its code.
REFUSALS = """
import os, openai
client = openai.OpenAI(base_url=os.environ["CRIER_URL"] + "/v1", api_key=os.environ["CRIER_KEY"], max_retries=0)
def attempt(client=client, **changes):
    arguments = {"model": "tts-1", "voice": "alloy", "input": "Hello"} | changes
    try:
        client.audio.speech.create(**arguments)
        print("spoken")
    except openai.APIStatusError as error:
        print(type(error).__name__, error.status_code, error.code)
attempt(input="!?")
attempt(input="word " * 900)
attempt(response_format="opus")
attempt(voice="nobody")
attempt(speed=5)
attempt(stream_format="sse")
attempt(client.with_options(api_key="crier_short"))
attempt(voice={"id": "de-DE"}, instructions="Speak gladly.", speed=1.5, stream_format="audio")
"""

# The same text in each format, and by the client that reads the answer in pieces.
FORMATS = """
import os, sys, openai
client = openai.OpenAI(base_url=os.environ["CRIER_URL"] + "/v1", api_key=os.environ["CRIER_KEY"], max_retries=0)
for name in ("mp3", "flac", "wav", "pcm"):
    with client.audio.speech.with_streaming_response.create(
            model="tts-1", voice="nova", input="Ada paid $3,497.12.", response_format=name) as answer:
        answer.stream_to_file(f"sound.{name}")
        print(name, answer.headers["content-type"])
client.audio.speech.create(model="gpt-4o-mini-tts", voice="alloy", input="Hello").write_to_file("usual")
"""


def not_checked(reason):
    print(f"NOT CHECKED: OpenAI's client with the service: {reason}", file=sys.stderr, flush=True)
    raise unittest.SkipTest(reason)


def install():
    """Installs the client, if it is not there."""
    asked = "import importlib.metadata as m; print(m.version('openai'))"
    if PYTHON.exists():
        found = subprocess.run([PYTHON, "-c", asked], capture_output=True, text=True, check=False)
        if found.stdout.strip() == VERSION:
            return
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER], capture_output=True, check=True, timeout=300)
        subprocess.run(
            [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"openai=={VERSION}"],
            capture_output=True, check=True, timeout=600)
    except (OSError, subprocess.SubprocessError):
        not_checked("it cannot be installed. The network or python3-venv may be missing.")


def program():
    """Returns the program to be tested: the newest one."""
    if named := os.environ.get("CRIER_PROGRAM"):
        return pathlib.Path(named)
    built = [path for kind in ("debug", "release") if (path := ROOT / ".build" / kind / "crier").exists()]
    if not built:
        not_checked("the service is not built; run swift build.")
    return max(built, key=lambda path: path.stat().st_mtime)


class Service:
    """A running service with a home of its own, and a key of it with the scope `announce`."""

    def __init__(self, folder):
        crier = program()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("CRIER_")}
        home = pathlib.Path(folder) / "home"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{free.getsockname()[1]}"
        made = subprocess.run(
            [crier, "keys", "create", "--scope", "announce", "--json"],
            env=self.environment | {"CRIER_HOME": str(home)}, capture_output=True, text=True, check=True, timeout=60)
        self.key = json.loads(made.stdout)["key"]
        self.log = pathlib.Path(folder) / "service.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [crier, "serve", "--port", self.address.rsplit(":", 1)[1], "--home", str(home), "--output", "null"],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait()

    def wait(self):
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError, urllib.error.URLError):
                with urllib.request.urlopen(self.address + "/healthz", timeout=5):
                    return
            time.sleep(0.05)
        self.end()
        raise AssertionError(f"the service did not start: {self.log.read_text()[-500:]}")

    def end(self):
        self.process.kill()
        self.process.wait(10)


class OpenAIClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        install()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.service = Service(folder.name)
        cls.addClassCleanup(cls.service.end)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_python(self, *arguments):
        environment = {
            name: value for name, value in self.service.environment.items()
            if "proxy" not in name.lower() and not name.startswith("OPENAI_")}
        environment |= {"CRIER_URL": self.service.address, "CRIER_KEY": self.service.key}
        return subprocess.run(
            [PYTHON, "-B", *arguments], env=environment, cwd=self.folder, capture_output=True, text=True,
            timeout=DEADLINE, check=False)

    def sound_lasts(self, name):
        """Returns the length of a WAV file in seconds, and checks that it is a sound of one channel."""
        with wave.open(str(self.folder / name)) as sound:
            self.assertEqual((sound.getnchannels(), sound.getsampwidth()), (1, 2))
            samples = sound.readframes(sound.getnframes())
            self.assertGreater(len(set(samples)), 100, "the sound is silent")
            return sound.getnframes() / sound.getframerate()

    def test_the_example_speaks_a_text_into_a_wav_file(self):
        result = self.run_python(SPEAK, "Ada paid $3,497.12 on May 3.", "sum.wav")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        # The words of the sum take more than three seconds. Without the sum, the text takes about two.
        self.assertGreater(self.sound_lasts("sum.wav"), 4)

    def test_the_words_of_a_number_are_heard_and_not_its_digits(self):
        for text, name in (("It costs $3,400.12.", "sum.wav"), (
                "It costs three thousand four hundred dollars and twelve cents.", "words.wav")):
            result = self.run_python(SPEAK, text, name)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.folder / "sum.wav").read_bytes(), (self.folder / "words.wav").read_bytes())

    def test_the_example_says_why_a_text_is_not_spoken(self):
        result = self.run_python(SPEAK, "!?", "none.wav")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(
            result.stderr, "400 nothing_to_say: input: has no word that a voice can say; give at least one word.\n")
        self.assertFalse((self.folder / "none.wav").exists())

    def test_a_refusal_is_the_error_that_programs_expect(self):
        result = self.run_python("-c", REFUSALS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.splitlines(), [
            "BadRequestError 400 nothing_to_say", "BadRequestError 400 field_invalid",
            "BadRequestError 400 field_invalid", "BadRequestError 400 field_invalid",
            "BadRequestError 400 field_invalid", "BadRequestError 400 field_invalid",
            "AuthenticationError 401 key_malformed", "spoken"])

    def test_each_format_is_what_its_name_says(self):
        result = self.run_python("-c", FORMATS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(
            result.stdout.splitlines(), ["mp3 audio/mpeg", "flac audio/flac", "wav audio/wav", "pcm audio/pcm"])
        files = {name: (self.folder / name).read_bytes() for name in ("sound.mp3", "sound.flac", "sound.pcm", "usual")}
        for name in ("sound.mp3", "usual"):  # the first eleven bits of a frame
            self.assertEqual((files[name][0], files[name][1] & 0xE0), (0xFF, 0xE0), name)
        self.assertEqual(files["sound.flac"][:4], b"fLaC")
        seconds = self.sound_lasts("sound.wav")
        # At another rate the peaks are limited lower, so the ends are trimmed some milliseconds later.
        self.assertAlmostEqual(len(files["sound.pcm"]) / 2 / 24_000, seconds, delta=0.03)


if __name__ == "__main__":
    unittest.main()
