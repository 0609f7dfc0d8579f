// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import Hummingbird
import HummingbirdCore
import JSONSupport
import ServiceAccess
import VoicePacks

/// The routes `/v1/locales`, `/v1/voices` and `/v1/packs`, which list what can be spoken.
struct SpeakableRoutes: Sendable {
  let announcer: Announcer
  /// The announcer's voice packs. The service lists exactly the packs that the announcer uses.
  let shelf: VoicePackShelf

  private var phraseBooks: PhraseBooks { announcer.phraseBooks }

  /// The maximum number of missing tokens that are listed for a pack.
  static let mostMissing = 50

  var routes: [Route] {
    [
      .get("/v1/locales", .key(.read)) { _ in try ServiceJSON.response(.ok, Locales(locales: locales)) },
      .get("/v1/voices", .key(.read)) { _ in try ServiceJSON.response(.ok, Voices(voices: voices)) },
      .get("/v1/packs", .key(.read)) { _ in try ServiceJSON.response(.ok, Packs(packs: await packs())) },
    ]
  }

  private struct Locales: Encodable { var locales: [LocaleEntry] }
  private struct Voices: Encodable { var voices: [VoiceEntry] }
  private struct Packs: Encodable { var packs: [PackEntry] }

  private struct LocaleEntry: Encodable {
    var locale: String
    var voice: String
    var voices: [String]
    var rate: Int
    var channels: [String]
    var channelNames: [String: String]
    var currencies: [String]
    var packs: [String]

    enum CodingKeys: String, CodingKey {
      case locale, voice, voices, rate, channels, currencies, packs
      case channelNames = "channel_names"
    }
  }

  private struct VoiceEntry: Encodable {
    var voice: String
    var locale: String
    var isDefault: Bool

    enum CodingKeys: String, CodingKey {
      case voice, locale
      case isDefault = "is_default"
    }
  }

  private struct PackEntry: Encodable {
    struct Fault: Encodable {
      var code: String
      var message: String
    }
    var id: String
    @ExplicitNull var locale: String? = nil
    @ExplicitNull var speaker: String? = nil
    @ExplicitNull var licence: String? = nil
    @ExplicitNull var sampleRate: Int? = nil
    @ExplicitNull var clips: Int? = nil
    @ExplicitNull var tokens: Int? = nil
    @ExplicitNull var missingCount: Int? = nil
    var missing: [String] = []
    /// The reason why the pack speaks its locale; `nil` if it does not.
    @ExplicitNull var speaks: SpeakingPack.Reason? = nil
    @ExplicitNull var error: Fault? = nil

    enum CodingKeys: String, CodingKey {
      case id, locale, speaker, licence, clips, tokens, missing, speaks, error
      case sampleRate = "sample_rate"
      case missingCount = "missing_count"
    }
  }

  /// The script writers of all valid phrase books. `crier words` reports the faults of invalid phrase books.
  private var writers: [ScriptWriter] { phraseBooks.locales.compactMap { try? phraseBooks.writer(for: $0) } }

  private var locales: [LocaleEntry] {
    writers.map { writer in
      LocaleEntry(
        locale: writer.book.locale, voice: writer.book.voice, voices: writer.book.voices, rate: writer.book.rate,
        channels: writer.book.channels, channelNames: writer.book.channelNames,
        currencies: writer.bookCurrencies.map(\.code), packs: shelf.ids(for: writer.book.locale))
    }
  }

  private var voices: [VoiceEntry] {
    writers.flatMap { writer in
      [VoiceEntry(voice: writer.book.voice, locale: writer.book.locale, isDefault: true)]
        + writer.book.voices.filter { $0 != writer.book.voice }.map {
          VoiceEntry(voice: $0, locale: writer.book.locale, isDefault: false)
        }
    }
  }

  private func packs() async -> [PackEntry] {
    let states = await announcer.packStates()
    let speaking = await announcer.speakingPacks()
    return states.map { state in
      var entry = entry(state)
      entry.speaks = speaking.first { $0.id == state.id }?.reason
      return entry
    }
  }

  private func entry(_ state: PackState) -> PackEntry {
    do throws(VoicePackError) {
      // The announcer knows the faults of clips, which no manifest shows.
      if let fault = state.fault {
        return PackEntry(id: state.id, error: PackEntry.Fault(code: fault.code, message: fault.message))
      }
      return entry(try shelf.manifest(id: state.id))
    } catch {
      return PackEntry(id: state.id, error: PackEntry.Fault(code: error.code.rawValue, message: "\(error)"))
    }
  }

  private func entry(_ manifest: PackManifest) -> PackEntry {
    var entry = PackEntry(
      id: manifest.id, locale: manifest.locale, speaker: manifest.speaker, licence: manifest.licence,
      sampleRate: manifest.sampleRate, clips: manifest.clips.count, tokens: manifest.tokens.count)
    // These are the tokens that every announcement of the locale may need. The most useful tokens to record come first.
    if let vocabulary = try? phraseBooks.writer(for: manifest.locale).vocabulary() {
      let needed = vocabulary.blocks.filter(\.isRequired).flatMap(\.words).map(\.token)
      let missing = needed.filter { manifest.tokens[$0] == nil }
      entry.missingCount = missing.count
      entry.missing = Array(missing.prefix(Self.mostMissing))
    }
    return entry
  }
}
