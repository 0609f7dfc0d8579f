// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WebhookMessages

@Suite("Signatures of webhooks")
struct WebhookSecretTests {
  // The vector of Standard Webhooks: github.com/standard-webhooks/standard-webhooks,
  // libraries/javascript/src/webhook.test.ts, "sign function works".
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
  private static let timestamp: Int64 = 1_614_265_330
  private static let body = Data(#"{"test": 2432232314}"#.utf8)
  private static let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
  private static let now = Date(timeIntervalSince1970: 1_614_265_330)

  private func failure(
    id: String = Self.id, timestamp: String = "\(Self.timestamp)", signatures: String = Self.signature,
    body: Data = Self.body, at now: Date = Self.now, secret: String = Self.secret
  ) throws -> WebhookError.Code? {
    let secret = try WebhookSecret(secret)
    do throws(WebhookError) {
      try secret.verify(id: id, timestamp: timestamp, signatures: signatures, body: body, at: now)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("the published test vector of Standard Webhooks has the published signature and is verified")
  func vector() throws {
    let secret = try WebhookSecret(Self.secret)
    #expect(secret.signature(id: Self.id, timestamp: Self.timestamp, body: Self.body) == Self.signature)
    #expect(try failure() == nil)
    #expect(secret.text == Self.secret)
  }

  @Test("a webhook message is refused if its id, time, body, signature or secret was changed")
  func tampered() throws {
    #expect(try failure(id: Self.id + "x") == .signatureInvalid)
    #expect(try failure(timestamp: "1614265331") == .signatureInvalid)
    #expect(try failure(body: Self.body + Data(" ".utf8)) == .signatureInvalid)
    #expect(try failure(body: Data()) == .signatureInvalid)
    #expect(try failure(secret: WebhookSecret.make().text) == .signatureInvalid)
    for signatures in ["", "v1", "v1,", "v1,AAAA", "v1,not base64", String(Self.signature.dropLast(4)), "v2,x"] {
      #expect(try failure(signatures: signatures) == .signatureInvalid, "\(signatures)")
    }
    #expect(try failure(signatures: "v1a" + Self.signature.dropFirst(2)) == .signatureInvalid)
  }

  @Test("the time of a webhook message may differ from the receiver's clock by five minutes at most")
  func tolerance() throws {
    for (seconds, code) in [(-300, nil), (300, nil), (-301, .timestampOutsideWindow), (301, .timestampOutsideWindow)]
      as [(TimeInterval, WebhookError.Code?)]
    {
      #expect(try failure(at: Self.now.addingTimeInterval(seconds)) == code, "\(seconds)")
    }
    for text in ["", "hello", "+1614265330", "1614265330.0", " 1614265330", "99999999999999999999"] {
      #expect(try failure(timestamp: text) == .timestampOutsideWindow, "\(text)")
    }
  }

  @Test(
    "while a receiver changes its secret, one of two signatures is enough, and those of other versions are ignored")
  func rotation() throws {
    let (old, new) = (try WebhookSecret(Self.secret), WebhookSecret.make())
    let message = WebhookMessage(id: WebhookMessage.newID(), body: Self.body)
    let headers = Dictionary(
      uniqueKeysWithValues: message.headers(at: Self.now, secrets: [new, old]).map { ($0.name, $0.value) })
    #expect(headers["webhook-id"] == message.id && headers["webhook-timestamp"] == "\(Self.timestamp)")
    #expect(headers["content-type"] == "application/json")
    let signatures = try #require(headers["webhook-signature"])
    #expect(signatures.split(separator: " ").count == 2)
    for secret in [old, new] {
      try secret.verify(
        id: message.id, timestamp: "\(Self.timestamp)", signatures: signatures, body: Self.body, at: Self.now)
    }
    #expect(try failure(signatures: "v1a,AAAA v2,BBBB v1,CCCC \(Self.signature)") == nil)
  }

  @Test("the secret of an endpoint has the form whsec_ and 24 to 64 bytes in base64, and any other form is refused")
  func secrets() throws {
    for count in [24, 32, 64] {
      let text = "whsec_" + Data(repeating: 7, count: count).base64EncodedString()
      #expect(try WebhookSecret(text).text == text)
    }
    let short = "whsec_" + Data(count: 23).base64EncodedString()
    let long = "whsec_" + Data(count: 65).base64EncodedString()
    for text in [
      "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", short, long,
      Self.secret + "!", Self.secret + "\n",
    ] {
      let error = #expect(throws: WebhookError.self) { try WebhookSecret(text) }
      #expect(error?.code == .secretInvalid)
    }
    #expect(WebhookSecret.make() != WebhookSecret.make())
  }

  @Test("no description of a webhook's secret shows the secret")
  func hidden() throws {
    let secret = try WebhookSecret(Self.secret)
    var dumped = ""
    dump(secret, to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), dumped, "\(WebhookError(.secretInvalid))"] {
      #expect(!text.contains("MfKQ9r8G"), "\(text)")
    }
  }

  @Test("message ids are random and contain no period, because a period separates the signed parts")
  func ids() {
    let ids = (0..<100).flatMap { _ in [WebhookMessage.newID(), WebhookMessage.newEndpointID()] }
    #expect(Set(ids).count == 200)
    #expect(ids.allSatisfy { $0.wholeMatch(of: /(msg|whe)_[0-9a-f]{32}/) != nil })
  }
}
