// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import ServiceAccess
import Testing

@Suite("Signed requests")
struct SignedRequestTests {
  let digest = APIKey.make().digest
  let now = Date(timeIntervalSince1970: 1_800_000_000.5)
  let body = Data(#"{"payment":{"id":"A-1"}}"#.utf8)
  let target = "/v1/announcements?wait=1"

  private func request(at timestamp: Int64 = 1_800_000_000) -> SignedRequest {
    SignedRequest(signing: "POST", target, body: body, with: digest, at: timestamp)
  }

  /// The failure of a check; nil when it passes.
  private func failure(
    _ request: SignedRequest, method: String = "POST", target: String? = nil, body: Data? = nil, digest: Data? = nil,
    at now: Date? = nil
  ) -> AccessError.Code? {
    do throws(AccessError) {
      try request.check(
        method: method, target: target ?? self.target, body: body ?? self.body, keyDigest: digest ?? self.digest,
        at: now ?? self.now)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("a signed request passes, and is the same after its header fields were sent")
  func valid() throws {
    let request = request()
    #expect(failure(request) == nil)
    let fields = request.headerFields
    #expect(fields.map(\.name) == ["Crier-Timestamp", "Crier-Signature"])
    #expect(try SignedRequest(timestamp: fields[0].value, signature: fields[1].value) == request)
    let capitals = "v1=" + fields[1].value.dropFirst(3).uppercased()
    #expect(try SignedRequest(timestamp: fields[0].value, signature: capitals) == request)
  }

  @Test("the signature is HMAC-SHA256 as others can make it, with the key's digest")
  func form() {
    let message = #"1800000000.POST /v1/announcements?wait=1"# + "\n" + #"{"payment":{"id":"A-1"}}"#
    let code = HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: SymmetricKey(data: digest))
    #expect(request().headerFields[1].value == "v1=" + code.map { String(format: "%02x", $0) }.joined())
  }

  @Test("whatever is changed on the way, or signed with another key, is found")
  func changed() throws {
    let request = request()
    #expect(failure(request, method: "PUT") == .signatureInvalid)
    #expect(failure(request, method: "post") == .signatureInvalid)
    #expect(failure(request, target: "/v1/announcements") == .signatureInvalid)
    #expect(failure(request, target: "/v1/announcements?wait=2") == .signatureInvalid)
    #expect(failure(request, body: Data()) == .signatureInvalid)
    #expect(failure(request, body: body + [0x20]) == .signatureInvalid)
    #expect(failure(request, digest: APIKey.make().digest) == .signatureInvalid)
    let signature = request.headerFields[1].value
    #expect(failure(try SignedRequest(timestamp: "1800000001", signature: signature)) == .signatureInvalid)
    for position in body.indices {
      var other = body
      other[position] ^= 1
      #expect(failure(request, body: other) == .signatureInvalid)
    }
  }

  @Test("a request is as old as 300 seconds, or as far ahead, and no more")
  func window() {
    for seconds in [-299, 0, 300] as [Int64] { #expect(failure(request(at: 1_800_000_000 + seconds)) == nil) }
    for seconds in [-300, 301, -100_000, 100_000] as [Int64] {
      #expect(failure(request(at: 1_800_000_000 + seconds)) == .timestampOutsideWindow)
    }
    #expect(failure(request(at: 0)) == .timestampOutsideWindow)
    #expect(failure(request(at: 1_799_999_700), at: Date(timeIntervalSince1970: 1_800_000_000)) == nil)
  }

  @Test("a field that is missing is missing")
  func missing() {
    let fields = request().headerFields.map(\.value)
    for (timestamp, signature) in [(nil, nil), (fields[0], nil), (nil, fields[1])] as [(String?, String?)] {
      let error = #expect(throws: AccessError.self) { try SignedRequest(timestamp: timestamp, signature: signature) }
      #expect(error?.code == .signatureMissing)
    }
  }

  @Test("fields that are not written as they should be are malformed")
  func malformed() {
    let (time, digits) = ("1800000000", String(repeating: "a0", count: 32))
    let pairs = [
      ("", "v1=\(digits)"), (" \(time)", "v1=\(digits)"), ("1.8e9", "v1=\(digits)"), ("-1", "v1=\(digits)"),
      ("01800000000", "v1=\(digits)"), ("99999999999999999999", "v1=\(digits)"), (time, ""), (time, digits),
      (time, "v1="), (time, "v2=\(digits)"), (time, "V1=\(digits)"), (time, "v1=\(digits)0"),
      (time, "v1=\(digits.dropLast())"), (time, "v1=\(digits.dropLast())g"), (time, "v1=\(digits.dropLast(2))é"),
      (time, " v1=\(digits)"), (time, "v1=\(digits),v1=\(digits)"), (time, "v1=\(digits.dropLast(3))１"),
    ]
    for (timestamp, signature) in pairs {
      let error = #expect(throws: AccessError.self) { try SignedRequest(timestamp: timestamp, signature: signature) }
      #expect(error?.code == .signatureMalformed)
    }
  }

  @Test("every error says in a sentence or two what to do, without what was sent")
  func texts() {
    var codes: Set<AccessError.Code> = []
    func collect(_ work: () throws(AccessError) -> Void) {
      do { try work() } catch {
        codes.insert(error.code)
        #expect(error.description.hasPrefix("The ") && error.description.hasSuffix("."))
        #expect(error.description.contains(": "))
        #expect(!error.description.contains("A-1") && !error.description.contains("v1="))
      }
    }
    collect { () throws(AccessError) in
      try request(at: 0).check(method: "POST", target: target, body: body, keyDigest: digest, at: now)
    }
    collect { () throws(AccessError) in
      try request().check(method: "A-1", target: target, body: body, keyDigest: digest, at: now)
    }
    collect { () throws(AccessError) in _ = try SignedRequest(timestamp: nil, signature: nil) }
    collect { () throws(AccessError) in _ = try SignedRequest(timestamp: "A-1", signature: "v1=A-1") }
    #expect(codes == [.timestampOutsideWindow, .signatureInvalid, .signatureMissing, .signatureMalformed])
  }
}
