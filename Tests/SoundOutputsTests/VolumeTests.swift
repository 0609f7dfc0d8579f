// SPDX-License-Identifier: Apache-2.0

import SoundOutputs
import Testing

@Suite struct VolumeTests {
  private let samples: [Int16] = [.min, -20_000, -1, 0, 1, 20_000, .max]

  @Test("a volume of 100 % leaves every sample unchanged")
  func full() {
    #expect(Volume.full.applied(to: samples) == samples)
    #expect(Volume(percent: 100) == .full)
  }

  @Test("a volume of 0 % is silence")
  func silent() {
    #expect(Volume.silent.applied(to: samples) == Array(repeating: 0, count: samples.count))
  }

  @Test("the amplitude is the cube of the volume, and samples are rounded to the nearest value, halves away from zero")
  func cube() throws {
    let half = try #require(Volume(percent: 50))
    #expect(half.applied(to: [.min, -4, -3, 0, 3, 4, 12, 16_000]) == [-4096, -1, 0, 0, 0, 1, 2, 2000])
    let tenth = try #require(Volume(percent: 10))
    #expect(tenth.applied(to: [.max, .min]) == [33, -33])
  }

  @Test("a higher volume is never quieter")
  func monotonic() throws {
    let volumes = try (0...100).map { try #require(Volume(percent: $0)) }
    #expect(volumes == volumes.sorted())
    let loudest = volumes.map { $0.applied(to: [.max])[0] }
    #expect(loudest == loudest.sorted())
    #expect(Set(loudest.suffix(90)).count == 90)
  }

  @Test("a volume outside 0...100 % is refused", arguments: [-1, 101, .max, .min])
  func outside(percent: Int) {
    #expect(Volume(percent: percent) == nil)
  }
}
