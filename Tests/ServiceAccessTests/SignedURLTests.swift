// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import ServiceAccess
import Testing

@Suite("Signed URLs")
struct SignedURLTests {
  let signing: SignedURL
  let now = Date(timeIntervalSince1970: 1_800_000_000)
  let path = "/v1/clips/9f3a.wav"

  init() throws { signing = try SignedURL(secret: Data(0..<32)) }

  /// The failure of a check; nil when it passes.
  private func failure(
    by signing: SignedURL? = nil, path: String? = nil, _ expires: String?, _ signature: String?, at now: Date? = nil
  ) -> AccessError.Code? {
    do throws(AccessError) {
      try (signing ?? self.signing).check(
        path: path ?? self.path, expires: expires, signature: signature, at: now ?? self.now)
      return nil
    } catch {
      return error.code
    }
  }

  private func query(_ url: String) throws -> (path: String, expires: String, signature: String) {
    let match = try #require(url.wholeMatch(of: /([^?]+)\?expires=([0-9]+)&signature=([A-Za-z0-9_-]{43})/))
    return (String(match.1), String(match.2), String(match.3))
  }

  @Test("the signed URL of a path is valid until its expiry, to the second")
  func valid() throws {
    let sent = try query(try signing.signed(path, until: now + 60.9))
    #expect(sent.path == path && sent.expires == "1800000060")
    #expect(failure(sent.expires, sent.signature) == nil)
    #expect(failure(sent.expires, sent.signature, at: now + 59.999) == nil)
    #expect(failure(sent.expires, sent.signature, at: now + 60) == .signatureExpired)
    #expect(failure(sent.expires, sent.signature, at: now + 1e9) == .signatureExpired)
  }

  @Test("the signature of a URL is HMAC-SHA256 over GET, the path and the time, as documented")
  func form() throws {
    let code = HMAC<SHA256>.authenticationCode(
      for: Data("GET\n/v1/clips/9f3a.wav\n1800000060".utf8), using: SymmetricKey(data: Data(0..<32)))
    let signature = Data(code).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
    #expect(try query(signing.signed(path, until: now + 60)).signature == signature)
  }

  @Test("a changed path, time, signature or secret makes a signed URL invalid")
  func changed() throws {
    let sent = try query(try signing.signed(path, until: now + 60))
    for other in ["/v1/clips/9f3b.wav", "/v1/clips/9f3a.wav/", "/v1/clips/9F3A.wav", "/v1/clips/%39f3a.wav", ""] {
      #expect(failure(path: other, sent.expires, sent.signature) == .signatureInvalid)
    }
    #expect(failure("1800000061", sent.signature) == .signatureInvalid)
    #expect(failure("180000006", sent.signature, at: Date(timeIntervalSince1970: 0)) == .signatureInvalid)
    let another = try SignedURL(secret: Data(1...32))
    #expect(failure(by: another, sent.expires, sent.signature) == .signatureInvalid)
    #expect(failure(by: another, sent.expires, sent.signature, at: now + 100) == .signatureInvalid, "not: expired")
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    for position in 0..<43 {
      var signature = Array(sent.signature)
      let letter = letters.firstIndex(of: signature[position]) ?? 0
      signature[position] = letters[(letter + 4) % 64]
      #expect(failure(sent.expires, String(signature)) == .signatureInvalid)
    }
  }

  @Test("the signature of a URL is invalid if the same text is divided differently into path and time")
  func seam() throws {
    let sent = try query(try signing.signed("/v1/clips/a", until: now + 60))
    #expect(failure(path: "/v1/clips/a\n1800000060", "1800000060", sent.signature) == .signatureInvalid)
    #expect(failure(path: "/v1/clips", "a\n1800000060", sent.signature) == .signatureMalformed)
  }

  @Test("a missing time or signature of a signed URL is reported as missing")
  func missing() {
    #expect(failure(nil, nil) == .signatureMissing)
    #expect(failure("1800000060", nil) == .signatureMissing)
    #expect(failure(nil, String(repeating: "A", count: 43)) == .signatureMissing)
  }

  @Test(
    "a time or a signature of a URL in another format is malformed",
    arguments: [
      "", " 1800000060", "+1800000060", "-1", "01800000060", "1800000060.0", "18e8", "9999999999999", "١٨٠٠٠٠٠٠٦٠",
    ])
  func malformedTimes(expires: String) throws {
    let sent = try query(try signing.signed(path, until: now + 60))
    #expect(failure(expires, sent.signature) == .signatureMalformed)
  }

  @Test(
    "the signature of a URL has exactly one valid notation",
    arguments: ["", "=", "\u{0}", "é", String(repeating: "A", count: 42), String(repeating: "A", count: 44)])
  func malformedSignatures(signature: String) throws {
    let sent = try query(try signing.signed(path, until: now + 60))
    #expect(failure(sent.expires, signature) == .signatureMalformed)
    #expect(failure(sent.expires, sent.signature + "=") == .signatureMalformed)
    // The last letter has two bits that belong to no byte.
    #expect(failure(sent.expires, String(repeating: "A", count: 42) + "B") == .signatureMalformed)
    #expect(failure(sent.expires, String(repeating: "+", count: 42) + "A") == .signatureMalformed)
  }

  @Test("a URL with an invalid path, or a time that does not fit into a query, is not signed")
  func notSignable() {
    for path in [
      "", "v1/clips/a", "/v1/clips/a?b", "/v1/clips/a#b", "/v1/clips/ä", "/a b", "/a\nb", "/a\0", "/a\u{7F}",
    ] {
      let error = #expect(throws: AccessError.self) { try signing.signed(path, until: now) }
      #expect(error?.code == .notSignable)
    }
    for time in [-1, 1e13, .infinity, .nan] {
      let error = #expect(throws: AccessError.self) {
        try signing.signed(path, until: Date(timeIntervalSince1970: time))
      }
      #expect(error?.code == .notSignable)
    }
  }

  @Test("a secret that is too short for signing URLs is refused", arguments: [0, 1, 31])
  func shortSecret(count: Int) {
    let error = #expect(throws: AccessError.self) { try SignedURL(secret: Data(count: count)) }
    #expect(error?.code == .secretTooShort)
  }
}
