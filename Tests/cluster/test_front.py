# SPDX-License-Identifier: Apache-2.0
"""Tests of Deployment/nginx-cluster.conf with nginx and stand-ins for nodes."""

import http.server
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "service")]

from front import Authority, Front  # noqa: E402
from harness import free_port  # noqa: E402

CLIP = b"RIFF" + bytes(2_000)


class Node(http.server.ThreadingHTTPServer):
    """A stand-in for a node. It allows requests with the key `good`, and has some clips and files of the library.

    It can make other clips, unless the request asks for stored ones only.
    """

    daemon_threads = True

    def __init__(self, name):
        self.name, self.files, self.requests, self.behaviour = name, set(), [], None
        self.makeable = set()
        self.released = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def place(self):
        return f"127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_):
        """A client may close its connection."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _handle(self):
        node, path = self.server, self.path.partition("?")[0]
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        node.requests.append((self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        if node.behaviour == "close":
            self.close_connection = True
        elif node.behaviour == "busy":
            self._answer(503, b"{}", ("Retry-After", "1"))
        elif path == "/v1/events":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b": hello\n")
            self.wfile.flush()
            node.released.wait(10)
            self.close_connection = True
        elif path.startswith("/v1/clips/") and "good" not in self.headers.get("authorization", "") + self.path:
            self._answer(401, b'{"code":"key_unknown"}')
        elif path in node.makeable and self.headers.get("cache-control") != "only-if-cached":
            self._answer(200, CLIP, ("ETag", '"abc"'))
        elif path.startswith(("/v1/clips/", "/v1/library/files/")) and path not in node.files:
            self._answer(404, b'{"code":"not_found"}')
        else:
            self._answer(200, CLIP, ("ETag", '"abc"'), ("Cache-Control", "private, immutable"), ("Accept-Ranges", "bytes"))

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle

    def _answer(self, status, body, *fields):
        self.send_response(status)
        for name, value in (*fields, ("X-Request-Id", f"{self.server.name}-{len(self.server.requests)}")):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@unittest.skipUnless(shutil.which("nginx") or pathlib.Path("/usr/sbin/nginx").exists(), "nginx is not installed")
class FrontTestCase(unittest.TestCase):
    """A test with nginx in front of three stand-ins."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="crier-front-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.authority = Authority(cls.folder)

    @classmethod
    def begin(cls, add_cleanup):
        """Starts the nodes and nginx. It is done again after tests with nodes that fail, which nginx lets rest."""
        cls.nodes = [Node(f"node-{number}") for number in (1, 2, 3)]
        for node in cls.nodes:
            add_cleanup(node.server_close)
            add_cleanup(node.shutdown)
            add_cleanup(node.released.set)
        folder = pathlib.Path(tempfile.mkdtemp(dir=cls.folder))
        cls.front = Front(folder, free_port(), [node.place for node in cls.nodes], cls.authority)
        add_cleanup(cls.front.stop)
        cls.front.start()

    def have(self, *paths):
        """Gives files to all nodes."""
        for node in self.nodes:
            node.files |= set(paths)

    def ask(self, target, method="GET", key="good", fields="", body=None):
        with self.front.connect(key) as connection:
            return connection.request(method, target, body, fields)

    def asked(self, path, *methods):
        """Returns the names of the nodes that were asked, in any order."""
        wanted = methods or ("GET", "HEAD", "POST", "PUT", "DELETE")
        return [
            node.name for node in self.nodes for method, target, _, _ in node.requests
            if target.partition("?")[0] == path and method in wanted
        ]


class FilesTests(FrontTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.begin(cls.addClassCleanup)

    def setUp(self):
        for node in self.nodes:
            node.requests.clear()
        self.clip = f"/v1/clips/{self.id()}.wav"

    def test_a_clip_is_found_on_the_node_that_has_it(self):
        for number, node in enumerate(self.nodes):
            node.files.add(f"/v1/clips/{number}.wav")
        for number in range(3):
            answer = self.ask(f"/v1/clips/{number}.wav")
            self.assertEqual((answer.status, answer.body), (200, CLIP))

    def test_requests_for_the_same_path_go_to_the_same_node_first(self):
        first = set()
        for number in range(12):
            path = f"/v1/library/files/{number}"
            self.have(path)
            for _ in range(3):
                self.assertEqual(self.ask(f"{path}?a={number}").status, 200)
            self.assertEqual(len(set(self.asked(path))), 1)
            first |= set(self.asked(path))
        self.assertGreater(len(first), 1)

    def test_a_clip_that_no_node_has_is_answered_by_a_node(self):
        answer = self.ask("/v1/clips/none.wav")
        self.assertEqual((answer.status, answer.code), (404, "not_found"))
        self.assertEqual(set(self.asked("/v1/clips/none.wav")), {node.name for node in self.nodes})

    def test_a_clip_is_made_again_only_if_no_node_has_it(self):
        for folder in ("clips", "library/files"):
            path = f"/v1/{folder}/{self.id()}.wav"
            for node in self.nodes:
                node.makeable.add(path)
            self.nodes[1].files.add(path)
            self.assertEqual(self.ask(path).status, 200)
            self.assertEqual(self.made(path), [])
            self.nodes[1].files.discard(path)
            for method in ("GET", "HEAD"):
                self.assertEqual(self.ask(path, method).status, 200)
            self.assertEqual(len(self.made(path)), 2)
            for node in self.nodes:
                node.makeable.clear()
            self.assertEqual(self.ask(path).code, "not_found")

    def made(self, path):
        """Returns the names of the nodes that were asked to make a clip."""
        return [
            node.name for node in self.nodes for _, target, fields, _ in node.requests
            if target == path and fields.get("cache-control") != "only-if-cached"
        ]

    def test_a_cached_clip_is_fetched_from_a_node_once(self):
        self.have(self.clip)
        for _ in range(4):
            self.assertEqual(self.ask(self.clip).body, CLIP)
        self.assertEqual(len(self.asked(self.clip, "GET")), 1)
        self.assertEqual(len(self.asked(self.clip, "HEAD")), 4)

    def test_a_cached_clip_is_not_served_without_permission(self):
        self.have(self.clip)
        self.assertEqual(self.ask(self.clip).status, 200)
        for target, key in ((self.clip, None), (self.clip, "bad"), (f"{self.clip}?signature=bad", None)):
            answer = self.ask(target, key=key)
            self.assertEqual((answer.status, answer.code), (401, "key_unknown"))
        self.assertEqual(self.ask(f"{self.clip}?signature=good", key=None).status, 200)

    def test_a_cached_clip_is_not_served_after_the_nodes_have_removed_it(self):
        self.have(self.clip)
        self.assertEqual(self.ask(self.clip).status, 200)
        for node in self.nodes:
            node.files.clear()
        self.assertEqual(self.ask(self.clip).status, 404)

    def test_a_cached_clip_has_the_request_id_of_its_own_request(self):
        self.have(self.clip)
        found = [self.ask(self.clip).headers["x-request-id"] for _ in range(3)]
        self.assertEqual(len(set(found)), 3)

    def test_a_part_of_a_cached_clip_and_its_entity_tag_are_answered(self):
        self.have(self.clip)
        for _ in range(2):
            answer = self.ask(self.clip, fields="Range: bytes=0-3\r\n")
            self.assertEqual((answer.status, answer.body), (206, b"RIFF"))
        self.assertEqual(self.ask(self.clip, fields="Range: bytes=0-3,8-9\r\n").body, CLIP)
        self.assertEqual(self.ask(self.clip, fields='If-None-Match: "abc"\r\n').status, 304)
        self.assertEqual(self.ask(self.clip, method="HEAD").headers["content-length"], str(len(CLIP)))

    def test_the_check_of_a_signed_request_has_its_method_and_target(self):
        self.have(self.clip)
        self.ask(f"{self.clip}?x=%41", key=None, fields="Authorization: Crier good\r\n")
        requests = [(method, target) for node in self.nodes for method, target, _, _ in node.requests]
        self.assertEqual(requests, [("GET", f"{self.clip}?x=%41")] * 2)

    def test_an_event_arrives_at_once(self):
        start = time.monotonic()
        with self.front.connect("good", timeout=5) as connection:
            connection.send("GET", "/v1/events")
            status, _ = connection.head()
            self.assertEqual(status, 200)
            self.assertEqual(next(line for line in connection.lines(start + 5) if line.startswith(":")), ": hello")

    def test_a_node_learns_the_address_of_the_client_and_nothing_that_the_client_claims(self):
        self.ask("/v1/me", fields="X-Forwarded-For: 192.0.2.1\r\n")
        fields = [fields for node in self.nodes for _, _, fields, _ in node.requests]
        self.assertEqual([one["x-forwarded-for"] for one in fields], ["127.0.0.1"])
        self.assertEqual([one["host"] for one in fields], ["localhost"])

    def test_metrics_and_readiness_are_hidden(self):
        for path in ("/metrics", "/readyz"):
            self.assertEqual(self.ask(path).status, 404)
            self.assertEqual(self.asked(path), [])


class FailureTests(FrontTestCase):
    def setUp(self):
        self.begin(self.addCleanup)

    def test_a_post_that_was_sent_is_not_sent_to_another_node(self):
        for behaviour, status in (("close", 502), ("busy", 503)):
            for node in self.nodes:
                node.behaviour = behaviour
            path = f"/v1/announcements/{behaviour}"
            self.assertEqual(self.ask(path, "POST", body=b"{}").status, status)
            self.assertEqual(len(self.asked(path)), 1)

    def test_a_post_goes_to_another_node_if_the_first_one_does_not_listen(self):
        for node in self.nodes[1:]:
            node.shutdown()
            node.server_close()
        for _ in range(6):
            self.assertEqual(self.ask("/v1/announcements", "POST", body=b"{}").status, 200)
        self.assertEqual(self.asked("/v1/announcements"), ["node-1"] * 6)

    def test_a_get_goes_to_another_node_after_a_lost_connection_and_after_503(self):
        self.nodes[0].behaviour, self.nodes[1].behaviour = "close", "busy"
        for _ in range(6):
            self.assertEqual(self.ask("/v1/announcements").status, 200)


if __name__ == "__main__":
    unittest.main()
