// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import ServiceAccess
import Testing

@Suite("Signed requests")
struct SignedRequestTests {
  let digest = APIKey.make().digest
  let now = Date(timeIntervalSince1970: 1_800_000_000.5)
  let content = SignedRequest.Content(
    method: "POST", target: "/v1/announcements?wait=1", idempotencyKey: "K-1", contentType: "application/json",
    body: Data(#"{"payment":{"id":"A-1"}}"#.utf8))

  private func request(
    at timestamp: Int64 = 1_800_000_000, _ content: SignedRequest.Content? = nil,
    version: SignedRequest.Version = .two
  ) -> SignedRequest {
    SignedRequest(signing: content ?? self.content, with: digest, at: timestamp, version: version)
  }

  private func altered(_ change: (inout SignedRequest.Content) -> Void) -> SignedRequest.Content {
    var content = content
    change(&content)
    return content
  }

  /// The failure of a check; nil when it passes.
  private func failure(
    _ request: SignedRequest, _ content: SignedRequest.Content? = nil, digest: Data? = nil, at now: Date? = nil
  ) -> AccessError.Code? {
    do throws(AccessError) {
      try request.check(content ?? self.content, keyDigest: digest ?? self.digest, at: now ?? self.now)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("a signed request is valid, also after its header fields have been sent and parsed")
  func valid() throws {
    for version in SignedRequest.Version.allCases {
      let content = version == .two ? content : altered { $0.idempotencyKey = nil }
      let request = request(content, version: version)
      #expect(failure(request, content) == nil)
      let fields = request.headerFields
      #expect(fields.map(\.name) == ["Crier-Timestamp", "Crier-Signature"])
      #expect(try SignedRequest(timestamp: fields[0].value, signature: fields[1].value) == request)
      let capitals = "\(version.rawValue)=" + fields[1].value.dropFirst(3).uppercased()
      #expect(try SignedRequest(timestamp: fields[0].value, signature: capitals) == request)
    }
  }

  @Test("the signature of a request is HMAC-SHA256 over documented lines, with the key's digest")
  func form() {
    func signature(_ message: String) -> String {
      let code = HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: SymmetricKey(data: digest))
      return code.map { String(format: "%02x", $0) }.joined()
    }
    let body = #"{"payment":{"id":"A-1"}}"#
    #expect(
      request().headerFields[1].value == "v2="
        + signature("v2\n1800000000\nPOST\n/v1/announcements?wait=1\nK-1\napplication/json\n\(body)"))
    let bare = altered { ($0.idempotencyKey, $0.contentType) = (nil, nil) }
    #expect(
      request(bare).headerFields[1].value == "v2="
        + signature("v2\n1800000000\nPOST\n/v1/announcements?wait=1\n\n\n\(body)"))
    #expect(
      request(version: .one).headerFields[1].value == "v1="
        + signature("1800000000.POST /v1/announcements?wait=1\n\(body)"))
  }

  @Test("any change of a signed request, or another key, invalidates the signature")
  func changed() throws {
    let request = request()
    let others: [SignedRequest.Content] = [
      altered { $0.method = "PUT" }, altered { $0.method = "post" }, altered { $0.target = "/v1/announcements" },
      altered { $0.target = "/v1/announcements?wait=2" }, altered { $0.body = Data() }, altered { $0.body += [0x20] },
      altered { $0.idempotencyKey = nil }, altered { $0.idempotencyKey = "K-2" }, altered { $0.contentType = nil },
      altered { $0.contentType = "text/csv" }, altered { $0.contentType = "application/json; charset=utf-8" },
      altered { ($0.idempotencyKey, $0.contentType) = ($0.contentType, $0.idempotencyKey) },
    ]
    for content in others { #expect(failure(request, content) == .signatureInvalid) }
    #expect(failure(request, digest: APIKey.make().digest) == .signatureInvalid)
    let signature = request.headerFields[1].value
    #expect(failure(try SignedRequest(timestamp: "1800000001", signature: signature)) == .signatureInvalid)
    for position in content.body.indices {
      #expect(failure(request, altered { $0.body[position] ^= 1 }) == .signatureInvalid)
    }
  }

  @Test("an added header field that was not signed makes the signature invalid, even if it is empty")
  func added() {
    let bare = altered { ($0.idempotencyKey, $0.contentType) = (nil, nil) }
    let request = request(bare)
    #expect(failure(request, bare) == nil)
    for value in ["", "K-1"] {
      var other = bare
      other.idempotencyKey = value
      #expect(failure(request, other) == .signatureInvalid)
      other = bare
      other.contentType = value
      #expect(failure(request, other) == .signatureInvalid)
    }
  }

  @Test("a signature of version 1 is accepted only if it covers everything that is sent")
  func firstVersion() throws {
    let types = [nil, "application/json", "Application/JSON; charset=utf-8", "text/csv", "application/jsonl", ""]
    for (type, key) in types.flatMap({ type in [nil, "K-1", ""].map { (type, $0) } }) {
      let content = altered { ($0.contentType, $0.idempotencyKey) = (type, key) }
      let isCovered =
        key == nil && (type == nil || type?.lowercased().hasPrefix("application/json") == true)
        && type != "application/jsonl"
      #expect(failure(request(content, version: .one), content) == (isCovered ? nil : .signatureOutdated))
    }
    let digits = request().headerFields[1].value.dropFirst(3)
    let relabelled = try SignedRequest(timestamp: "1800000000", signature: "v1=\(digits)")
    #expect(failure(relabelled, altered { $0.idempotencyKey = nil }) == .signatureInvalid)
  }

  @Test("the timestamp of a signed request may differ from the clock by at most 300 s in either direction")
  func window() {
    for seconds in [-299, 0, 300] as [Int64] { #expect(failure(request(at: 1_800_000_000 + seconds)) == nil) }
    for seconds in [-300, 301, -100_000, 100_000] as [Int64] {
      #expect(failure(request(at: 1_800_000_000 + seconds)) == .timestampOutsideWindow)
    }
    #expect(failure(request(at: 0)) == .timestampOutsideWindow)
    #expect(failure(request(at: 1_799_999_700), at: Date(timeIntervalSince1970: 1_800_000_000)) == nil)
  }

  @Test("a missing field of a signature is reported as missing")
  func missing() {
    let fields = request().headerFields.map(\.value)
    for (timestamp, signature) in [(nil, nil), (fields[0], nil), (nil, fields[1])] as [(String?, String?)] {
      let error = #expect(throws: AccessError.self) { try SignedRequest(timestamp: timestamp, signature: signature) }
      #expect(error?.code == .signatureMissing)
    }
  }

  @Test("a field of a signature in another format is malformed")
  func malformed() {
    let (time, digits) = ("1800000000", String(repeating: "a0", count: 32))
    let pairs = [
      ("", "v2=\(digits)"), (" \(time)", "v2=\(digits)"), ("1.8e9", "v2=\(digits)"), ("-1", "v2=\(digits)"),
      ("01800000000", "v2=\(digits)"), ("99999999999999999999", "v2=\(digits)"), (time, ""), (time, digits),
      (time, "v2="), (time, "v3=\(digits)"), (time, "V2=\(digits)"), (time, "v2=\(digits)0"), (time, "v2:\(digits)"),
      (time, "v2=\(digits.dropLast())"), (time, "v2=\(digits.dropLast())g"), (time, "v2=\(digits.dropLast(2))é"),
      (time, " v2=\(digits)"), (time, "v2=\(digits),v2=\(digits)"), (time, "v2=\(digits.dropLast(3))１"),
    ]
    for (timestamp, signature) in pairs {
      let error = #expect(throws: AccessError.self) { try SignedRequest(timestamp: timestamp, signature: signature) }
      #expect(error?.code == .signatureMalformed)
    }
  }

  @Test("every error of a signature has a reason and a next step, and does not contain the received values")
  func texts() {
    var codes: Set<AccessError.Code> = []
    func collect(_ work: () throws(AccessError) -> Void) {
      do { try work() } catch {
        codes.insert(error.code)
        #expect(error.description.hasPrefix("The ") && error.description.hasSuffix("."))
        #expect(error.description.contains(". "))
        #expect(!error.description.contains("A-1") && !error.description.contains("v1="))
      }
    }
    collect { () throws(AccessError) in try request(at: 0).check(content, keyDigest: digest, at: now) }
    collect { () throws(AccessError) in
      try request().check(altered { $0.method = "A-1" }, keyDigest: digest, at: now)
    }
    collect { () throws(AccessError) in try request(version: .one).check(content, keyDigest: digest, at: now) }
    collect { () throws(AccessError) in _ = try SignedRequest(timestamp: nil, signature: nil) }
    collect { () throws(AccessError) in _ = try SignedRequest(timestamp: "A-1", signature: "v1=A-1") }
    #expect(
      codes == [
        .timestampOutsideWindow, .signatureInvalid, .signatureOutdated, .signatureMissing, .signatureMalformed,
      ])
  }
}
