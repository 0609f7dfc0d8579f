// SPDX-License-Identifier: Apache-2.0

private import Foundation
public import Playback
private import SoundOutputTestSupport
public import Waveforms

/// For each announcement a tone that tells its id, a whole number from 0: by its pitch, and by its length.
public struct TellingTones: Rendering {
  private let step: Int
  private let shortest: Int
  private let rate = 22_050

  /// - Parameters:
  ///   - step: between the tones of two ids, in Hz.
  ///   - shortest: the length of id 0 in ms; each next one is 10 ms longer.
  public init(step: Int = 50, shortest: Int = 300) {
    self.step = step
    self.shortest = shortest
  }

  private func frequency(of id: Int) -> Double { Double(400 + step * id) }
  func milliseconds(of id: Int) -> Int { shortest + id * 10 }

  /// - Throws: `RenderFailure` that stays, for an id that is no number.
  public func render(_ announcement: StoredAnnouncement) async throws -> RenderedSound {
    guard let id = Self.id(of: announcement) else { throw RenderFailure(code: "no_number", isPassing: false) }
    return RenderedSound(
      waveform: Tone.sine(frequency(of: id), milliseconds: milliseconds(of: id), rate: rate))
  }

  private struct Payload: Decodable { var id: String }

  /// A replay has an id of its own, and its original's payload.
  private static func id(of announcement: StoredAnnouncement) -> Int? {
    guard announcement.isReplay else { return Int(announcement.id) }
    return (try? JSONDecoder().decode(Payload.self, from: announcement.payload)).flatMap { Int($0.id) }
  }

  /// The tone of the id that stands for "again".
  public static let again = 8

  public func again(before replay: StoredAnnouncement) async throws -> Waveform {
    Tone.sine(frequency(of: Self.again), milliseconds: milliseconds(of: Self.again), rate: rate)
  }

  /// The sounds of a recording, in the order in which they are heard.
  ///
  /// - Parameter hole: silence of so many ms does not end a sound.
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

/// A sound of a recording.
public struct HeardTone: Sendable {
  /// `nil` where it is the tone of none.
  public let id: Int?
  let frames: Range<Int>
  let rate: Int

  /// Of its tone, in ms.
  let fullLength: Int?

  /// The greatest sample.
  let peak: Int

  /// In ms.
  public var length: Double { Double(frames.count) * 1000 / Double(rate) }

  /// What is missing of its tone, in ms; below 0 where there were holes in it.
  public var missing: Double { fullLength.map { Double($0) - length } ?? .infinity }

  /// Whether the whole tone was heard, and nothing but it, to 10 ms.
  public var isWhole: Bool { abs(missing) <= 10 }

  /// Whether it is louder than one tone can be: two were heard at once.
  public var isMixed: Bool { peak > 16_384 * 11 / 10 }

  /// The silence between them, in ms.
  public func gap(to next: HeardTone) -> Double {
    Double(next.frames.lowerBound - frames.upperBound) * 1000 / Double(rate)
  }
}

extension [HeardTone] {
  /// Between neighbours, in ms.
  public var gaps: [Double] { zip(self, dropFirst()).map { $0.gap(to: $1) } }
}
