# SPDX-License-Identifier: Apache-2.0
"""What the senders of payment providers' webhooks share: their keys, their events, and the settings of their endpoints.

An event is a body about a payment, and what it must lead to. It is signed when it is sent, so that it can be sent again
later. Sums are in minor units.
"""

import base64
import dataclasses
import datetime
import hmac
import json
import secrets
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID


@dataclasses.dataclass(frozen=True)
class Effect:
    """The payment that an event is about: the announcement's id after that of the endpoint, the kind, and the sum."""

    id: str
    kind: str
    minor: int


@dataclasses.dataclass(frozen=True)
class Event:
    body: bytes
    # None for an event that announces nothing.
    effect: Effect | None = None
    headers: tuple = ()


@dataclasses.dataclass(frozen=True)
class Request:
    target: str
    headers: list
    body: bytes


def dense(value):
    return json.dumps(value, separators=(",", ":")).encode()


def code(key, message, name="sha256"):
    return hmac.new(key, message, name)


def b64(data):
    return base64.b64encode(data).decode()


def rfc3339(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def major(minor):
    return f"{minor // 100}.{minor % 100:02}"


class RSAKey:
    def __init__(self):
        self.private = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)

    def sign(self, message):
        return b64(self.private.sign(message, padding.PKCS1v15(), hashes.SHA256()))

    @property
    def public(self):
        kind = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.private.public_key().public_bytes(serialization.Encoding.PEM, kind).decode()

    @property
    def certificate(self):
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "provider")])
        today = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder(name, name, self.private.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(today).not_valid_after(today + datetime.timedelta(days=30))
        return builder.sign(self.private, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


class Endpoint:
    """An endpoint of a provider. `currency` has two digits for all of them."""

    provider = "mapping"
    content_type = "application/json"
    currency = "USD"
    query = ""
    suffix = ""

    def __init__(self, id):
        self.id = id
        self.secret = secrets.token_hex(24)

    def settings(self):
        return {"secrets": [self.secret]}

    def full_settings(self, id=None, **more):
        common = {"id": id or self.id, "provider": self.provider, "deliver": ["clip"], "locale": "en-US"}
        return common | {"kinds": ["received", "refunded", "failed"]} | self.settings() | more

    def target(self, id=None):
        return f"/v1/providers/{self.provider}/{id or self.id}{self.suffix}{self.query}"

    def request(self, event, now=None, id=None):
        """Returns the signed request of an event."""
        now = int(time.time() if now is None else now)
        headers = [("Content-Type", self.content_type), *event.headers, *self.headers(event.body, now)]
        return Request(self.target(id), headers, event.body)

    def headers(self, body, now):
        return []

    def signed_body(self, body):
        """Returns a changed body with a new signature, where the signature stands in the body."""
        return body

    def bought(self, id, minor, at):
        """Returns the events of one payment: those that say that it has succeeded, and others that say nothing."""
        raise NotImplementedError

    def failed(self, id, minor, at):
        """Returns the event that says that the same payment has failed, or None if there is no such event."""

    def refunded(self, id, minor, at):
        """Returns the events of one refund, which has its own id, of the payment `tea-1`."""
        return []


def write_settings(home, entries):
    """Writes `providers.yaml`, which may be JSON."""
    home.mkdir(mode=0o700, exist_ok=True)
    file = home / "providers.yaml"
    file.touch(mode=0o600)
    file.write_text(json.dumps({"endpoints": entries}))
