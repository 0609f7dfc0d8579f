// SPDX-License-Identifier: Apache-2.0

import Foundation
import Resampling
import Testing

@Suite struct ResamplerTests {
  private func sine(_ frequency: Double, rate: Int, amplitude: Double) -> [Int16] {
    (0..<rate).map { Int16((amplitude * sin(2 * .pi * frequency * Double($0) / Double(rate))).rounded()) }
  }

  @Test("resampling to the same rate leaves the samples unchanged")
  func sameRate() throws {
    let samples: [Int16] = [0, 1, -1, .max, .min]
    #expect(try Resampler.convert(samples, from: 22_050, to: 22_050) == samples)
  }

  @Test(
    "a resampled tone keeps its duration, its pitch and its position",
    arguments: [(22_050, 48_000), (22_050, 44_100), (48_000, 22_050), (44_100, 8_000), (22_050, 192_000)])
  func tone(source: Int, target: Int) throws {
    let converted = try Resampler.convert(sine(1000, rate: source, amplitude: 16_000), from: source, to: target)
    #expect(abs(converted.count - target) <= 1)
    let expected = sine(1000, rate: target, amplitude: 16_000)
    // The filter sees silence before and after the sound; the middle part is exact.
    let differences = zip(converted, expected).map { abs(Int($0) - Int($1)) }
    #expect((differences.dropFirst(target / 20).dropLast(target / 20).max() ?? .max) <= 2)
  }

  @Test("a tone above the range of the new sample rate is reduced by 90 dB and causes no alias")
  func dropsWhatCannotBeHeld() throws {
    var resampler = try Resampler(from: 48_000, to: 22_050)
    let tone = sine(15_000, rate: 48_000, amplitude: 16_000).map(Float.init)
    let converted = try resampler.next(tone) + resampler.finish()
    let middle = converted[2_205..<19_845]
    let energy = middle.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(middle.count)
    #expect(20 * log10((2 * energy).squareRoot() / 16_000) < -90)
  }

  @Test("resampled samples at full scale do not wrap around")
  func fullScale() throws {
    let square = (0..<22_050).map { $0 / 25 % 2 == 0 ? Int16.max : Int16.min }
    let converted = try Resampler.convert(square, from: 22_050, to: 48_000)
    // A wrapped value would be next to one of the other sign, far from any zero crossing.
    let jumps = zip(converted, converted.dropFirst()).count { abs(Int($0) - Int($1)) > 40_000 }
    #expect(jumps == 0)
  }

  @Test("resampling in pieces gives the same result as resampling at once")
  func pieces() throws {
    let samples = sine(440, rate: 22_050, amplitude: 12_000).map(Float.init)
    var whole = try Resampler(from: 22_050, to: 48_000)
    var one = try whole.next(samples)
    one += try whole.finish()
    var pieces = try Resampler(from: 22_050, to: 48_000)
    var many: [Float] = []
    for start in stride(from: 0, to: samples.count, by: 777) {
      many += try pieces.next(Array(samples[start..<min(start + 777, samples.count)]))
    }
    many += try pieces.finish()
    #expect(one == many)
  }

  @Test("resampling an empty input gives an empty output")
  func empty() throws {
    #expect(try Resampler.convert([], from: 22_050, to: 48_000).isEmpty)
  }

  @Test(
    "the error for an unsupported sample rate names the rate",
    arguments: [(0, 48_000), (999, 48_000), (48_000, 768_001)])
  func refused(source: Int, target: Int) {
    let error = #expect(throws: ResamplingError.self) { try Resampler.convert([1], from: source, to: target) }
    #expect(error?.code == .unsupportedRate)
    #expect(
      error?.description == "The sample rate cannot be converted: from \(source) Hz to \(target) Hz; use rates of "
        + "1000 to 768000 Hz.")
  }
}
