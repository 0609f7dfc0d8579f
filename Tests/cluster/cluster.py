# SPDX-License-Identifier: Apache-2.0
"""A cluster on this machine: PostgreSQL with a synchronous standby, three nodes, and nginx in front of them."""

import contextlib
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import tempfile

from client import Connection
from database import Pair
from front import Authority, Front, openssl
from harness import ROOT, UNLIMITED, Service, Unusable, free_port, plain_environment, progress
from wire import Network, Sockets

NODES = 3
APP, KEY_ID, TEAM = "com.example.shop", "ABC123DEFG", "DEF123GHIJ"


class Node(Service):
    """A node of the cluster. It has a home, a port and a loudspeaker (`file:`) of its own, and its own way to the database."""

    def __init__(self, cluster, number, wire):
        self.name, self.cluster, self.wire = f"node-{number}", cluster, wire
        folder = cluster.folder / self.name
        self.heard = folder / "heard.jsonl"
        super().__init__(cluster.options, folder / "home", output=f"file:{self.heard}", environment=cluster.environment)
        self.home.mkdir(parents=True, mode=0o700)
        self.write("database-password", f"{cluster.password}\n".encode())
        # Each node accepts the URLs that another one has signed.
        self.write("signing-secret", cluster.signing_secret)
        shutil.copy(cluster.provider_key, self.home)
        self.write("crier.yaml", self._settings().encode())

    def _settings(self):
        lines = [
            f"ledger: {self.cluster.database.address(self.wire.host)}",
            "ledger_password_file: database-password",
            f"public_url: https://localhost:{self.cluster.port}",
            # A node does not take over the loudspeakers of other nodes.
            "take_over: false",
            "webhook_private_addresses: true",
        ]
        if self.cluster.push_server:
            lines += [
                f"apns:\n  - app: {APP}\n    key: {self.cluster.provider_key.name}\n    key_id: {KEY_ID}\n    team: {TEAM}",
                f"    server: {self.cluster.push_server}\n    ca: {self.cluster.authority.file}",
            ]
        return "\n".join(lines) + "\n"

    def write(self, name, content):
        file = self.home / name
        file.touch(mode=0o600)
        file.write_bytes(content)

    @property
    def key(self):
        return self.cluster.key

    @property
    def is_stopped(self):
        """Whether the process waits for SIGCONT."""
        stat = pathlib.Path(f"/proc/{self.pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "T"

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def terminate(self, timeout=60):
        self.go_on()
        return super().terminate(timeout)

    @property
    def identity(self):
        """The id of the home folder, by which the ledger knows the node."""
        with contextlib.suppress(OSError):
            return (self.home / "node").read_text().strip()
        return None


class Cluster:
    """The cluster, which starts and stops with a `with` block.

    `wires` is `sockets` or `network` if the ways to the database can be cut, and None if they cannot. `push_server`
    makes the stand-in for APNs from the authority, and has its `url`.
    """

    def __init__(self, options, port=None, wires=None, push_server=None, limited=True, environment=UNLIMITED):
        self.options, self.environment = options, environment
        self.port = port or free_port()
        self.wires, self._make_push_server, self.limited = wires, push_server, limited
        self.push_server = None
        self._end = contextlib.ExitStack()

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self._end.close()
            raise
        return self

    def __exit__(self, kind, *_):
        if kind is not None and issubclass(kind, Exception):
            for node in self.nodes:
                progress(f"{node.name}:")
                node.tell_log()
        self._end.close()

    def _start(self):
        self.nodes = []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="crier-cluster-", dir=place()))
        self._end.callback(self._remove)
        # The server of the database has a user of its own, and must get to its folder.
        self.folder.chmod(0o711)
        self.authority = Authority(self.folder)
        if self._make_push_server:
            self.push_server = self._make_push_server(self.authority)
        self.password, self.signing_secret = secrets.token_urlsafe(24), secrets.token_bytes(32)
        self.provider_key = self.folder / "AuthKey.p8"
        openssl(*"genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out".split(), self.provider_key)
        self.provider_key.chmod(0o600)

        network = None
        if self.wires == "network":
            network = Network()
            self._end.callback(network.close)
        self.database = Pair(self.folder / "db", self.password, network.inside if network else ())
        self._end.callback(self.database.stop)
        self.database.start()
        for number in range(1, NODES + 1):
            self.nodes.append(Node(self, number, self._wire(number, network)))
        self.key = self._make_key()
        # All of them migrate the database at once.
        for node in self.nodes:
            self._end.callback(self._stop, node)
            node.spawn()
        for node in self.nodes:
            node.wait_until_ready()
        self.front = Front(
            self.folder / "front", self.port, [f"127.0.0.1:{node.port}" for node in self.nodes], self.authority,
            self.limited,
        )
        self._end.callback(self.front.stop)
        self.front.start()

    def _wire(self, number, network):
        if self.wires is None:
            return _Direct(self.database.folder)
        wire = network.cable() if network else Sockets(self.folder / f"way-{number}", self.database.servers)
        self._end.callback(wire.close)
        return wire

    def _make_key(self):
        command = [self.options.crier, "keys", "create", "--home", str(self.nodes[0].home)]
        command += ["--scope", "admin", "--name", "cluster"]
        found = subprocess.run(
            command, env=plain_environment(), capture_output=True, text=True, timeout=120, check=False
        )
        if found.returncode:
            raise Unusable(f"crier keys create: {found.stderr.strip()[-500:]}")
        return found.stdout.strip()

    @staticmethod
    def _stop(node):
        if node.is_running:
            if node.terminate(20)[0] is None:
                node.kill()

    def _remove(self):
        if self.options.keep:
            progress(f"kept: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def connect(self, timeout=30):
        """Returns a connection through nginx, with the key."""
        return self.front.connect(self.key, timeout)

    def holders(self):
        """Returns the node that holds each lease, by the name of the lease, as the database knows it."""
        query = "SELECT l.name, n.home FROM leases l JOIN nodes n ON n.id = l.node WHERE l.until > clock_timestamp()"
        nodes = {node.identity: node for node in self.nodes}
        return {name: nodes[home] for name, home in self.database.primary.sql(query) if home in nodes}


class _Direct:
    """A way to the database that nobody cuts."""

    def __init__(self, host):
        self.host = host


def place():
    """Returns the folder for temporary files: memory if there is room, because six programs synchronise the disk."""
    with contextlib.suppress(OSError):
        found = os.statvfs("/dev/shm")
        if found.f_bavail * found.f_frsize > 1 << 30:
            return "/dev/shm"
    return None
