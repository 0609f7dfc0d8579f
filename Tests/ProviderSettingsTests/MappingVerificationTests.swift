// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import ProviderSettings
import Testing

@Suite("Verification by a mapping file")
struct MappingVerificationTests {
  private func code(
    _ message: String, key: Data = MappingTexts.secret.bytes, _ hash: SignatureHash = .sha256,
    _ encoding: SignatureEncoding = .hex
  ) -> String {
    encoding.text(of: SignatureChecks.code(of: Data(message.utf8), key: key, hash))
  }

  @Test(
    "a signature over the body is accepted in each combination of hash and encoding", arguments: SignatureHash.allCases)
  func hashes(hash: SignatureHash) throws {
    for encoding in SignatureEncoding.allCases {
      let endpoint = try MappingTexts.endpoint(
        "{scheme: hmac, hash: \(hash), encoding: \(encoding), header: X-Sig, message: [body]}")
      let good = code(MappingTexts.body, hash, encoding)
      #expect(endpoint.rejection([("x-sig", good)]) == nil)
      #expect(endpoint.rejection([("X-Sig", good)], MappingTexts.body + " ") == .signatureInvalid)
      #expect(
        endpoint.rejection([("X-Sig", code(MappingTexts.body, key: Data("x".utf8), hash, encoding))])
          == .signatureInvalid)
      #expect(endpoint.rejection([("X-Sig", "?")]) == .signatureInvalid)
      #expect(endpoint.rejection([("X-Sig", "")]) == .signatureMissing)
      #expect(endpoint.rejection([]) == .signatureMissing)
    }
  }

  @Test("a signature header that occurs twice is refused, even if both signatures are valid")
  func repeatedHeader() throws {
    let endpoint = try MappingTexts.endpoint(MappingTexts.signed)
    let good = code(MappingTexts.body)
    #expect(endpoint.rejection([("X-Sig", good), ("x-sig", good)]) == .headerRepeated)
  }

  @Test("a signature by any secret of the endpoint is accepted, and a signature by an empty secret is refused")
  func secrets() throws {
    let other = ProviderSecret("another")
    var endpoint = try MappingTexts.endpoint(MappingTexts.signed, secrets: [other, MappingTexts.secret])
    #expect(endpoint.rejection([("X-Sig", code(MappingTexts.body))]) == nil)
    endpoint.secrets = [other]
    #expect(endpoint.rejection([("X-Sig", code(MappingTexts.body))]) == .signatureInvalid)
    endpoint.secrets = [ProviderSecret("")]
    #expect(endpoint.rejection([("X-Sig", code(MappingTexts.body, key: Data()))]) == .keyUnknown)
  }

  @Test("a secret is decoded as the mapping file says, and a secret in another form is refused")
  func keys() throws {
    for (form, text) in [("base64", "AAECAw=="), ("hex", "00010203")] {
      let endpoint = try MappingTexts.endpoint(
        "{scheme: hmac, hash: sha256, encoding: hex, header: X-Sig, message: [body], secret: \(form)}",
        secrets: [ProviderSecret(text)])
      #expect(endpoint.rejection([("X-Sig", code(MappingTexts.body, key: Data([0, 1, 2, 3])))]) == nil)
      #expect(endpoint.rejection([("X-Sig", code(MappingTexts.body, key: Data(text.utf8)))]) == .signatureInvalid)
      #expect(endpoint.mapping?.verification.accepts(ProviderSecret("?")) == false)
    }
  }

  @Test("each signature of a list is tried, and only signatures with the prefix in the mapping file count")
  func lists() throws {
    let good = code(MappingTexts.body)
    let bad = code("another")
    for (list, separator) in [("comma", ", "), ("space", " ")] {
      let endpoint = try MappingTexts.endpoint(
        "{scheme: hmac, hash: sha256, encoding: hex, header: X-Sig, message: [body], list: \(list), prefix: v1=}")
      #expect(endpoint.rejection([("X-Sig", "v1=\(bad)\(separator)v1=\(good)")]) == nil)
      #expect(endpoint.rejection([("X-Sig", "v1=\(bad)\(separator)\(good)")]) == .signatureInvalid)
      #expect(endpoint.rejection([("X-Sig", "v0=\(good)")]) == .signatureMissing)
      #expect(endpoint.rejection([("X-Sig", "v1=")]) == .signatureMissing)
      let many = Array(repeating: "v1=\(bad)", count: 100) + ["v1=\(good)"]
      #expect(endpoint.rejection([("X-Sig", many.joined(separator: separator))]) == .signatureInvalid)
    }
  }

  private static let pairs = """
    {scheme: hmac, hash: sha256, encoding: hex, header: X-Sig, list: pairs, signature_names: [te, li],
    time: {pair: t, window: 60}, message: [time, text: ., body]}
    """

  @Test("a signature header with key=value pairs needs exactly one time and at least one of the named signatures")
  func pairs() throws {
    let endpoint = try MappingTexts.endpoint(Self.pairs)
    let good = code("1700000000.\(MappingTexts.body)")
    #expect(endpoint.rejection([("X-Sig", "t=1700000000,te=,li=\(good)")]) == nil)
    #expect(endpoint.rejection([("X-Sig", "t=1700000000, te=\(good)")]) == nil)
    #expect(endpoint.rejection([("X-Sig", "t=1700000000,v0=\(good)")]) == .signatureMissing)
    #expect(endpoint.rejection([("X-Sig", "te=\(good)")]) == .signatureMissing)
    #expect(endpoint.rejection([("X-Sig", "t=1700000000,t=1700000000,te=\(good)")]) == .headerRepeated)
    #expect(endpoint.rejection([("X-Sig", "t=1700000001,te=\(good)")]) == .signatureInvalid)
  }

  @Test("a request is refused if its signed time is too far before or after the clock, in seconds or milliseconds")
  func times() throws {
    for (unit, factor) in [("s", 1), ("ms", 1_000)] as [(String, Int64)] {
      let endpoint = try MappingTexts.endpoint(
        """
        {scheme: hmac, hash: sha256, encoding: hex, header: X-Sig, time: {header: X-Time, window: 60, unit: \(unit)},
        message: [time, body]}
        """)
      for (offset, expected) in [
        (-61, .timestampOutsideWindow), (-60, nil), (60, nil), (61, .timestampOutsideWindow),
      ] as [(Int64, ProviderRejection.Code?)] {
        let time = "\((1_700_000_000 + offset) * factor)"
        #expect(endpoint.rejection([("X-Time", time), ("X-Sig", code(time + MappingTexts.body))]) == expected)
      }
      let time = "\(1_700_000_000 * factor)"
      let good = code(time + MappingTexts.body)
      #expect(endpoint.rejection([("X-Time", time), ("X-Time", time), ("X-Sig", good)]) == .headerRepeated)
      #expect(endpoint.rejection([("X-Sig", code(MappingTexts.body))]) == .signatureMissing)
      // A wrong signature is told before a wrong time, because a time that nobody signed says nothing.
      #expect(endpoint.rejection([("X-Time", "1"), ("X-Sig", good)]) == .signatureInvalid)
      #expect(endpoint.rejection([("X-Time", "0x1"), ("X-Sig", code("0x1" + MappingTexts.body))]) == .malformed)
    }
  }

  @Test("the signed text may contain headers, query keys, fields of the body and constants")
  func messages() throws {
    let endpoint = try MappingTexts.endpoint(
      """
      {scheme: hmac, hash: sha256, encoding: hex, header: X-Sig,
      message: [text: "id:", query data.id, text: ";", header X-Request, text: ";", /id, /sum]}
      """, payment: "{id: /id, amount: {major: /sum}, currency: {text: EUR}}",
      kinds: "[{when: {/id: p1}, kind: received}]")
    let headers = [("X-Request", "r"), ("X-Sig", code("id:7;r;p112.50"))]
    #expect(endpoint.rejection(headers, query: "x=1&data.id=7") == nil)
    #expect(endpoint.rejection(headers, query: "data.id=8") == .signatureInvalid)
    #expect(endpoint.rejection(headers, query: nil) == .signatureInvalid)
    #expect(endpoint.rejection(headers, query: "data.id=7&data.id=7") == .headerRepeated)
    #expect(endpoint.rejection(headers + [("x-request", "r")], query: "data.id=7") == .headerRepeated)
    #expect(endpoint.rejection(headers, #"{"id":"p1"}"#, query: "data.id=7") == .signatureInvalid)
    #expect(endpoint.rejection(headers, "not JSON", query: "data.id=7") == .malformed)
    let large = #"{"id":"p1","sum":"12.50","x":""# + String(repeating: "x", count: 65_536) + #""}"#
    #expect(endpoint.rejection(headers, large, query: "data.id=7") == .malformed)
  }

  @Test(
    "the scheme 'digest' hashes a text that contains the secret, and compares the hash with the signature in the body")
  func digest() throws {
    let endpoint = try MappingTexts.endpoint(
      "{scheme: digest, hash: sha512, encoding: hex, pointer: /sig, message: [/id, /sum, secret]}",
      payment: "{id: /id, amount: {major: /sum}, currency: {text: IDR}}", kinds: "[{when: {/id: p1}, kind: received}]")
    func body(_ sum: String, _ signature: String) -> String { #"{"id":"p1","sum":\#(sum),"sig":\#(signature)}"# }
    let digest = SignatureChecks.digest(of: Data("p1100.00".utf8) + MappingTexts.secret.bytes, .sha512)
    let good = "\"\(SignatureEncoding.hex.text(of: digest))\""
    #expect(endpoint.rejection([], body("\"100.00\"", good)) == nil)
    // The text is signed, not the number.
    #expect(endpoint.rejection([], body("100", good)) == .signatureInvalid)
    #expect(endpoint.rejection([], body("\"100.00\"", "\"00\"")) == .signatureInvalid)
    #expect(endpoint.rejection([], body("\"100.00\"", "null")) == .signatureMissing)
    #expect(endpoint.rejection([], #"{"id":"p1","id":"p1"}"#) == .malformed)
    var empty = endpoint
    empty.secrets = [ProviderSecret("")]
    let bare = SignatureEncoding.hex.text(of: SignatureChecks.digest(of: Data("p1100.00".utf8), .sha512))
    #expect(empty.rejection([], body("\"100.00\"", "\"\(bare)\"")) == .signatureInvalid)
  }

  @Test("a token is compared in full after its prefix, and a request with a token counts as unsigned")
  func token() throws {
    let endpoint = try MappingTexts.endpoint("{scheme: token, header: Authorization, prefix: 'Apikey '}")
    #expect(endpoint.rejection([("Authorization", "Apikey a secret of the tests")]) == nil)
    #expect(endpoint.rejection([("Authorization", "Apikey a secret of the test")]) == .signatureInvalid)
    #expect(endpoint.rejection([("Authorization", "Apikey ")]) == .signatureInvalid)
    #expect(endpoint.rejection([("Authorization", "a secret of the tests")]) == .signatureMissing)
    #expect(endpoint.rejection([]) == .signatureMissing)
    #expect(endpoint.mapping?.isSigned == false)
    var empty = endpoint
    empty.secrets = [ProviderSecret("")]
    #expect(empty.rejection([("Authorization", "Apikey ")]) == .signatureInvalid)
  }

  @Test("a token that is the SHA-256 of the secret is accepted, also if the endpoint has only the SHA-256")
  func hashedToken() throws {
    var endpoint = try MappingTexts.endpoint("{scheme: token, header: Authorization, secret: sha256}")
    let digest = SignatureEncoding.hex.text(of: SignatureChecks.digest(of: MappingTexts.secret.bytes, .sha256))
    #expect(endpoint.rejection([("Authorization", digest)]) == nil)
    #expect(endpoint.rejection([("Authorization", digest.uppercased())]) == nil)
    #expect(endpoint.rejection([("Authorization", MappingTexts.secret.text)]) == .signatureInvalid)
    endpoint.secrets = [ProviderSecret(digest)]
    #expect(endpoint.rejection([("Authorization", digest)]) == nil)
    #expect(endpoint.rejection([("Authorization", "Bearer " + digest)]) == .signatureInvalid)
  }

  @Test("in the URL of a webhook, the mapping file's path suffix may come after the secret")
  func urlSecret() throws {
    let endpoint = try MappingTexts.endpoint("{scheme: url, query: token}", more: "path_suffix: /pix")
    #expect(endpoint.mapping?.pathSuffix == "/pix")
    let secret = "a%20secret%20of%20the%20tests"
    #expect(endpoint.rejection([], query: "token=\(secret)") == nil)
    #expect(endpoint.rejection([], query: "x=1&token=\(secret)/pix") == nil)
    #expect(endpoint.rejection([], query: "token=\(secret)/pix/pix") == .signatureInvalid)
    var slash = endpoint
    slash.secrets = [ProviderSecret("secret/pix")]
    #expect(slash.rejection([], query: "token=secret/pix") == nil)
    #expect(slash.rejection([], query: "token=secret/pix/pix") == nil)
    #expect(slash.rejection([], query: "token=secret") == .signatureInvalid)
    #expect(endpoint.rejection([], query: "token=") == .signatureInvalid)
    #expect(endpoint.rejection([], query: "token=\(secret)&token=\(secret)") == .headerRepeated)
    #expect(endpoint.rejection([], query: "token=%") == .signatureMissing)
    #expect(endpoint.rejection([]) == .signatureMissing)
  }

  @Test("a mapping file with the scheme 'none' accepts every request, and its requests count as unsigned")
  func none() throws {
    let endpoint = try MappingTexts.endpoint("{scheme: none}", secrets: [])
    #expect(endpoint.rejection([]) == nil)
    #expect(endpoint.mapping?.isSigned == false)
  }

  @Test("a request whose signature covers nothing of the body counts as unsigned")
  func uncovered() throws {
    let endpoint = try MappingTexts.endpoint(
      "{scheme: hmac, hash: sha256, encoding: hex, header: X-Sig, message: [query id]}")
    #expect(endpoint.mapping?.isSigned == false)
    #expect(endpoint.rejection([("X-Sig", code("7"))], query: "id=7") == nil)
  }

  @Test("a form in which a key occurs twice is refused, although the signature covers the whole form")
  func forms() throws {
    let endpoint = try MappingTexts.endpoint(MappingTexts.signed, more: "body: form")
    func rejection(_ body: String) -> ProviderRejection.Code? { endpoint.rejection([("X-Sig", code(body))], body) }
    #expect(rejection("id=1&sum=2&currency=EUR") == nil)
    #expect(rejection("id=1&sum=2&currency=EUR&sum=2") == .headerRepeated)
    #expect(rejection("id=1&sum=2&currency=EUR&s%75m=2") == .headerRepeated)
  }

  @Test("an unsigned ping is answered with success and announces nothing, and a ping with other fields is refused")
  func unsignedPing() throws {
    let endpoint = try MappingTexts.endpoint(MappingTexts.signed, more: "unsigned_ping: webhook_id")
    let ping = endpoint.judge(ProviderRequest(headers: [], body: Data("webhook_id=5".utf8)), at: MappingTexts.now)
    #expect(ping.rejection?.code == .probe && ping.outcomes.isEmpty)
    #expect(endpoint.answer(to: ping.verdict) == ProviderAnswer(status: 200))
    for body in ["webhook_id=5&x=1", "webhook_id=5&webhook_id=5", "id=5", "", MappingTexts.body] {
      #expect(endpoint.rejection([], body) == .signatureMissing)
    }
    #expect(endpoint.rejection([("X-Sig", "00")], "webhook_id=5") == .signatureInvalid)
    #expect(try MappingTexts.endpoint(MappingTexts.signed).rejection([], "webhook_id=5") == .signatureMissing)
  }

  @Test("a signature over parts of a form covers their decoded values")
  func formParts() throws {
    let endpoint = try MappingTexts.endpoint(
      "{scheme: digest, hash: sha512, encoding: base64, pointer: /sign, message: [/id, /sum, secret]}",
      payment: "{id: /id, amount: {major: /sum}, currency: {text: EUR}}", kinds: "[{when: {/id: p 1}, kind: refunded}]",
      more: "body: form")
    let request = ProviderRequest(headers: [], body: Data("id=p+1&sum=5&sign=SIGNATURE".utf8))
    let signed = try #require(endpoint.mapping?.signed(request, with: MappingTexts.secret, at: MappingTexts.now))
    let body = String(decoding: signed.body, as: UTF8.self)
    #expect(body.contains("%2B") || body.contains("%2F") || body.contains("%3D"))
    #expect(endpoint.rejection([], body) == nil)
    #expect(endpoint.rejection([], body.replacing("p+1", with: "p%201")) == nil)
    #expect(endpoint.rejection([], body.replacing("sum=5", with: "sum=6")) == .signatureInvalid)
    #expect(endpoint.rejection([], body + "&sum=5") == .headerRepeated)
    #expect(endpoint.rejection([], "id=%FF") == .malformed)
  }

  @Test("an endpoint without a mapping file rejects every request")
  func noMapping() {
    let endpoint = ProviderEndpoint(id: "till", provider: .mapping, account: "shop")
    #expect(endpoint.rejection([]) == .malformed)
  }

  @Test("RSA needs a readable key, and accepts a short key only if the mapping file allows short keys")
  func rsa() throws {
    let woovi = try ShippedMappings.file("woovi")
    let sample = try #require(woovi.mapping.samples.first)
    var endpoint = ProviderEndpoint(id: "till", provider: .mapping, account: "shop")
    endpoint.mapping = woovi.mapping
    #expect(endpoint.judge(sample.request, at: sample.now).rejection?.code == .keyUnknown)
    endpoint.publicKeys = ["a": "not a key"]
    #expect(endpoint.judge(sample.request, at: sample.now).rejection?.code == .keyUnknown)
    endpoint.publicKeys["b"] = sample.publicKey
    #expect(endpoint.judge(sample.request, at: sample.now).payments.count == 1)
    endpoint.mapping?.verification.allowsShortKeys = false
    #expect(endpoint.judge(sample.request, at: sample.now).rejection?.code == .keyUnknown)
  }
}
