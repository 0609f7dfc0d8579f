// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import HTTPTypes
import SoundFiles

/// A request in the shape of OpenAI's `POST /v1/audio/speech`, as it was sent. It decides nothing about voices; see
/// ``SpeechOrder``.
struct SpeechRequest: Sendable, Equatable {
  /// The maximum number of characters of the input, as at OpenAI.
  static let longestInput = 4_096
  /// The maximum number of characters of the name of a voice, and of a locale, as in announcements.
  static let longestName = 64
  /// The allowed factors of the speaking rate, as at OpenAI.
  static let speeds = Decimal(sign: .plus, exponent: -2, significand: 25)...4
  static let keys = [
    "model", "input", "voice", "response_format", "speed", "instructions", "stream_format", "locale",
  ]

  /// The text to be spoken. It contains more than white space.
  var input: String
  /// The name of the voice; nil if none was given.
  var voice: String?
  /// The locale of the text; nil if none was given.
  var locale: String?
  /// The factor of the voice's usual speaking rate.
  var speed: Decimal
  var format: SpokenFormat

  /// Reads the body of a request. `model` and `instructions` have no effect: they are only checked.
  ///
  /// - Parameter writable: The formats that can be written.
  /// - Throws: ``Problem`` for a key that is unknown or has a wrong value; `AnnouncementError` if the body is not
  ///   strict JSON, or if the input is blank or too long.
  init(_ body: Data, writable: [SpokenFormat] = SpokenFormat.writable) throws {
    let fields = try JSONFields(body, keys: Self.keys)
    let text = "give the text to be spoken, a string of at most \(Self.longestInput) characters"
    let input = try fields.required("input", try fields.string("input", text), text)
    guard Self.isShort(input, Self.longestInput) else { throw fields.invalid("input", text) }
    guard !input.unicodeScalars.allSatisfy(\.properties.isWhitespace) else {
      throw AnnouncementError(.nothingToSay, "input", "is empty", remedy: "give a text to be spoken")
    }
    // No voice says more characters than this in less than 30 s, so a longer text is refused before its words are
    // written.
    guard Self.isShort(input, Announcement.longestText) else {
      throw AnnouncerError(
        .tooLong, "input", "has more than \(Announcement.longestText) characters",
        remedy: "shorten the text, or divide it: a sound must be shorter than 30 s")
    }
    self.input = input
    for key in ["model", "instructions"] { _ = try fields.string(key, "give a string, or leave it out") }
    voice = try Self.voice(fields)
    let locales = "give a locale that GET /v1/locales lists"
    locale = try fields.text("locale", locales) { Self.isShort($0, Self.longestName) }
    let speeds = "give a number from 0.25 to 4.0"
    speed = try fields.decimal("speed", speeds) ?? 1
    guard Self.speeds.contains(speed) else { throw fields.invalid("speed", speeds) }
    let whole = "give audio, or leave it out: a sound is sent as a whole"
    guard ["audio", nil].contains(try fields.string("stream_format", whole)) else {
      throw fields.invalid("stream_format", whole)
    }
    format = try Self.format(fields, writable)
  }

  private static func isShort(_ text: String, _ limit: Int) -> Bool {
    // A scalar has at most four bytes, so the scalars of a much longer text need not be counted.
    text.utf8.count <= 4 * limit && text.unicodeScalars.count <= limit
  }

  /// Returns the name of the voice. It is a string, or an object with the string `id`.
  private static func voice(_ fields: JSONFields) throws(Problem) -> String? {
    let remedy = "give the name of a voice, a string of 1 to \(longestName) characters"
    let id: String?
    if fields.isObject("voice") {
      let object = try fields.object("voice", keys: ["id"], remedy)
      id = try object.map { object throws(Problem) in try object.required("id", try object.string("id", remedy), remedy)
      }
    } else {
      id = try fields.string("voice", remedy)
    }
    guard let id else { return nil }
    guard !id.isEmpty, isShort(id, longestName) else { throw fields.invalid("voice", remedy) }
    return id
  }

  private static func format(_ fields: JSONFields, _ writable: [SpokenFormat]) throws(Problem) -> SpokenFormat {
    let choices = "give one of " + writable.map(\.rawValue).joined(separator: ", ")
    let name = try fields.string("response_format", choices)
    guard let format = SpokenFormat(rawValue: name ?? SpokenFormat.mp3.rawValue), writable.contains(format) else {
      guard name == nil else { throw fields.invalid("response_format", choices) }
      throw Problem(
        .unprocessableContent, "field_missing",
        "response_format: is missing, and its default mp3 cannot be written here; \(choices).")
    }
    return format
  }
}
