// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SoundOutputs

@Suite struct DeviceFormatTests {
  private let samples: [Int16] = [1, -2, .max, .min]

  private func encode(_ encoding: DeviceFormat.Encoding, channels: Int) -> [UInt8] {
    DeviceFormat(encoding: encoding, channels: channels, rate: 48_000, bufferFrames: 9600, periodFrames: 1200)
      .encode(samples[...])
  }

  @Test("16-bit samples stay unchanged for a device with 16 bits")
  func signed16() {
    #expect(encode(.signed16, channels: 1) == [1, 0, 0xFE, 0xFF, 0xFF, 0x7F, 0, 0x80])
  }

  @Test("each channel of a device gets the same sample")
  func channels() {
    #expect(
      encode(.signed16, channels: 2) == [1, 0, 1, 0, 0xFE, 0xFF, 0xFE, 0xFF, 0xFF, 0x7F, 0xFF, 0x7F, 0, 0x80, 0, 0x80])
    #expect(encode(.float32, channels: 6).count == 4 * 6 * 4)
  }

  @Test("a device with 32-bit samples gets the value in the upper half")
  func signed32() {
    #expect(encode(.signed32, channels: 1) == [0, 0, 1, 0, 0, 0, 0xFE, 0xFF, 0, 0, 0xFF, 0x7F, 0, 0, 0, 0x80])
  }

  @Test("a device with float samples gets values from −1 to 1, without rounding")
  func float32() {
    let values: [Float] = [1 / 32_768, -2 / 32_768, 32_767 / 32_768, -1]
    let bytes = values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> ($0 * 8)) } }
    #expect(encode(.float32, channels: 1) == bytes)
  }
}
