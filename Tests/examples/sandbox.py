# SPDX-License-Identifier: Apache-2.0
"""Namespaces in which the examples run as they are written, and a fresh folder.

The ports of the examples are free there, no other machine can be reached, and every process ends with the check. The
folders that a service of the package uses are empty, and nothing of the machine is changed.
"""

import ctypes
import fcntl
import math
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import wave

MS_BIND = 4096
# Folders of the machine that are empty in the examples.
EMPTY = ["/var/lib", "/var/backups", "/srv"]


def command(arguments):
    """Returns a command that runs another one in new namespaces. It needs no rights where users may make namespaces."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", *arguments]


def is_possible():
    return shutil.which("unshare") is not None and subprocess.run(
        command(["true"]), capture_output=True, check=False).returncode == 0


def enter(folder):
    """Prepares the namespaces: the loopback interface, empty folders, and a user crier, who is root in here."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        up_and_running = 0x1 | 0x40
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", up_and_running))
    for path in EMPTY:
        if os.path.isdir(path):
            _mount("tmpfs", path, "tmpfs", 0)
    os.mkdir("/var/lib/crier", 0o700)
    os.mkdir("/var/lib/nginx")
    for name, line in [("passwd", "crier:x:0:0::/var/lib/crier:/usr/sbin/nologin"), ("group", "crier:x:0:")]:
        text = pathlib.Path("/etc", name).read_text(encoding="utf-8").splitlines()
        copy = folder / name
        copy.write_text("\n".join([*(one for one in text if not one.startswith("crier:")), line, ""]), encoding="utf-8")
        _mount(str(copy), f"/etc/{name}", None, MS_BIND)


def _mount(source, target, kind, flags):
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = [text.encode() if text else None for text in (source, target, kind)]
    if libc.mount(*arguments, flags, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)


def fill(folder, root, program):
    """Makes a folder that looks like a clone in which `make run` has built the program, and returns it."""
    clone = folder / "crier"
    clone.mkdir()
    for entry in root.iterdir():
        if not entry.name.startswith(".") and entry.name != "Voices":
            (clone / entry.name).symlink_to(entry)
    (clone / ".build").mkdir()
    (clone / ".build" / "release").symlink_to(program.parent)
    tools = folder / "tools"
    tools.mkdir()
    # curl fails on an answer that reports an error, so that an example that is refused is noticed.
    for name, text in [
        ("curl", f'exec {shutil.which("curl")} --fail-with-body "$@"'),
        ("runuser", 'shift 3; exec "$@"'),
        ("sudo", 'exec "$@"'),
    ]:
        (tools / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    for name in ["opening.wav", "closing.wav", "chime.wav", "clip.wav", "tone.wav"]:
        _write_sound(clone / name)
    shutil.copy(root / "Samples" / "alipay-zh.json", clone / "payment.json")
    (clone / "amounts.csv").write_text("amount,currency\n7.10,CNY\n8,CNY\n", encoding="utf-8")
    return clone


def _write_sound(path):
    """Writes a second of a quiet tone."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 22050, 22050, "NONE", ""))
        file.writeframes(b"".join(
            round(3000 * math.sin(2 * math.pi * 440 * index / 22050)).to_bytes(2, "little", signed=True)
            for index in range(22050)))


def start_sound_server(home):
    """Starts PulseAudio with a sink that nobody hears, and returns its process, or None where it is not installed."""
    home.mkdir(mode=0o700)
    if not shutil.which("pulseaudio"):
        return None
    (home / ".asoundrc").write_text("pcm.!default { type pulse }\nctl.!default { type pulse }\n", encoding="utf-8")
    return subprocess.Popen(
        ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "-L", "module-null-sink",
         "-L", "module-native-protocol-unix"],
        env={**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(home)}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
