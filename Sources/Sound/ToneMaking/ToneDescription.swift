// SPDX-License-Identifier: Apache-2.0

/// The description of a tone: struck notes of one instrument. `Tones/<name>.json` has this form.
///
/// Each note starts all partials of the instrument. A partial is a sine wave that falls from its level at a steady
/// rate, like the sound of a struck bar or bell.
public struct ToneDescription: Codable, Sendable, Hashable {
  /// A sine wave of the instrument.
  public struct Partial: Codable, Sendable, Hashable {
    /// The frequency as a multiple of the note's frequency, 0.1 to 20.
    public var ratio: Double
    /// The amplitude at the start, above 0 and at most 1.
    public var level: Double
    /// The time in ms in which the partial falls by 60 dB, 10 to 10,000.
    public var decayMilliseconds: Double

    enum CodingKeys: String, CodingKey {
      case ratio, level
      case decayMilliseconds = "decay_ms"
    }
  }

  /// A stroke of the instrument.
  public struct Note: Codable, Sendable, Hashable {
    /// The time from the start of the tone in ms.
    public var startMilliseconds: Int
    /// The length of the note in ms, including its attack and release.
    public var lengthMilliseconds: Int
    /// The frequency in Hz, 50 to 10,000.
    public var hertz: Double
    /// The amplitude, above 0 and at most 1.
    public var level: Double

    enum CodingKeys: String, CodingKey {
      case hertz, level
      case startMilliseconds = "start_ms"
      case lengthMilliseconds = "length_ms"
    }

    var endMilliseconds: Int { startMilliseconds + lengthMilliseconds }
  }

  /// A short text for people, such as `Two strokes of a shop bell`.
  public var title: String
  /// The time in ms in which each note rises from silence, 1 to 100.
  public var attackMilliseconds: Int
  /// The time in ms in which each note falls to silence at its end, 5 to 500.
  public var releaseMilliseconds: Int
  public var partials: [Partial]
  public var notes: [Note]

  enum CodingKeys: String, CodingKey {
    case title, partials, notes
    case attackMilliseconds = "attack_ms"
    case releaseMilliseconds = "release_ms"
  }

  /// The latest end of a note in ms. Mastering leaves 30 ms of silence at each end, so a tone lasts at most 2 s.
  public static let latestEndMilliseconds = 1_940
  /// The highest frequency of a partial in Hz.
  public static let highestHertz = 10_000.0
  /// The largest number of partials, and also of notes.
  public static let mostParts = 16

  /// Returns the first fault of the description as a sentence without a full stop; nil if it has no fault.
  var fault: String? {
    func inRange(_ value: Double, _ range: ClosedRange<Double>, _ name: String) -> String? {
      range.contains(value) ? nil : "\(name) must be \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))"
    }
    func isLevel(_ value: Double, _ name: String) -> String? {
      value > 0 && value <= 1 ? nil : "\(name) must be above 0 and at most 1"
    }
    guard !title.isEmpty, title.unicodeScalars.count <= 80,
      !title.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { return "title must have 1 to 80 characters without control characters" }
    for (count, name) in [(partials.count, "partials"), (notes.count, "notes")] {
      guard (1...Self.mostParts).contains(count) else { return "\(name) must have 1 to \(Self.mostParts) items" }
    }
    if let fault = inRange(Double(attackMilliseconds), 1...100, "attack_ms")
      ?? inRange(Double(releaseMilliseconds), 5...500, "release_ms")
    {
      return fault
    }
    for (index, partial) in partials.enumerated() {
      let name = "partials[\(index)]"
      if let fault = inRange(partial.ratio, 0.1...20, "\(name).ratio") ?? isLevel(partial.level, "\(name).level")
        ?? inRange(partial.decayMilliseconds, 10...10_000, "\(name).decay_ms")
      {
        return fault
      }
    }
    for (index, note) in notes.enumerated() {
      let name = "notes[\(index)]"
      let shortest = attackMilliseconds + releaseMilliseconds
      if let fault = inRange(note.hertz, 50...Self.highestHertz, "\(name).hertz")
        ?? isLevel(note.level, "\(name).level")
        ?? inRange(Double(note.startMilliseconds), 0...Double(Self.latestEndMilliseconds), "\(name).start_ms")
        ?? inRange(
          Double(note.lengthMilliseconds), Double(shortest)...Double(Self.latestEndMilliseconds),
          "\(name).length_ms")
      {
        return fault
      }
      guard note.endMilliseconds <= Self.latestEndMilliseconds else {
        return "\(name) must end at \(Self.latestEndMilliseconds) ms or earlier"
      }
      guard partials.allSatisfy({ $0.ratio * note.hertz <= Self.highestHertz }) else {
        return "\(name).hertz times the ratio of each partial must be at most \(Self.text(Self.highestHertz))"
      }
    }
    return nil
  }

  private static func text(_ number: Double) -> String {
    number == number.rounded() ? "\(Int(number))" : "\(number)"
  }
}
