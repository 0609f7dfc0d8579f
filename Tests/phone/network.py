# SPDX-License-Identifier: Apache-2.0
"""The network between the phones and the service: it passes everything on, and spoils a share of the downloads.

It runs as a program of its own, so that it does not disturb the clock of the phones:

    network.py --port PORT --target PORT --rate 0.05 --seed 1
"""

import argparse
import asyncio
import contextlib
import random
import signal

STALL_SECONDS = 8.0
BLOCK = 65_536


class Network:
    """A TCP server that passes each HTTP/1.1 request on, one after the other on a connection."""

    def __init__(self, target, rate, seed):
        self.target = target
        self.rate = rate
        self.random = random.Random(seed)

    async def serve(self, reader, writer):
        upstream = None
        try:
            while head := await _head(reader):
                fault = self._fault(head)
                if fault == "refuse":
                    writer.write(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
                    await writer.drain()
                    continue
                if upstream is None:
                    upstream = await asyncio.open_connection("127.0.0.1", self.target)
                await self._pass(head, reader, upstream[1])
                if not await self._answer(head, upstream[0], writer, fault):
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            for stream in (writer, upstream[1] if upstream else None):
                if stream is not None:
                    stream.close()

    def _fault(self, head):
        """Decides the fate of a download. Only clips are spoiled: their paths begin with /v1/clips/."""
        if not head.startswith(b"GET /v1/clips/") or self.random.random() >= self.rate:
            return None
        return self.random.choice(("refuse", "close", "stall"))

    async def _pass(self, head, reader, upstream):
        upstream.write(head)
        left = _length(head)
        while left:
            data = await reader.readexactly(min(left, BLOCK))
            upstream.write(data)
            left -= len(data)
        await upstream.drain()

    async def _answer(self, request, upstream, writer, fault):
        """Passes the answer on. Returns whether the connection may be used again."""
        head = await _head(upstream)
        if not head:
            return False
        writer.write(head)
        status = head.split(b" ", 2)[1]
        chunked = b"transfer-encoding: chunked" in head.lower()
        if request.startswith(b"HEAD ") or status in (b"204", b"304"):
            left = 0
        else:
            left = _length(head)
        if fault:
            # A part arrives, and then nothing more.
            writer.write(await upstream.readexactly(left // 2))
            await writer.drain()
            await asyncio.sleep(STALL_SECONDS if fault == "stall" else 0)
            return False
        while chunked:
            line = await upstream.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            writer.write(line + await upstream.readexactly(size + 2))
            chunked = size > 0
        while left:
            data = await upstream.readexactly(min(left, BLOCK))
            writer.write(data)
            left -= len(data)
        await writer.drain()
        return b"connection: close" not in head.lower() and b"connection: close" not in request.lower()


async def _head(reader):
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


def _length(head):
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--target", type=int, required=True)
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    network = Network(options.target, options.rate, options.seed)
    server = await asyncio.start_server(network.serve, "127.0.0.1", options.port, backlog=1024)
    end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    async with server:
        await end.wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
