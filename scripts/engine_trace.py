# SPDX-License-Identifier: Apache-2.0
"""Reads the phonemes that libespeak-ng gives to texts, and the rules and dictionary entries that it used."""
import ctypes
import os
import re
import sys
import tempfile


class Engine:
    """The engine with one voice, which returns the phonemes of texts and a trace of how it found them."""

    PLAYS_NOTHING, KEEPS_RUNNING, UTF8, TRACE = 2, 0x8000, 1, 8

    def __init__(self, voice):
        self.voice = voice

    def __call__(self, texts):
        """Returns (phonemes, trace) for each text, or None for a text at which the engine crashes."""
        results = []
        while len(results) < len(texts):
            with tempfile.NamedTemporaryFile() as file:
                child = os.fork()
                if child == 0:
                    try:
                        self._speak(texts[len(results):], file.name)
                    except BaseException as error:
                        print(error, file=sys.stderr)
                        os._exit(1)
                    os._exit(0)
                status = os.waitpid(child, 0)[1]
                *whole, rest = file.read().decode("utf-8", "replace").split("\x03")
            results += [tuple(reversed(answer.split("\x02"))) for answer in whole]
            if os.WIFEXITED(status) and (os.WEXITSTATUS(status) or len(results) < len(texts)):
                sys.exit(f"the engine cannot speak with the voice {self.voice}")
            if os.WIFSIGNALED(status):
                results.append(None)
        return results

    def _speak(self, texts, path):
        engine, c = ctypes.CDLL("libespeak-ng.so.1"), ctypes.CDLL(None)
        c.fopen.restype = ctypes.c_void_p
        c.fputs.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
        c.fflush.argtypes = [ctypes.c_void_p]
        engine.espeak_SetPhonemeTrace.argtypes = [ctypes.c_int, ctypes.c_void_p]
        engine.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_int]
        engine.espeak_TextToPhonemes.restype = ctypes.c_char_p
        engine.espeak_Initialize(self.PLAYS_NOTHING, 0, None, self.KEEPS_RUNNING)
        if engine.espeak_SetVoiceByName(self.voice.encode()) != 0:
            raise ValueError(f"the engine has no voice {self.voice}")
        stream = c.fopen(path.encode(), b"w")
        engine.espeak_SetPhonemeTrace(self.TRACE, stream)
        for text in texts:
            buffer = ctypes.create_string_buffer(text.encode() + bytes(4))
            position = ctypes.c_void_p(ctypes.addressof(buffer))
            phonemes = []
            while position.value:
                phonemes.append(engine.espeak_TextToPhonemes(ctypes.byref(position), self.UTF8, 0) or b"")
            c.fputs(b"\x02" + b" ".join(phonemes).strip() + b"\x03", stream)
            c.fflush(stream)


def named(answer, is_word=True):
    """Returns whether the engine named a letter, changed the language, or spelled the word."""
    if answer is None:
        return True
    phonemes, trace = answer
    entries = re.findall(r"Found: '([^']+)'", trace)
    return (
        re.search(r"\([a-z][a-z0-9-]*\)", phonemes) is not None
        or any(entry.startswith("_") for entry in entries)
        or (is_word and any(len(entry) == 1 for entry in entries))
    )
