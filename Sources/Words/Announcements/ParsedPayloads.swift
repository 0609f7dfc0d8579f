// SPDX-License-Identifier: Apache-2.0

#if CRIER_WATCHDOG
  import ConcurrencySupport

  /// Counts how often a payload is parsed, for the tests: a payment is parsed once, from its arrival to its end.
  package enum ParsedPayloads {
    private static let counts = Locked<[String: Int]>([:])

    /// Begins to count the payloads that contain a text.
    package static func watch(_ text: String) { counts.withLock { $0[text] = 0 } }

    /// The number of times that a payload with the text was parsed since ``watch(_:)``.
    package static func count(of text: String) -> Int { counts.withLock { $0[text, default: 0] } }

    static func note(_ bytes: [UInt8]) {
      counts.withLock { counts in
        guard !counts.isEmpty else { return }
        let payload = String(decoding: bytes, as: UTF8.self)
        for text in counts.keys where payload.contains(text) { counts[text, default: 0] += 1 }
      }
    }
  }
#endif
