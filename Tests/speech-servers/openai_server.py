# SPDX-License-Identifier: Apache-2.0
"""A speech server in OpenAI's shape that refuses each request which OpenAI's published schema does not allow.

    python openai_server.py MODEL.onnx KEY

It prints the port at which it listens, and then a line for each request: the status, and what was wrong. The schema is
`SpeechCreateParams` of OpenAI's own package, which is generated from the published document. Requests with other fields,
or with a number that the schema's text does not allow, are refused too. piper makes the sound.
"""
import http.server
import io
import json
import sys
import wave

import pydantic
from openai.types.audio import SpeechCreateParams
from piper import PiperVoice, SynthesisConfig

SCHEMA = pydantic.TypeAdapter(pydantic.with_config(pydantic.ConfigDict(extra="forbid", strict=True))(SpeechCreateParams))
LONGEST_INPUT = 4_096
SPEEDS = (0.25, 4.0)


def fault(body):
    """Returns what the schema does not allow, or None."""
    try:
        request = SCHEMA.validate_json(body)
    except pydantic.ValidationError as error:
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['type']}" for one in error.errors())
    if not 1 <= len(request["input"]) <= LONGEST_INPUT:
        return "input: length"
    if not SPEEDS[0] <= request.get("speed", 1.0) <= SPEEDS[1]:
        return "speed: range"
    # OpenAI allows more formats. This server makes one.
    return None if request.get("response_format") == "wav" else "response_format: this server makes wav only"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self):
        problem = self.problem_of_head("/v1/models")
        models = {"object": "list", "data": [{"id": "tts-1", "object": "model", "created": 0, "owned_by": "test"}]}
        self.answer(problem, "application/json", json.dumps(models).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        problem = self.problem_of_head("/v1/audio/speech")
        if not problem and self.headers.get_content_type() != "application/json":
            problem = (415, "content-type")
        if not problem and (found := fault(body)):
            problem = (400, found)
        self.answer(problem, "audio/wav", b"" if problem else self.server.sound(json.loads(body)))

    def problem_of_head(self, path):
        if self.path != path:
            return 404, "path"
        return None if self.headers.get("Authorization") == f"Bearer {self.server.key}" else (401, "authorization")

    def answer(self, problem, media_type, content):
        status, text = problem or (200, "")
        if problem:
            media_type, content = "application/json", json.dumps({"error": {"message": text, "type": "invalid"}}).encode()
        print(status, self.command, self.path, text, flush=True)
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model, key):
        super().__init__(("127.0.0.1", 0), Handler)
        self.voice, self.key = PiperVoice.load(model), key

    def sound(self, request):
        file = io.BytesIO()
        with wave.open(file, "wb") as sound:
            self.voice.synthesize_wav(
                request["input"], sound, SynthesisConfig(length_scale=1 / request.get("speed", 1.0)))
        return file.getvalue()


if __name__ == "__main__":
    server = Server(*sys.argv[1:])
    print(server.server_port, flush=True)
    server.serve_forever()
