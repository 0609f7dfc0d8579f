# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server in a temporary folder, for measurements of the ledger."""

import contextlib
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile


class Missing(Exception):
    """Says why there is no server."""


def programs():
    """Returns the folder with the programs of the newest server of the machine."""
    root = pathlib.Path("/usr/lib/postgresql")
    versions = sorted((int(folder.name) for folder in root.glob("*") if folder.name.isdigit()), reverse=True)
    folders = [root / str(version) / "bin" for version in versions]
    for folder in folders + [pathlib.Path("/usr/local/pgsql/bin"), pathlib.Path("/usr/bin")]:
        if all(os.access(folder / name, os.X_OK) for name in ("initdb", "pg_ctl", "psql", "pgbench")):
            return folder
    raise Missing("PostgreSQL is missing: install the package postgresql.")


# With Debian's settings, chance would decide when a checkpoint comes and when files of the log are made. With these
# settings, it does not. fsync, synchronous_commit and full_page_writes stay on, as they are by default.
SETTINGS = {
    "listen_addresses": "''",
    "shared_buffers": "'1GB'",
    "max_wal_size": "'8GB'",
    "checkpoint_timeout": "'30min'",
    "max_connections": "100",
}


class Server:
    """A running server. It listens only on a Unix socket in its folder, and synchronises the disk at each commit."""

    def __init__(self, folder, settings):
        self.programs = programs()
        # The path of a Unix socket has at most 107 bytes.
        self.folder = pathlib.Path(folder)
        self.data = self.folder / "data"
        # PostgreSQL refuses to run as root, so it then runs as the user of Debian's package.
        self.user = []
        if os.getuid() == 0:
            try:
                account = pwd.getpwnam("postgres")
            except KeyError:
                raise Missing("PostgreSQL does not run as root, and there is no user postgres.") from None
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self.user = ["runuser", "-u", "postgres", "--"]
        self._run("initdb", "-D", self.data, "-U", "crier", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        lines = {**SETTINGS, "unix_socket_directories": f"'{self.folder}'", **settings}
        with open(self.folder / "settings", "w", encoding="utf-8") as file:
            file.writelines(f"{name} = {value}\n" for name, value in lines.items())
        os.chmod(self.folder / "settings", 0o644)
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write(f"include '{self.folder}/settings'\n")
        self._run("pg_ctl", "-D", self.data, "-l", self.folder / "log", "-w", "-t", "120", "start")

    def _run(self, program, *arguments):
        subprocess.run(
            [*self.user, self.programs / program, *arguments], check=True, cwd="/", stdout=subprocess.DEVNULL)

    def stop(self):
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "120", "-m", "immediate", "stop")

    def address(self, database):
        return f"postgresql://crier@/{database}?host={self.folder}"

    def sql(self, text, database="postgres", **variables):
        """Runs statements, and returns the rows of the last ones as lists of texts."""
        given = [f"--set={name}={value}" for name, value in {"ON_ERROR_STOP": 1, **variables}.items()]
        result = subprocess.run(
            [self.programs / "psql", "-X", "-q", "-A", "-t", "-F", "\t", *given, self.address(database)],
            input=text, check=True, text=True, stdout=subprocess.PIPE)
        return [line.split("\t") for line in result.stdout.splitlines()]

    def number(self, text, database="postgres"):
        return float(self.sql(text, database)[0][0])

    def pgbench(self, database, script, connections, seconds, threads=1, **variables):
        """Runs a script again and again, and returns the transactions in a second."""
        given = [f"--define={name}={value}" for name, value in variables.items()]
        result = subprocess.run(
            [self.programs / "pgbench", "--no-vacuum", "--protocol=prepared", f"--client={connections}",
             f"--jobs={threads}", f"--time={seconds}", f"--file={script}", *given, self.address(database)],
            check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # A client that fails ends, and the others go on.
        if result.returncode != 0 or "aborted" in result.stderr:
            raise RuntimeError(result.stderr)
        line = next(line for line in result.stdout.splitlines() if line.startswith("tps = "))
        return float(line.split()[2])


@contextlib.contextmanager
def running(parent=None, **settings):
    """Starts a server, and removes it with its folder at the end."""
    folder = tempfile.mkdtemp(prefix="crier-ledger-", dir=parent)
    server = None
    try:
        server = Server(folder, settings)
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
