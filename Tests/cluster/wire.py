# SPDX-License-Identifier: Apache-2.0
"""What can be cut between a node and the database: sockets that hold all bytes back, or a cable of a network namespace."""

import asyncio
import contextlib
import os
import subprocess
import threading

from harness import Unusable


class Sockets:
    """Passes bytes between a node and the servers, which the node finds in a folder of its own.

    While it is cut, it passes nothing on, in either direction, and closes nothing. Later, the bytes go on, as they do
    when a network that loses packets works again.
    """

    def __init__(self, folder, servers):
        folder.mkdir(mode=0o700)
        self.host = folder
        self._loop = asyncio.new_event_loop()
        self._is_whole = asyncio.Event()
        self._is_whole.set()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(servers, ready), daemon=True)
        self._thread.start()
        if not ready.wait(10):
            raise Unusable(f"{folder}: nothing listens there.")

    def cut(self):
        self._loop.call_soon_threadsafe(self._is_whole.clear)

    def mend(self):
        self._loop.call_soon_threadsafe(self._is_whole.set)

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self, servers, ready):
        asyncio.set_event_loop(self._loop)

        async def listen():
            for server in servers:
                name = f".s.PGSQL.{server.port}"
                target = server.folder / name
                await asyncio.start_unix_server(
                    lambda reader, writer, target=target: self._serve(reader, writer, target), self.host / name
                )
            ready.set()

        self._loop.run_until_complete(listen())
        self._loop.run_forever()

    async def _serve(self, reader, writer, target):
        await self._is_whole.wait()
        try:
            there = await asyncio.open_unix_connection(target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._pass(reader, there[1]), self._pass(there[0], writer))

    async def _pass(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                await self._is_whole.wait()
                writer.write(data)
                await writer.drain()
        await self._is_whole.wait()
        writer.close()


class Network:
    """A network namespace for the servers, which ends with this object. It needs root."""

    def __init__(self):
        if os.geteuid() != 0:
            raise Unusable("--namespaces: needs root.")
        self._holder = subprocess.Popen(
            ["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL, start_new_session=True
        )
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self._holder.pid}/ns/net") == own:
            if self._holder.poll() is not None:
                raise Unusable("--namespaces: this machine makes no network namespaces.")
        self.inside = ["nsenter", f"--net=/proc/{self._holder.pid}/ns/net"]
        self._count = 0

    def cable(self):
        """Returns a new cable between the servers and a node."""
        self._count += 1
        return Cable(self._holder.pid, self.inside, self._count)

    def close(self):
        # The cables end with the namespace.
        self._holder.kill()
        self._holder.wait(10)


class Cable:
    """A pair of network devices, one in the namespace of the servers. If it is cut, all packets are lost."""

    def __init__(self, holder, inside, number):
        self._inside, self._device = inside, f"crier-db-{number}"
        self.host = f"10.213.{number}.2"
        ip("link", "add", f"crier-{number}", "type", "veth", "peer", "name", self._device, "netns", str(holder))
        ip("address", "add", f"10.213.{number}.1/24", "dev", f"crier-{number}")
        ip("link", "set", f"crier-{number}", "up")
        ip("address", "add", f"{self.host}/24", "dev", self._device, inside=inside)
        self.mend()

    def cut(self):
        ip("link", "set", self._device, "down", inside=self._inside)

    def mend(self):
        ip("link", "set", self._device, "up", inside=self._inside)

    def close(self):
        """The cable ends with its network."""


def ip(*arguments, inside=()):
    found = subprocess.run([*inside, "ip", *arguments], capture_output=True, text=True, timeout=20, check=False)
    if found.returncode:
        raise Unusable(f"ip {' '.join(arguments)}: {found.stderr.strip()}")
