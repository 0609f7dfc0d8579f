// SPDX-License-Identifier: Apache-2.0

private import Foundation
public import Ledger
public import Playback
private import SoundOutputTestSupport
public import Waveforms

/// A renderer that identifies each announcement by a tone. The pitch and the duration of the tone encode the
/// announcement's id, a whole number from 0.
public struct DistinctTones: Rendering {
  private let step: Int
  private let shortest: Int
  private let rate = 22_050

  /// - Parameters:
  ///   - step: The difference between the tones of two consecutive ids, in Hz.
  ///   - shortest: The duration of id 0 in ms. Each following id is 10 ms longer.
  public init(step: Int = 50, shortest: Int = 300) {
    self.step = step
    self.shortest = shortest
  }

  private func frequency(of id: Int) -> Double { Double(400 + step * id) }
  func milliseconds(of id: Int) -> Int { shortest + id * 10 }

  /// - Throws: A permanent `RenderFailure` for an id that is not a number.
  public func render(_ announcement: StoredAnnouncement) async throws -> RenderedSound {
    guard let id = Self.id(of: announcement) else { throw RenderFailure(code: "no_number", isPassing: false) }
    return RenderedSound(
      waveform: Tone.sine(frequency(of: id), milliseconds: milliseconds(of: id), rate: rate))
  }

  private struct Payload: Decodable { var id: String }

  /// A replay has its own id and the original's payload, so the id is read from the payload.
  private static func id(of announcement: StoredAnnouncement) -> Int? {
    guard announcement.isReplay else { return Int(announcement.id) }
    return (try? JSONDecoder().decode(Payload.self, from: announcement.payload)).flatMap { Int($0.id) }
  }

  /// The id whose tone stands for the word "again".
  public static let again = 8

  public func again(before replay: StoredAnnouncement) async throws -> Waveform {
    Tone.sine(frequency(of: Self.again), milliseconds: milliseconds(of: Self.again), rate: rate)
  }

  /// Returns the sounds in a recording, in order.
  ///
  /// - Parameter hole: The longest silence in ms that does not end a sound.
  public func heard(in samples: [Int16], rate: Int, hole: Int = 10) -> [HeardTone] {
    Tone.sounds(in: samples, gap: hole * rate / 1000).map { frames in
      let place = (Tone.frequency(of: samples[frames], rate: rate) - 400) / Double(step)
      let id = abs(place - place.rounded()) < 0.2 ? Int(place.rounded()) : nil
      return HeardTone(
        id: id, frames: frames, rate: rate, fullLength: id.map { milliseconds(of: $0) },
        peak: Int(samples[frames].map(\.magnitude).max() ?? 0))
    }
  }
}

/// A sound in a recording.
public struct HeardTone: Sendable {
  /// The id, or `nil` if the tone belongs to none.
  public let id: Int?
  let frames: Range<Int>
  let rate: Int

  /// The duration of the whole tone, in ms.
  let fullLength: Int?

  /// The largest absolute sample value.
  let peak: Int

  /// The duration in ms.
  public var length: Double { Double(frames.count) * 1000 / Double(rate) }

  /// The missing part of the tone in ms. Negative if the tone had gaps.
  public var missing: Double { fullLength.map { Double($0) - length } ?? .infinity }

  /// Whether exactly the whole tone was heard, to within 10 ms.
  public var isWhole: Bool { abs(missing) <= 10 }

  /// Whether the sound is louder than a single tone can be, which means that two overlapped.
  public var isMixed: Bool { peak > 16_384 * 11 / 10 }

  /// Returns the silence between two sounds, in ms.
  public func gap(to next: HeardTone) -> Double {
    Double(next.frames.lowerBound - frames.upperBound) * 1000 / Double(rate)
  }
}

extension [HeardTone] {
  /// The silences between consecutive sounds, in ms.
  public var gaps: [Double] { zip(self, dropFirst()).map { $0.gap(to: $1) } }
}
