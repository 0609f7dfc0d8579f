// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import ServiceAccess
import Testing

@Suite("Fingerprints of nodes")
struct NodeFingerprintsTests {
  @Test("two nodes with the same secret have the same fingerprint of the same content")
  func same() throws {
    let texts = try (0..<2).map { _ in
      try NodeFingerprints(secret: Data(0..<32)).text(of: "lexicon", Data("a".utf8))
    }
    #expect(texts[0] == texts[1])
    #expect(texts[0].wholeMatch(of: /[A-Za-z0-9_-]{16}/) != nil)
  }

  @Test("another secret, another thing and another content have other fingerprints")
  func different() throws {
    let fingerprints = try NodeFingerprints(secret: Data(0..<32))
    let texts = [
      fingerprints.text(of: "lexicon", Data("a".utf8)), fingerprints.text(of: "lexicon", Data("b".utf8)),
      fingerprints.text(of: "lexicon", Data()), fingerprints.text(of: "lexicona", Data()),
      fingerprints.text(of: "packs", Data("a".utf8)),
      try NodeFingerprints(secret: Data(1..<33)).text(of: "lexicon", Data("a".utf8)),
    ]
    #expect(Set(texts).count == texts.count)
  }

  @Test("a fingerprint is neither a digest of the content nor a code with the secret itself")
  func keyed() throws {
    let content = Data("hunter2".utf8)
    let text = try NodeFingerprints(secret: Data(0..<32)).text(of: "providers", content)
    let digests = [
      Data(SHA256.hash(data: content)),
      Data(HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: Data(0..<32)))),
    ]
    for digest in digests { #expect(!digest.base64EncodedString().hasPrefix(text.prefix(8))) }
  }

  @Test("a secret that is too short is refused", arguments: [0, 1, 31])
  func short(count: Int) {
    #expect(throws: AccessError.self) { try NodeFingerprints(secret: Data(count: count)) }
  }
}
