// SPDX-License-Identifier: Apache-2.0

/// The format that a device has accepted.
struct DeviceFormat: Sendable, Hashable {
  /// The sample encoding, in the machine's byte order.
  enum Encoding: Sendable, Hashable, CaseIterable {
    case signed16
    case signed32
    /// Floats from −1 to 1.
    case float32

    var bytesPerSample: Int { self == .signed16 ? 2 : 4 }
  }

  var encoding: Encoding
  var channels: Int

  /// The rate in Hz.
  var rate: Int

  var bufferFrames: Int
  var periodFrames: Int

  var bytesPerFrame: Int { channels * encoding.bytesPerSample }

  /// Returns mono samples as frames for the device, with the same sample in every channel.
  func encode(_ samples: ArraySlice<Int16>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(samples.count * bytesPerFrame)
    for sample in samples {
      switch encoding {
      case .signed16: append(sample, to: &bytes)
      case .signed32: append(Int32(sample) << 16, to: &bytes)
      case .float32: append((Float(sample) / 32_768).bitPattern, to: &bytes)
      }
    }
    return bytes
  }

  private func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for _ in 0..<channels {
      // unsafe: the closure only reads the bytes of an integer on the stack.
      unsafe withUnsafeBytes(of: value) { unsafe bytes.append(contentsOf: $0) }
    }
  }
}
