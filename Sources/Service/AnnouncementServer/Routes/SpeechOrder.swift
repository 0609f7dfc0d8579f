// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import HTTPTypes
import SoundFiles
import SpeechServers

/// The voices, besides those of the engine, that a request may name.
struct NamedVoices: Sendable, Equatable {
  /// The locales of voice packs, by id. The locale of a broken pack is nil.
  var packs: [String: String?] = [:]
  /// Speech servers, by id.
  var servers: [String: SpeechServer] = [:]
}

/// The order that results from a ``SpeechRequest``: a text, who speaks it, in which language, and how fast.
struct SpeechOrder: Sendable, Equatable {
  /// The names of OpenAI's voices. Each name stands for the voice that speaks the locale if the request names no voice.
  static let namesOfOthers: Set<String> = [
    "alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse",
  ]

  var announcement: Announcement
  var options: RenderOptions

  /// Decides who speaks.
  ///
  /// The name of a voice is, in this order: a voice of espeak-ng, the id of a voice pack, the id of a speech server, a
  /// locale, or one of ``namesOfOthers``. If the request names no locale, the locale of its key applies. If the voice
  /// does not speak the key's locale, the voice's own locale applies.
  ///
  /// - Parameters:
  ///   - defaults: The defaults of the sender's key.
  ///   - base: The options with the service's own locale.
  /// - Throws: ``Problem`` for an unknown voice and for a speed that the voice does not have; `AnnouncementError` for a
  ///   locale without a phrase book.
  init(
    _ request: SpeechRequest, defaults: AnnouncementRequest.Defaults, base: RenderOptions, books: PhraseBooks,
    voices: NamedVoices
  ) throws {
    let usual = defaults.locale ?? base.defaultLocale
    let book = try books.book(for: request.locale ?? usual)
    var (locale, options) = (request.locale, AnnouncementRequest.Options())
    var isFixedPace = false
    if let name = request.voice {
      switch try Speaker(name, asked: request.locale, book: book, books: books, voices: voices) {
      case .engine(let own):
        options.voice = name
        locale = locale ?? own
      case .pack(let own):
        (options.pack, isFixedPace) = (name, true)
        locale = locale ?? own
      case .server(let own):
        (options.voice, isFixedPace) = (name, true)
        locale = locale ?? own
      case .usual(let own): locale = locale ?? own
      }
    }
    if request.speed != 1 {
      guard !isFixedPace else {
        throw Problem(
          .unprocessableContent, "fields_conflict",
          "speed: cannot be used with this voice, which has its own pace; leave speed out, or name another voice.")
      }
      options.rate = Self.rate(try books.book(for: locale ?? usual).rate, by: request.speed)
    }
    if request.format == .pcm { options.sampleRate = Self.rateOfBareSamples }
    announcement = .text(request.input, locale: locale)
    self.options = try RenderOptions(options, defaults: defaults, base: base)
  }

  /// The sample rate of sounds without a header, in Hz. Programs expect the rate that OpenAI uses.
  static let rateOfBareSamples = 24_000

  /// Returns a rate in words a minute, within the rates of the engine.
  private static func rate(_ usual: Int, by speed: Decimal) -> Int {
    var exact = speed * Decimal(usual)
    var rounded = Decimal()
    NSDecimalRound(&rounded, &exact, 0, .plain)
    let rates = RenderOptions.rates
    return min(max(Int(rounded.description) ?? usual, rates.lowerBound), rates.upperBound)
  }

  /// The speaker that the name of a voice stands for, with the locale that applies if the request names no locale. A
  /// nil locale stands for the locale of the key.
  private enum Speaker {
    case engine(String?)
    case pack(String?)
    case server(String?)
    case usual(String?)

    /// - Parameters:
    ///   - asked: The locale that the request names.
    ///   - book: The phrase book of the requested locale, or else of the key's locale.
    init(_ name: String, asked: String?, book: PhraseBook, books: PhraseBooks, voices: NamedVoices) throws {
      if book.isReadable(by: name) {
        self = .engine(nil)
      } else if asked == nil, let own = Self.locale(ofVoice: name, books) {
        self = .engine(own)
      } else if let own = voices.packs[name] {
        self = .pack(own)
      } else if let server = voices.servers[name] {
        self = .server(server.speaks(book.locale) ? nil : server.locales.first)
      } else if let own = try? books.book(for: name) {
        // The name is kept as it was sent, because it also says how the text is spoken in a region without a book of
        // its own.
        guard asked == nil || own.locale == book.locale else {
          throw Problem(
            .unprocessableContent, "fields_conflict", "voice and locale: stand for two locales; leave one of them out.")
        }
        self = .usual(name)
      } else if SpeechOrder.namesOfOthers.contains(name.lowercased()) {
        self = .usual(nil)
      } else {
        throw Problem.fieldInvalid(
          "voice: is not known here; give a voice of GET /v1/voices, a pack of GET /v1/packs, a locale such as "
            + "\(book.locale), or 'alloy' for the usual voice.")
      }
    }

    /// Returns the locale whose words a voice of espeak-ng reads; nil if there is none. Several locales may have the
    /// same voice: `en` reads all kinds of English, and `id` also Filipino.
    private static func locale(ofVoice name: String, _ books: PhraseBooks) -> String? {
      if let own = try? books.book(for: name), own.isReadable(by: name) { return own.locale }
      let readable = books.locales.compactMap { try? books.book(for: $0) }.filter { $0.isReadable(by: name) }
      let usual = readable.first { $0.voice?.prefix { $0 != "+" } == name.prefix { $0 != "+" } }
      return (usual ?? readable.first)?.locale
    }
  }
}
