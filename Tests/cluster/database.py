# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL primary with a synchronous standby, which listen on Unix sockets in a temporary folder."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

from harness import Unusable, children, free_port

# Both servers have the same settings, because each of them may become the primary. Commits wait until the other server
# has the transaction on its disk (synchronous_commit = on). remote_apply would also wait until the standby shows it to
# readers, and nobody reads there. Without fsync, a loss of power would lose data, but no end of a process does.
SETTINGS = """
listen_addresses = '{addresses}'
unix_socket_directories = '{folder}'
synchronous_standby_names = 'ANY 1 (a, b)'
synchronous_commit = on
wal_sender_timeout = 10s
wal_receiver_timeout = 10s
shared_buffers = 64MB
max_wal_size = 256MB
wal_retrieve_retry_interval = 500ms
dynamic_shared_memory_type = mmap
fsync = off
"""
# Only the owner of the servers can enter the folder of the sockets, so the superuser needs no password there.
ACCESS = """
local all,replication postgres trust
local crier crier scram-sha-256
host crier crier samenet scram-sha-256
"""
PATIENCE = 60


def programs():
    """Returns the folder with the programs of the newest server."""
    folders = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda file: int(file.parts[-3]))
    if not folders:
        raise Unusable("There is no PostgreSQL server; install it with scripts/setup postgresql.")
    return folders[-1].parent


def until(holds, text, patience=PATIENCE):
    """Waits until something holds, and returns it."""
    end = time.monotonic() + patience
    while not (found := holds()):
        if time.monotonic() > end:
            raise Unusable(text)
        time.sleep(0.02)
    return found


class Server:
    """One server. Its name is `a` or `b`, its socket and its data are in the folder."""

    # PostgreSQL refuses to run as root.
    AS_USER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []

    def __init__(self, name, folder, inside=()):
        """`inside` is the beginning of a command that runs the server in a network of its own."""
        self.name, self.folder, self.inside = name, folder, list(inside)
        self.port = free_port()
        self.data = folder / name
        self.log = folder / f"{name}.log"
        self.programs = programs()
        self.process = None

    def _run(self, program, *arguments):
        command = [*self.AS_USER, self.programs / program, *arguments]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PGOPTIONS": "-c synchronous_commit=local"}
        found = subprocess.run(
            command, cwd="/", env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if found.returncode:
            raise Unusable(f"{program}: {found.stderr.strip()[-500:]}")
        return found.stdout

    def make(self):
        """Makes the data of a new primary."""
        self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        addresses = "*" if self.inside else ""
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write(SETTINGS.format(folder=self.folder, addresses=addresses))
        (self.data / "pg_hba.conf").write_text(ACCESS, encoding="utf-8")

    def copy(self, primary):
        """Makes the data of a standby of another server. What the server had is removed."""
        self._forget_memory()
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host={primary.folder} port={primary.port} user=postgres"
        self._run("pg_basebackup", "-D", self.data, "-d", source, "-R", "-c", "fast", "-X", "stream", "--no-sync")

    def start(self):
        """Starts the server, and returns when it answers."""
        command = [*self.inside, *self.AS_USER, self.programs / "postgres", "-D", self.data]
        command += ["-c", f"port={self.port}", "-c", f"cluster_name={self.name}"]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process is None or self.process.poll() is not None:
                # After kill -9, the memory of the former server may still be in use for a moment.
                with open(self.log, "ab") as log:
                    self.process = subprocess.Popen(
                        command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                    )
            with contextlib.suppress(Unusable):
                self.sql("SELECT 1", database="postgres")
                return
            time.sleep(0.05)
        raise Unusable(f"PostgreSQL did not start: {self.log.read_text(errors='replace')[-1000:]}")

    def sql(self, text, database="crier"):
        """Runs statements as the superuser, and returns their rows, each a list of texts."""
        place = ["-h", self.folder, "-p", str(self.port), "-U", "postgres", "-d", database]
        answer = self._run("psql", *place, "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", text)
        return [line.split("\t") for line in answer.splitlines()]

    @property
    def family(self):
        """The processes of the server: the first one, and one for each connection and task."""
        return [self.process.pid, *children(self.process.pid)]

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        """Sends a signal to all processes of the server."""
        for pid in self.family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self):
        """Ends the server as kill -9 of all its processes does."""
        if self.is_running:
            self.signal(signal.SIGKILL)
            self.process.wait(PATIENCE)

    def stop(self):
        """Ends the server in order, and all connections to it."""
        if self.is_running:
            self.signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
            self.kill()
        self._forget_memory()

    def promote(self):
        """Makes a primary of a standby."""
        self._run("pg_ctl", "promote", "-D", self.data, "-w")

    def _forget_memory(self):
        """Removes the small piece of shared memory that a server leaves after kill -9, if it is not started again."""
        with contextlib.suppress(OSError, IndexError):
            number = (self.data / "postmaster.pid").read_text().splitlines()[6].split()[1]
            subprocess.run(["ipcrm", "-m", number], capture_output=True, check=False)


class Pair:
    """A primary and its standby, with a database `crier` of a user `crier`."""

    def __init__(self, folder, password, inside=()):
        self.folder = folder
        folder.mkdir(mode=0o700)
        if Server.AS_USER:
            shutil.chown(folder, "postgres", "postgres")
        self.servers = [Server(name, folder, inside) for name in "ab"]
        self.primary, self.standby = self.servers
        if len(f"{folder}/.s.PGSQL.{self.primary.port}") > 107:
            raise Unusable(f"{folder}: the path is too long for a socket; set TMPDIR to a shorter folder.")
        self.password = password

    def start(self):
        self.primary.make()
        self.primary.start()
        self.primary.sql(f"CREATE ROLE crier LOGIN PASSWORD '{self.password}'", database="postgres")
        self.primary.sql("CREATE DATABASE crier OWNER crier", database="postgres")
        self.join()

    def join(self):
        """Makes the standby anew from the primary, and waits until commits reach it."""
        self.standby.copy(self.primary)
        self.standby.start()
        self.wait_until_synchronous()

    def wait_until_synchronous(self):
        query = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum'"
        until(lambda: self.primary.sql(query), "the standby does not follow the primary")

    def fail_over(self):
        """Promotes the standby after the primary has ended, and makes a standby of the former primary."""
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary
        self.join()

    def stop(self):
        # The standby first: the primary waits until its standby has everything.
        for server in (self.standby, self.primary):
            server.stop()

    def address(self, hosts):
        """Returns the address for a node. `hosts` is the folder or the host at which it finds both servers."""
        ports = ",".join(str(server.port) for server in self.servers)
        return f"postgresql://crier@/crier?host={hosts},{hosts}&port={ports}&target_session_attrs=read-write"
