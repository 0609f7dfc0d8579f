# SPDX-License-Identifier: Apache-2.0
"""The simulated push service: a program that accepts the service's pushes, and tells of each delivery to a phone."""

import asyncio
import json

LONGEST_LINE = 1 << 20


class PushService:
    """The running program. `on_delivery` is called with each delivery; `counts` is set at the end."""

    def __init__(self, command, log, on_delivery):
        self.command = command
        self.log = log
        self.on_delivery = on_delivery
        self.port = None
        self.counts = None
        self._process = None
        self._reader = None

    async def start(self):
        """Starts the program and waits for its port. Raises `RuntimeError` if it does not print one."""
        with open(self.log, "ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=LONGEST_LINE,
            )
        line = await asyncio.wait_for(self._process.stdout.readline(), 30)
        try:
            self.port = json.loads(line)["port"]
        except (ValueError, KeyError) as error:
            raise RuntimeError(f"{self.command[0]} did not print its port; see {self.log}.") from error
        self._reader = asyncio.ensure_future(self._read())

    async def _read(self):
        while line := await self._process.stdout.readline():
            event = json.loads(line)
            if "counts" in event:
                self.counts = event["counts"]
            else:
                self.on_delivery(event)

    def set_online(self, token, online):
        self._process.stdin.write(json.dumps({"device": token, "online": online}).encode() + b"\n")

    async def finish(self):
        """Ends the input of the program and reads what is left of its output."""
        self._process.stdin.close()
        await asyncio.wait_for(self._reader, 30)
        await self._process.wait()

    def stop(self):
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
