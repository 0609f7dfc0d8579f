# SPDX-License-Identifier: Apache-2.0
"""nginx in front of the nodes, with Deployment/nginx-cluster.conf and a certificate of an authority of its own."""

import contextlib
import os
import re
import shutil
import socket
import ssl
import subprocess

from client import Connection
from database import until
from harness import ROOT, Unusable

SITE = ROOT / "Deployment" / "nginx-cluster.conf"


class Authority:
    """An authority that has signed one certificate, for this machine."""

    def __init__(self, folder):
        self.file, self.certificate, self.key = (folder / name for name in ("ca.pem", "server.pem", "server-key.pem"))
        authority_key, request = folder / "ca-key.pem", folder / "server.csr"
        new_key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes".split()
        names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
        openssl("req", "-x509", *new_key, "-days", "7", "-subj", "/CN=Crier cluster", "-keyout", authority_key, "-out", self.file)
        openssl("req", *new_key, "-subj", "/CN=localhost", "-addext", names, "-keyout", self.key, "-out", request)
        openssl(
            *("x509", "-req", "-days", "7", "-copy_extensions", "copy", "-CAcreateserial"),
            *("-CA", self.file, "-CAkey", authority_key, "-in", request, "-out", self.certificate),
        )


def openssl(*arguments):
    if shutil.which("openssl") is None:
        raise Unusable("There is no openssl; install it with scripts/setup openssl.")
    found = subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=60, check=False)
    if found.returncode:
        raise Unusable(f"openssl {arguments[0]}: {found.stderr.strip()[-300:]}")


class Front:
    """nginx. `nodes` are the hosts and ports of the nodes. `limits` are its limits for one address."""

    def __init__(self, folder, port, nodes, authority, limited=True):
        self.folder, self.port, self.authority = folder, port, authority
        self.process = None
        folder.mkdir(exist_ok=True)
        site = SITE.read_text(encoding="utf-8")
        servers = "".join(f"    server {node};\n" for node in nodes)
        site = re.sub(r"(    server \S+;.*\n)+", servers, site)
        site = re.sub(r"listen \[::\]:443.*\n", "", site).replace("listen 443", f"listen 127.0.0.1:{port}")
        site = site.replace("server_name pay.example;", "server_name localhost;")
        site = re.sub(r"(ssl_certificate +)\S+;", rf"\g<1>{authority.certificate};", site)
        site = re.sub(r"(ssl_certificate_key +)\S+;", rf"\g<1>{authority.key};", site)
        site = site.replace("/var/log/nginx", str(folder)).replace("/var/cache/nginx/crier", f"{folder}/cache")
        if not limited:
            site = re.sub(r"    limit_(req|conn) .*\n", "", site)
        (folder / "crier.conf").write_text(site, encoding="utf-8")
        temporary = " ".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(
            f"{user} daemon off; worker_processes 2; pid {folder}/pid; error_log {folder}/error.log;\n"
            f"events {{}}\nhttp {{ {temporary}\ninclude {folder}/crier.conf; }}\n",
            encoding="utf-8",
        )

    def start(self):
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        if not os.access(program, os.X_OK):
            raise Unusable("There is no nginx; install it with scripts/setup nginx-light.")
        self.process = subprocess.Popen(
            [program, "-e", self.folder / "error.log", "-c", self.folder / "nginx.conf"],
            stdin=subprocess.DEVNULL, start_new_session=True,
        )
        until(self._listens, f"nginx did not start; see {self.folder}/error.log")
        return self

    def _listens(self):
        if self.process.poll() is not None:
            text = (self.folder / "error.log").read_text(errors="replace")
            raise Unusable(f"nginx ended: {text[-500:]}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()

    @property
    def url(self):
        return f"https://localhost:{self.port}"

    def connect(self, key=None, timeout=30):
        return TLSConnection(self.port, self.authority.file, key, timeout)


class TLSConnection(Connection):
    """A connection to nginx, which is verified with the authority."""

    def __init__(self, port, authority, key, timeout):
        super().__init__(port, host="localhost", key=key, timeout=timeout)
        self._context = ssl.create_default_context(cafile=authority)

    def open(self):
        if self._socket is None:
            plain = socket.create_connection(("127.0.0.1", self.address[1]), timeout=self.timeout)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = self._context.wrap_socket(plain, server_hostname="localhost")
            self._buffer.clear()
            self.requests = 0
        return self._socket
