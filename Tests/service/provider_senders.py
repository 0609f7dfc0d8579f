# SPDX-License-Identifier: Apache-2.0
"""The senders of eleven payment providers' webhooks: the seven that the program knows, and four of mapping files."""

import datetime
import hashlib
import json
import secrets
import urllib.parse

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from provider_requests import Effect, Endpoint, Event, RSAKey, b64, code, dense, major, rfc3339


class Stripe(Endpoint):
    provider = "stripe"

    def headers(self, body, now):
        return [("Stripe-Signature", f"t={now},v1={code(self.secret.encode(), b'%d.' % now + body).hexdigest()}")]

    def event(self, kind, fields, at, effect=None):
        event = {"id": f"evt_{secrets.token_hex(8)}", "object": "event", "type": kind, "created": at, "livemode": True}
        return Event(dense(event | {"data": {"object": fields}}), effect)

    def charge(self, id, minor):
        charge = {"id": f"ch_{id}", "object": "charge", "payment_intent": f"pi_{id}", "amount": minor}
        return charge | {"amount_captured": minor, "currency": "usd", "billing_details": {"name": "Ann"}}

    def bought(self, id, minor, at):
        effect, charge = Effect(f"pi_{id}", "received", minor), self.charge(id, minor)
        intent = {"id": f"pi_{id}", "object": "payment_intent", "amount": minor, "currency": "usd"}
        return [
            self.event("charge.succeeded", charge | {"captured": True}, at, effect),
            self.event("charge.captured", charge | {"captured": True}, at + 1, effect),
            self.event("payment_intent.succeeded", intent, at),
        ]

    def failed(self, id, minor, at):
        # The charge that fails is another one of the same payment.
        charge = self.charge(id, minor) | {"id": f"ch_{id}_0", "captured": False}
        return self.event("charge.failed", charge, at, Effect(f"ch_{id}_0/failed", "failed", minor))

    def refunded(self, id, minor, at):
        refund = {"id": f"re_{id}", "object": "refund", "amount": minor, "currency": "usd", "payment_intent": "tea-1"}
        effect, done = Effect(f"re_{id}/refunded", "refunded", minor), refund | {"status": "succeeded"}
        return [
            self.event("refund.created", refund | {"status": "pending"}, at),
            self.event("refund.updated", done, at, effect),
            self.event("charge.refund.updated", done, at, effect),
        ]


class WeChatPay(Endpoint):
    provider = "wechatpay"
    currency = "CNY"

    def __init__(self, id):
        super().__init__(id)
        self.keys = {"5F3A9C20B1": RSAKey(), "PUB_KEY_ID_0116000000": RSAKey()}
        self.api_key = secrets.token_hex(16)
        self.turn = 0

    def settings(self):
        (certificate, first), (name, second) = self.keys.items()
        return {"public_keys": {certificate: first.certificate, name: second.public}, "api_v3_key": self.api_key}

    def headers(self, body, now):
        # While the keys are changed, both keys sign.
        self.turn += 1
        serial, nonce = list(self.keys)[self.turn % 2], secrets.token_hex(8)
        signature = self.keys[serial].sign(b"%d\n%s\n%s\n" % (now, nonce.encode(), body))
        return [
            ("Wechatpay-Serial", serial),
            ("Wechatpay-Signature", signature),
            ("Wechatpay-Timestamp", str(now)),
            ("Wechatpay-Nonce", nonce),
        ]

    def event(self, kind, fields, effect=None):
        nonce, extra = secrets.token_hex(6), "transaction"
        sealed = AESGCM(self.api_key.encode()).encrypt(nonce.encode(), dense(fields), extra.encode())
        resource = {"algorithm": "AEAD_AES_256_GCM", "nonce": nonce, "associated_data": extra}
        resource["ciphertext"] = b64(sealed)
        notice = {"id": secrets.token_hex(8), "event_type": kind, "resource_type": "encrypt-resource"}
        return Event(dense(notice | {"resource": resource}), effect)

    def bought(self, id, minor, at):
        effect = Effect(id, "received", minor)
        order = {"mchid": "1900000001", "transaction_id": id, "success_time": rfc3339(at), "out_trade_no": f"o-{id}"}
        sums = {"total": minor, "payer_total": minor - 1, "currency": "CNY"}
        paid = order | {"trade_state": "SUCCESS", "amount": sums}
        part = paid | {"amount": {"total_amount": minor, "payer_amount": minor - 1, "currency": "CNY"}}
        combined = {"combine_mchid": "1900000001", "sub_orders": [part]}
        return [
            self.event("TRANSACTION.SUCCESS", paid, effect),
            self.event("TRANSACTION.SUCCESS", combined, effect),
            self.event("TRANSACTION.SUCCESS", paid | {"trade_state": "NOTPAY"}),
        ]

    def refunded(self, id, minor, at):
        refund = {"mchid": "1900000001", "transaction_id": "tea-1", "refund_id": id, "success_time": rfc3339(at)}
        done = refund | {"refund_status": "SUCCESS", "amount": {"total": 100_000, "refund": minor}}
        effect = Effect(f"{id}/refunded", "refunded", minor)
        return [self.event("REFUND.SUCCESS", done, effect), self.event("REFUND.ABNORMAL", done)]


class Alipay(Endpoint):
    provider = "alipay"
    content_type = "application/x-www-form-urlencoded"
    currency = "CNY"
    certificate = "d41d8cd98f00b204"

    def __init__(self, id):
        super().__init__(id)
        self.keys = {"plain": RSAKey(), self.certificate: RSAKey()}

    def settings(self):
        certificate = self.keys[self.certificate].certificate
        return {"public_keys": {"plain": self.keys["plain"].public, self.certificate: certificate}}

    def form(self, fields, name="plain"):
        if name != "plain":
            fields = fields | {"alipay_cert_sn": name}
        text = "&".join(f"{key}={fields[key]}" for key in sorted(fields) if key != "alipay_cert_sn")
        sign = self.keys.get(name, self.keys["plain"]).sign(text.encode("utf-8", "surrogateescape"))
        return urllib.parse.urlencode(fields | {"sign_type": "RSA2", "sign": sign}, errors="surrogateescape").encode()

    def signed_body(self, body):
        fields = dict(urllib.parse.parse_qsl(body.decode("latin-1"), errors="surrogateescape"))
        return self.form({key: value for key, value in fields.items() if not key.startswith(("sign", "alipay_cert"))})

    def bought(self, id, minor, at):
        china = datetime.datetime.fromtimestamp(at + 8 * 3_600, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
        notice = {"notify_type": "trade_status_sync", "trade_no": id, "app_id": "2021000001"}
        notice |= {"total_amount": major(minor), "refund_fee": "0.00", "subject": "茶 & cake"}
        notice |= {"gmt_payment": china, "notify_time": china}
        effect = Effect(id, "received", minor)
        success, finished = notice | {"trade_status": "TRADE_SUCCESS"}, notice | {"trade_status": "TRADE_FINISHED"}
        return [
            Event(self.form(success), effect),
            Event(self.form(finished, self.certificate), effect),
            Event(self.form(notice | {"trade_status": "WAIT_BUYER_PAY"})),
            Event(self.form(success | {"refund_fee": "0.01", "gmt_refund": china})),
        ]


class Razorpay(Endpoint):
    provider = "razorpay"
    currency = "INR"

    def headers(self, body, now):
        event = ("x-razorpay-event-id", secrets.token_hex(7))
        return [("X-Razorpay-Signature", code(self.secret.encode(), body).hexdigest()), event]

    def event(self, kind, name, fields, at, effect=None):
        entity = fields | {"entity": name, "currency": "INR", "notes": []}
        event = {"entity": "event", "event": kind, "account_id": "acc_1", "created_at": at}
        return Event(dense(event | {"payload": {name: {"entity": entity}}}), effect)

    def bought(self, id, minor, at):
        payment, effect = {"id": f"pay_{id}", "amount": minor}, Effect(f"pay_{id}", "received", minor)
        return [
            self.event("payment.captured", "payment", payment, at, effect),
            self.event("payment.captured", "payment", payment | {"tax": 1}, at + 2, effect),
            self.event("payment.authorized", "payment", payment, at),
            self.event("order.paid", "payment", payment, at),
        ]

    def failed(self, id, minor, at):
        effect = Effect(f"pay_{id}/failed", "failed", minor)
        return self.event("payment.failed", "payment", {"id": f"pay_{id}", "amount": minor}, at, effect)

    def refunded(self, id, minor, at):
        refund, effect = {"id": f"rfnd_{id}", "amount": minor}, Effect(f"rfnd_{id}/refunded", "refunded", minor)
        return [
            self.event("refund.created", "refund", refund, at),
            self.event("refund.processed", "refund", refund, at + 1, effect),
        ]


class Square(Endpoint):
    provider = "square"
    url = "https://shop.example/hooks/square"

    def settings(self):
        return {"secrets": [self.secret], "url": self.url}

    def headers(self, body, now):
        signature = code(self.secret.encode(), self.url.encode() + body).digest()
        return [("x-square-hmacsha256-signature", b64(signature))]

    def event(self, kind, name, status, id, minor, at, effect=None):
        fields = {"id": id, "status": status, "created_at": rfc3339(at), "source_type": "CARD"}
        fields["total_money" if name == "payment" else "amount_money"] = {"amount": minor, "currency": "USD"}
        event = {"merchant_id": "M1", "type": kind, "event_id": secrets.token_hex(8), "created_at": rfc3339(at)}
        return Event(dense(event | {"data": {"type": name, "id": id, "object": {name: fields}}}), effect)

    def bought(self, id, minor, at):
        effect = Effect(id, "received", minor)
        return [
            self.event("payment.created", "payment", "COMPLETED", id, minor, at, effect),
            self.event("payment.updated", "payment", "COMPLETED", id, minor, at, effect),
            self.event("payment.created", "payment", "APPROVED", id, minor, at),
        ]

    def failed(self, id, minor, at):
        effect = Effect(f"{id}/failed", "failed", minor)
        return self.event("payment.updated", "payment", "FAILED", id, minor, at, effect)

    def refunded(self, id, minor, at):
        effect = Effect(f"{id}/refunded", "refunded", minor)
        return [
            self.event("refund.created", "refund", "PENDING", id, minor, at),
            self.event("refund.created", "refund", "COMPLETED", id, minor, at, effect),
            self.event("refund.updated", "refund", "COMPLETED", id, minor, at, effect),
        ]


class Adyen(Endpoint):
    provider = "adyen"
    currency = "EUR"
    signed = ("pspReference", "originalReference", "merchantAccountCode", "merchantReference")

    def item(self, item):
        amount = item.get("amount", {})
        fields = [item.get(name, "") for name in self.signed]
        fields += [amount.get("value", ""), amount.get("currency", "")]
        fields += [item.get("eventCode", ""), item.get("success", "")]
        message = ":".join(str(field) for field in fields).encode("utf-8", "surrogatepass")
        return item | {"additionalData": {"hmacSignature": b64(code(bytes.fromhex(self.secret), message).digest())}}

    def body(self, *items):
        wrapped = [{"NotificationRequestItem": self.item(item)} for item in items]
        return dense({"live": "true", "notificationItems": wrapped})

    def signed_body(self, body):
        try:
            return self.body(*(entry["NotificationRequestItem"] for entry in json.loads(body)["notificationItems"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return body

    def event(self, event, success, id, minor, at, effect=None, original="", copies=1):
        item = {"pspReference": id, "originalReference": original, "merchantAccountCode": "Shop", "eventCode": event}
        item |= {"merchantReference": "table:5", "success": success, "eventDate": rfc3339(at)}
        return Event(self.body(*[item | {"amount": {"value": minor, "currency": "EUR"}}] * copies), effect)

    def bought(self, id, minor, at):
        effect = Effect(id, "received", minor)
        return [
            self.event("AUTHORISATION", "true", id, minor, at, effect),
            self.event("AUTHORISATION", "true", id, minor, at, effect, copies=2),
            self.event("CAPTURE", "true", f"{id}-c", minor, at, original=id),
        ]

    def failed(self, id, minor, at):
        return self.event("AUTHORISATION", "false", id, minor, at, Effect(f"{id}/failed", "failed", minor))

    def refunded(self, id, minor, at):
        effect = Effect(f"{id}/refunded", "refunded", minor)
        return [
            self.event("REFUND", "true", id, minor, at, effect, "tea-1"),
            self.event("REFUND", "true", id, minor, at + 3, effect, "tea-1"),
            self.event("CANCELLATION", "true", id, minor, at, original="tea-1"),
        ]


class StandardWebhooks(Endpoint):
    provider = "standard-webhooks"

    def __init__(self, id):
        super().__init__(id)
        self.key = secrets.token_bytes(32)
        self.secret = f"whsec_{b64(self.key)}"

    def headers(self, body, now):
        id = f"msg_{secrets.token_hex(8)}"
        signature = b64(code(self.key, f"{id}.{now}.".encode() + body).digest())
        return [("webhook-id", id), ("webhook-timestamp", str(now)), ("webhook-signature", f"v1,{signature}")]

    def event(self, kind, id, sum, at, effect=None):
        data = {"id": id, "currency": "USD"} | sum
        return Event(dense({"type": kind, "timestamp": rfc3339(at), "data": data}), effect)

    def bought(self, id, minor, at):
        effect = Effect(id, "received", minor)
        return [
            self.event("payment.received", id, {"amount": major(minor)}, at, effect),
            self.event("payment.received", id, {"minor": minor}, at + 1, effect),
            self.event("invoice.created", id, {"minor": minor}, at),
        ]

    def failed(self, id, minor, at):
        return self.event("payment.failed", id, {"minor": minor}, at, Effect(f"{id}/failed", "failed", minor))

    def refunded(self, id, minor, at):
        effect = Effect(f"{id}/refunded", "refunded", minor)
        return [self.event("payment.refunded", id, {"minor": minor}, at + more, effect) for more in (0, 5)]


class Shopify(Endpoint):
    currency = "CAD"

    def settings(self):
        return {"secrets": [self.secret], "mapping": "shopify.yaml"}

    def headers(self, body, now):
        return [("X-Shopify-Hmac-Sha256", b64(code(self.secret.encode(), body).digest()))]

    def bought(self, id, minor, at):
        number = 9_007_199_254_740_993 + int(hashlib.sha256(id.encode()).hexdigest()[:8], 16)
        order = {"id": number, "currency": "CAD", "total_price": major(minor), "test": False, "updated_at": rfc3339(at)}
        paid, effect = order | {"financial_status": "paid"}, Effect(str(number), "received", minor)

        def event(topic, order, effect=None):
            return Event(dense(order), effect, (("X-Shopify-Topic", topic),))

        return [
            event("orders/paid", paid, effect),
            event("orders/paid", paid | {"tags": "tea"}, effect),
            event("orders/updated", paid),
            event("orders/paid", order | {"financial_status": "pending"}),
        ]


class Midtrans(Endpoint):
    currency = "IDR"

    def settings(self):
        return {"secrets": [self.secret], "mapping": "midtrans.yaml"}

    def notice(self, fields):
        signed = [str(fields.get(name, "")) for name in ("order_id", "status_code", "gross_amount")]
        text = "".join([*signed, self.secret]).encode("utf-8", "surrogatepass")
        return dense(fields | {"signature_key": hashlib.sha512(text).hexdigest()})

    def signed_body(self, body):
        try:
            return self.notice(json.loads(body))
        except (ValueError, TypeError, AttributeError, RecursionError):
            return body

    def bought(self, id, minor, at):
        fields = {"order_id": id, "transaction_id": f"t-{id}", "gross_amount": major(minor), "currency": "IDR"}
        # The transaction_id is not signed, so the order's id tells payments apart.
        paid, effect = fields | {"status_code": "200"}, Effect(id, "received", minor)
        return [
            Event(self.notice(paid | {"transaction_status": "settlement"}), effect),
            Event(self.notice(paid | {"transaction_status": "capture", "fraud_status": "accept"}), effect),
            Event(self.notice(fields | {"status_code": "201", "transaction_status": "pending"})),
        ]


class Pix(Endpoint):
    currency = "BRL"
    suffix = "/pix"

    def __init__(self, id):
        super().__init__(id)
        self.query = f"?token={self.secret}"

    def settings(self):
        return {"secrets": [self.secret], "mapping": "pix.yaml"}

    def bought(self, id, minor, at):
        payment, effect = {"endToEndId": f"E{id}", "valor": major(minor)}, Effect(f"E{id}", "received", minor)
        return [
            Event(dense({"pix": [payment]}), effect),
            Event(dense({"pix": [payment, payment | {"infoPagador": "mesa 5"}]}), effect),
            Event(dense({"pix": [payment | {"devolucoes": [{"id": "d", "valor": "0.01"}]}]})),
        ]


class Paystack(Endpoint):
    currency = "NGN"

    def settings(self):
        return {"secrets": [self.secret], "mapping": "paystack.yaml"}

    def headers(self, body, now):
        return [("x-paystack-signature", code(self.secret.encode(), body, "sha512").hexdigest())]

    def bought(self, id, minor, at):
        data = {"domain": "live", "status": "success", "reference": id, "amount": minor, "currency": "NGN"}
        data["paid_at"] = rfc3339(at)
        effect = Effect(id, "received", minor)
        return [
            Event(dense({"event": "charge.success", "data": data}), effect),
            Event(dense({"event": "charge.success", "data": data | {"channel": "card"}}), effect),
            Event(dense({"event": "invoice.update", "data": data})),
        ]


def endpoints():
    kinds = [Stripe, WeChatPay, Alipay, Razorpay, Square, Adyen, StandardWebhooks, Shopify, Midtrans, Pix, Paystack]
    return [kind(kind.__name__.lower()) for kind in kinds]
