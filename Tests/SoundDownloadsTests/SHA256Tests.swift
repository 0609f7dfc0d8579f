// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import SoundDownloads

@Suite("SHA-256")
struct SHA256Tests {
  @Test("the digest of every length around the block size is that of swift-crypto")
  func everyLength() {
    for count in [Array(0...260), [1000, 4095, 4096, 100_000]].joined() {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) }
      let expected = Crypto.SHA256.hash(data: bytes).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      #expect(SoundDownloads.SHA256.hexadecimalDigest(of: bytes) == expected.joined())
    }
  }
}
