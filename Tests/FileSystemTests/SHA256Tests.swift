// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import FileSystem

@Suite("SHA-256")
struct SHA256Tests {
  @Test("the SHA-256 digests of texts around the block size equal those of swift-crypto")
  func everyLength() {
    for count in [Array(0...260), [1000, 4095, 4096, 100_000]].joined() {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) }
      let expected = SHA256.hash(data: bytes).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      #expect(IncrementalSHA256.hexadecimalDigest(of: bytes) == expected.joined())
    }
  }

  @Test("the SHA-256 digest of bytes in pieces equals the digest of all bytes, wherever they are divided")
  func pieces() {
    let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 11) }
    let expected = IncrementalSHA256.hexadecimalDigest(of: bytes)
    for size in [1, 7, 63, 64, 65, 128, 299, 300] {
      var digest = IncrementalSHA256()
      for start in stride(from: 0, to: bytes.count, by: size) {
        digest.add(bytes[start..<min(start + size, bytes.count)])
      }
      #expect(digest.hexadecimalDigest() == expected, "pieces of \(size)")
    }
  }

  @Test("bytes can be added to a SHA-256 computation after its digest was read")
  func goesOn() {
    var digest = IncrementalSHA256()
    digest.add([1, 2, 3])
    #expect(digest.hexadecimalDigest() == IncrementalSHA256.hexadecimalDigest(of: [1, 2, 3]))
    digest.add([4])
    #expect(digest.hexadecimalDigest() == IncrementalSHA256.hexadecimalDigest(of: [1, 2, 3, 4]))
  }

  @Test("the SHA-256 digests of no bytes and of \"abc\" equal those of FIPS 180-4")
  func knownDigests() {
    #expect(
      IncrementalSHA256.hexadecimalDigest(of: [])
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      IncrementalSHA256.hexadecimalDigest(of: "abc".utf8)
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test("only a text of 64 lower-case hexadecimal digits is accepted as a digest")
  func digestForm() {
    let digest = String(repeating: "0a", count: 32)
    #expect(IncrementalSHA256.isHexadecimalDigest(digest))
    for text in ["", String(digest.dropLast()), digest + "0", digest.uppercased(), String(repeating: "٣", count: 32)] {
      #expect(!IncrementalSHA256.isHexadecimalDigest(text))
    }
  }
}
