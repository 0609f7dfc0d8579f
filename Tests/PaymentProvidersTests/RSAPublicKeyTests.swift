// SPDX-License-Identifier: Apache-2.0

import PaymentProviders
import Testing

@Suite("Public RSA keys")
struct RSAPublicKeyTests {
  @Test("an RSA key of 2,048 bits is read from PEM, from bare base64 and from a certificate")
  func long() throws {
    let key = try RSATestKey.shared()
    for text in [key.pem, key.base64, try key.certificate()] {
      let read = try #require(RSAPublicKey(text))
      #expect(!read.isShort)
    }
  }

  @Test("an RSA key of fewer than 2,048 bits is read only where short keys are allowed, and is marked as short")
  func short() throws {
    let key = try RSATestKey(bits: 1_024)
    #expect(RSAPublicKey(try key.certificate(), allowsShortKeys: true) == nil)
    for text in [key.pem, key.base64] {
      #expect(RSAPublicKey(text) == nil)
      let read = try #require(RSAPublicKey(text, allowsShortKeys: true))
      #expect(read.isShort)
    }
  }
}
