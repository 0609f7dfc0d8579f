// SPDX-License-Identifier: Apache-2.0

#if canImport(CryptoKit)
  import CryptoKit

  /// SHA-256 by Apple's CryptoKit, which uses the SHA instructions of the processor.
  struct SHA256Function: Sendable {
    private var hash = SHA256()

    mutating func add(_ bytes: [UInt8]) { hash.update(data: bytes) }

    /// Returns the 32 bytes of the digest. More bytes can be added afterwards.
    func digest() -> [UInt8] { Array(hash.finalize()) }
  }
#endif
