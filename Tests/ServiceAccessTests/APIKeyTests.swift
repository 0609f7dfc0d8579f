// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import ServiceAccess
import Testing

/// A generator of the same numbers each time, for keys that a test knows.
struct CountingNumbers: RandomNumberGenerator {
  var state: UInt64 = 0

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return state ^ (state >> 29)
  }
}

@Suite("API keys")
struct APIKeyTests {
  @Test("a key consists of 'crier_', an id of 8 letters and digits, and 32 random bytes, and can be parsed again")
  func form() throws {
    let key = APIKey.make()
    #expect(key.text.wholeMatch(of: /crier_[0-9a-hjkmnp-tv-z]{8}_[A-Za-z0-9_-]{43}/) != nil)
    #expect(key.text.hasPrefix("crier_\(key.id)_"))
    let read = try APIKey(key.text)
    #expect(read == key && read.id == key.id && read.text == key.text)
  }

  @Test("keys differ from each other and use every character of the alphabet")
  func different() {
    let keys = (0..<2_000).map { _ in APIKey.make() }
    #expect(Set(keys.map(\.text)).count == 2_000)
    #expect(Set(keys.map(\.text.last)).count == 16, "the last character holds four bits")
    #expect(Set(keys.flatMap(\.id)) == Set("0123456789abcdefghjkmnpqrstvwxyz"))
    #expect(Set(keys.flatMap { $0.text.suffix(43) }).count == 64)
  }

  @Test("the same random numbers give the same key")
  func reproducible() {
    var (one, other) = (CountingNumbers(), CountingNumbers())
    #expect(APIKey.make(using: &one) == APIKey.make(using: &other))
    #expect(APIKey.make(using: &one) != APIKey.make(using: &one))
  }

  @Test("the digest of a key is the SHA-256 of the whole text, and differs for every key")
  func digest() throws {
    let key = APIKey.make()
    #expect(key.digest == Data(SHA256.hash(data: Data(key.text.utf8))) && key.digest.count == 32)
    #expect(key.hasDigest(key.digest))
    #expect(!key.hasDigest(APIKey.make().digest))
    for position in 0..<32 {
      var digest = key.digest
      digest[position] ^= 1
      #expect(!key.hasDigest(digest))
    }
    for digest in [Data(), key.digest.prefix(31), key.digest + [0]] { #expect(!key.hasDigest(digest)) }
    #expect(key.hasDigest((Data([1]) + key.digest).dropFirst()), "a part of other data, with its own indices")
  }

  @Test("a malformed key is refused, and the error does not contain the key")
  func malformed() {
    let secret = String(repeating: "A", count: 43)
    let texts = [
      "", "crier_", "crier_7d3k9q2m_", "7d3k9q2m_\(secret)", "crier_7d3k9q2m_\(secret.dropLast())",
      "crier_7d3k9q2m_\(secret)A", "crier_7d3k9q2m_\(secret)=", "CRIER_7d3k9q2m_\(secret)", "crier_7D3K9Q2M_\(secret)",
      "crier_7d3k9q2i_\(secret)", "crier_7d3k9q2l_\(secret)", "crier_7d3k9q2o_\(secret)", "crier_7d3k9q2u_\(secret)",
      "crier-7d3k9q2m_\(secret)", "crier_7d3k9q2m-\(secret)", "crier_7d3k9q2m_\(secret.dropLast())+",
      "crier_7d3k9q2m_\(secret.dropLast())/", "crier_7d3k9q2m_\(secret.dropLast())=",
      "crier_7d3k9q2m_\(secret.dropLast())B", " crier_7d3k9q2m_\(secret.dropLast())",
      "crier_7d3k9q2m_\(secret.dropLast())\n",
      "crier_7d3k9q2m_\(secret.dropLast(2))é", "crier_7d3k9q\u{E9}_\(secret)", "crier_7d3k9q2m_\(secret.dropLast())\0",
      String(repeating: "x", count: 1_000_000),
    ]
    for text in texts {
      let error = #expect(throws: AccessError.self, "\(text.prefix(80))") { try APIKey(text) }
      #expect(error?.code == .keyMalformed)
      #expect(error?.description.contains("has a typing error") == true)
      #expect(error?.description.hasSuffix("Copy the whole key.") == true)
      #expect(error.map { "\($0)".contains("7d3k") || "\($0)".contains("AAAA") } == false)
    }
  }

  @Test("a changed byte makes a key malformed or a different key")
  func mutations() throws {
    let key = APIKey.make()
    let bytes = Array(key.text.utf8)
    for position in bytes.indices {
      for value in UInt8.min...UInt8.max where value != bytes[position] {
        var changed = bytes
        changed[position] = value
        if let other = try? APIKey(String(decoding: changed, as: UTF8.self)) { #expect(other != key) }
      }
    }
  }

  @Test("printing a key in any way does not reveal its secret")
  func secrecy() {
    let key = APIKey.make()
    var dumped = ""
    dump([key: key], to: &dumped)
    for text in ["\(key)", "\([key])", String(reflecting: key), "\(Optional(key) as Any)", dumped] {
      #expect(text.contains(key.id) && !text.contains(key.text.suffix(43)))
    }
  }

  @Test("the id of a key is distinguished from other texts", arguments: ["7d3k9q2m", "00000000", "zzzzzzzz"])
  func ids(id: String) {
    #expect(APIKey.isID(id))
    for other in [id + "0", String(id.dropLast()), id.dropLast() + "u", id.dropLast() + "\u{301}", id.dropLast() + "_"]
    {
      #expect(!APIKey.isID(other))
    }
    #expect(!APIKey.isID(""))
  }
}

@Suite("The name of a key in the log")
struct LogNameTests {
  @Test(
    "the name of a key in the log is always the same, differs between keys, and reveals nothing of the key or its id")
  func name() {
    let (one, other) = (APIKey.make(), APIKey.make())
    let name = APIKey.logName(ofDigest: one.digest)
    #expect(name.wholeMatch(of: /[0-9a-f]{8}/) != nil)
    #expect(name == APIKey.logName(ofDigest: one.digest) && name != APIKey.logName(ofDigest: other.digest))
    #expect(name != one.id && !one.text.contains(name))
    #expect(!one.digest.map { String($0, radix: 16) }.joined().contains(name))
  }
}
