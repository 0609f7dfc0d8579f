# SPDX-License-Identifier: Apache-2.0
"""Sets up a run: the voice packs, the service with its provider key, the network, and the devices."""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys

from client import JSON
from harness import ROOT, UNLIMITED, Options, Service, Unusable, free_port

APP = "com.example.shop"
GROUP = "group.crier"
PACKS = {"en-US": "en-US-espeak", "zh-CN": "zh-CN-espeak"}


@dataclasses.dataclass(frozen=True)
class Device:
    name: str
    token: str
    locale: str
    key: str
    has_pack: bool


def program(path):
    """Returns the path of a program. Raises `Unusable` if there is none."""
    if not os.access(path, os.X_OK):
        raise Unusable(f"{path}: no such program; build it with swift build -c release, or name its folder by --build.")
    return str(path)


def voice_packs(crier, folder):
    """Returns a folder with the built voice packs of both languages. It makes them if the sources have none."""
    if all((ROOT / "Voices" / name / "manifest.json").is_file() for name in PACKS.values()):
        return ROOT / "Voices"
    voices = folder / "voices"
    locales = [word for locale in PACKS for word in ("--locale", locale)]
    command = [crier, "voices", "build", "--data", str(ROOT), "--voices", str(voices), "--quiet", *locales]
    if subprocess.run(command, check=False).returncode:
        raise Unusable("crier voices build failed.")
    return voices


def recordings(voices):
    """Returns the digests of all recordings in the voice packs."""
    found = set()
    for name in PACKS.values():
        manifest = json.loads((voices / name / "manifest.json").read_text(encoding="utf-8"))
        found |= {clip["sha256"] for clip in manifest["clips"].values()}
    return frozenset(found)


def copy_pack(voices, name, folder):
    """Puts a voice pack into a folder. Hard links suffice, because nobody writes to a recording."""
    try:
        shutil.copytree(voices / name, folder / name, copy_function=os.link)
    except OSError:
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(voices / name, folder / name)


def service(crier, folder, voices, push_port, network_port):
    """Returns the service, which is not started yet. Its pushes go to the simulated push service."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    key = home / "AuthKey.p8"
    command = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out".split()
    subprocess.run([*command, str(key)], check=True, stderr=subprocess.DEVNULL)
    key.chmod(0o600)
    for name in PACKS.values():
        copy_pack(voices, name, home / "Voices")
    settings = home / "crier.yaml"
    settings.write_text(
        f"apns:\n  - app: {APP}\n    key: {key.name}\n    key_id: ABC123DEFG\n    team: DEF123GHIJ\n"
        f"    server: https://localhost:{push_port}\n    ca: {folder / 'ca.pem'}\n"
        f"public_url: http://127.0.0.1:{network_port}\n"
        f"packs: {' '.join(f'{locale}={name}' for locale, name in PACKS.items())}\n",
        encoding="utf-8",
    )
    settings.chmod(0o600)
    environment = UNLIMITED | {"CRIER_DATA": os.environ.get("CRIER_DATA", str(ROOT))}
    return Service(Options(crier, 1.0, 1, True), home, output="none", environment=environment)


def service_sounds(running):
    """Returns the folder with the clips that the service made."""
    return running.home / "containers" / GROUP / "Library" / "Sounds"


def start_network(target, rate, seed):
    """Starts the network between phones and service. Returns its process and its port."""
    port = free_port()
    command = [sys.executable, str(pathlib.Path(__file__).with_name("network.py")), "--port", str(port)]
    command += ["--target", str(target), "--rate", str(rate), "--seed", str(seed)]
    return subprocess.Popen(command), port


def register(running, count, seed):
    """Registers the phones. The language changes from phone to phone, and every second pair has a voice pack."""
    devices = []
    with running.connect() as connection:
        for number in range(count):
            name = f"phone-{number + 1}"
            token = f"{(seed * 65_537 + number) % (1 << 32):08x}" * 8
            locale = list(PACKS)[number % 2]
            body = {"bundle_id": APP, "environment": "production", "tokens": {"alert": token}}
            body |= {"group": GROUP, "locale": locale}
            answer = connection.request("PUT", f"/v1/devices/{name}", json.dumps(body).encode(), JSON)
            if answer.status != 201:
                raise Unusable(f"The device was not registered: {answer.body[:300]!r}")
            devices.append(Device(name, token, locale, answer.json()["key"], number // 2 % 2 == 0))
    return devices


def numbered(running, device):
    """Returns what was pushed to a device, as the service tells it: entries with `sequence`, `id` and `payload`."""
    entries, after = [], 0
    with running.connect() as connection:
        while True:
            answer = connection.request("GET", f"/v1/devices/{device}/announcements?after={after}&limit=200").json()
            if not answer["announcements"]:
                return entries
            entries += answer["announcements"]
            after = entries[-1]["sequence"]
