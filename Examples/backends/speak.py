# SPDX-License-Identifier: Apache-2.0
import os, sys
from openai import APIConnectionError, APIStatusError, OpenAI

if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: speak.py TEXT FILE.wav")
    client = OpenAI(base_url=os.environ["CRIER_URL"].rstrip("/") + "/v1", api_key=os.environ["CRIER_KEY"].strip())
    try:
        sound = client.audio.speech.create(
            model="tts-1", voice="alloy", input=sys.argv[1], response_format="wav")
    except APIStatusError as error:  # BadRequestError for 400: correct the text; RateLimitError for 429, and so on
        sys.exit(f"{error.status_code} {error.code}: {error.body['detail']}")
    except APIConnectionError as error:
        sys.exit(f"no answer ({error})")
    sound.write_to_file(sys.argv[2])
