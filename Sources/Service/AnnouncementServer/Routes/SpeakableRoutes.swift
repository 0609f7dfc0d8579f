// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ConcurrencySupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import ServiceAccess
import SpeechServers
import TextFormats
import VoicePackIntegrity
import VoicePackMaking
import VoicePacks

/// The routes `/v1/locales`, `/v1/voices` and `/v1/packs`, which list what can be spoken, and choose who speaks.
struct SpeakableRoutes: Sendable {
  let announcer: Announcer
  /// The announcer's voice packs. The service lists exactly the packs that the announcer uses.
  let shelf: VoicePackShelf
  /// Chooses the pack that speaks a locale, or forgets the choice.
  let choosePack: @Sendable (_ id: String?, _ locale: String) throws -> Void
  /// The packs under construction.
  let clips: PackClips
  let keys: KeyRing
  let administration: AdministrationLog

  /// The tokens that each pack lacks; nil for a pack whose locale has no vocabulary.
  let missing = PackValues<[String]?>()

  private var phraseBooks: PhraseBooks { announcer.phraseBooks }

  /// The maximum number of missing tokens that are listed for a pack.
  static let mostMissing = 50

  var routes: [Route] {
    [
      .get("/v1/locales", .key(.read)) { _ in try ServiceJSON.response(.ok, ["locales": locales]) },
      .put("/v1/locales/{locale}/voice", .key(.operate), chooseVoice),
      .get("/v1/voices", .key(.read)) { _ in try ServiceJSON.response(.ok, ["voices": voices]) },
      .get("/v1/packs", .key(.read)) { _ in
        try ServiceJSON.response(.ok, Packs(packs: try await packs(), drafts: await clips.draftLines()))
      },
    ]
  }

  private struct Packs: Encodable {
    var packs: [PackEntry]
    var drafts: [PackClips.DraftLine]
  }

  private struct LocaleEntry: Encodable {
    var locale: String
    /// `nil` for a language that only recordings can speak.
    @ExplicitNull var voice: String?
    var voices: [String]
    var rate: Int
    var channels: [String]
    var channelNames: [String: String]
    var currencies: [String]
    var packs: [String]
  }

  private struct VoiceEntry: Encodable {
    var voice: String
    var locale: String
    var isDefault: Bool
    /// `nil` for a voice of the engine.
    @ExplicitNull var speechServer: SpeechServerEntry? = nil
  }

  /// The state of a speech server, and the latest verdict on its voice.
  private struct SpeechServerEntry: Encodable {
    var state: String
    /// Whether the settings let the voice say amounts; `nil` if its test decides.
    @ExplicitNull var amounts: Bool?
    /// The identity of the voice that the server uses now; `nil` if it is not known.
    @ExplicitNull var identity: String?
    @ExplicitNull var verdict: SpeechServerVerdict?
  }

  private struct PackEntry: Encodable {
    var id: String
    @ExplicitNull var locale: String? = nil
    @ExplicitNull var speaker: String? = nil
    @ExplicitNull var licence: String? = nil
    /// The tested speech server that made the pack; `nil` if no speech server made it.
    @ExplicitNull var speechServer: String? = nil
    @ExplicitNull var sampleRate: Int? = nil
    @ExplicitNull var clips: Int? = nil
    @ExplicitNull var tokens: Int? = nil
    @ExplicitNull var missingCount: Int? = nil
    var missing: [String] = []
    /// The reason why the pack speaks its locale; `nil` if it does not.
    @ExplicitNull var speaks: SpeakingPack.Reason? = nil
    @ExplicitNull var error: ErrorReport? = nil
  }

  /// The script writers of all valid phrase books. `crier words` reports the faults of invalid phrase books.
  private var writers: [ScriptWriter] { phraseBooks.locales.compactMap { try? phraseBooks.writer(for: $0) } }

  private var locales: [LocaleEntry] { writers.map(entry) }

  private func entry(_ writer: ScriptWriter) -> LocaleEntry {
    LocaleEntry(
      locale: writer.book.locale, voice: writer.book.voice, voices: writer.book.voices, rate: writer.book.rate,
      channels: writer.book.channels, channelNames: writer.book.channelNames,
      currencies: writer.bookCurrencies.map(\.code), packs: shelf.ids(for: writer.book.locale))
  }

  // MARK: Choosing a voice

  /// Chooses the pack that speaks a locale, as `crier voices use` does.
  private func chooseVoice(_ call: Call) async throws -> Response {
    let asked = call.parameter.lowercased()
    guard let writer = writers.first(where: { $0.book.locale.lowercased() == asked }) else {
      throw Problem.notFound("There is no such locale. GET /v1/locales lists the locales.")
    }
    let locale = writer.book.locale
    let fields = try await JSONFields.read(call, keys: ["pack"], keys)
    let remedy = "give the id of a voice pack of \(locale), or null to forget the choice"
    let id = try fields.string("pack", remedy)
    if !fields.contains("pack") { _ = try fields.required("pack", id, remedy) }
    if id != nil, shelf.isSettled(locale) {
      throw Problem(
        .conflict, "voice_settled",
        "The setting 'packs' chooses the voice of \(locale) and takes precedence. Remove the locale from the setting.")
    }
    if let id { _ = try await clips.finish(id, locale: locale) }
    try await onWaitingThread { [self] in
      if let id { try requireUsable(id, locale: locale, fields.invalid("pack", remedy)) }
      do {
        try choosePack(id, locale)
      } catch let error as VoicePackError {
        throw Problem(.internalServerError, error.code.rawValue, "\(error)")
      } catch let error as PackMakingError {
        throw Problem(
          .internalServerError, error.code.rawValue, "The choice could not be stored. See the service's log.")
      }
      shelf.look()
    }
    await administration.record(.voiceChosen, call, subject: locale)
    return try ServiceJSON.response(.ok, entry(writer))
  }

  /// - Throws: ``Problem`` for a pack that cannot speak the locale.
  private func requireUsable(_ id: String, locale: String, _ invalid: Problem) throws(Problem) {
    guard shelf.ids.contains(id) else { throw invalid }
    do {
      let pack = try shelf.pack(id: id)
      try PackIntegrity.verify(pack)
      guard pack.manifest.locale.lowercased() == locale.lowercased() else { throw invalid }
    } catch let error as VoicePackError {
      throw Problem(.unprocessableContent, error.code.rawValue, "pack: cannot be used; \(error)")
    } catch let error as VoicePackIntegrityError {
      throw Problem(.unprocessableContent, error.code.rawValue, "pack: cannot be used; \(error)")
    } catch {
      throw invalid
    }
  }

  private var voices: [VoiceEntry] {
    writers.flatMap { writer in
      (writer.book.voice.map { [VoiceEntry(voice: $0, locale: writer.book.locale, isDefault: true)] } ?? [])
        + writer.book.voices.filter { $0 != writer.book.voice }.map {
          VoiceEntry(voice: $0, locale: writer.book.locale, isDefault: false)
        }
    } + speechServerVoices
  }

  private var speechServerVoices: [VoiceEntry] {
    let servers = announcer.speechServers
    return servers.voices.flatMap { voice in
      let status = voice.status
      // A server that speaks a language speaks the locales of all phrase books in that language.
      return writers.map(\.book.locale).filter(voice.server.speaks).map { locale in
        VoiceEntry(
          voice: voice.server.id, locale: locale, isDefault: false,
          speechServer: SpeechServerEntry(
            state: status.state.rawValue, amounts: voice.server.saysAmounts, identity: status.identity,
            verdict: servers.latestVerdict(on: voice.server.id, in: locale)))
      }
    }
  }

  private func packs() async throws -> [PackEntry] {
    let speaking = await announcer.speakingPacks()
    var entries: [PackEntry] = []
    for state in await announcer.packStates() {
      var entry = try await entry(state)
      entry.speaks = speaking.first { $0.id == state.id }?.reason
      entries.append(entry)
    }
    return entries
  }

  private func entry(_ state: PackState) async throws -> PackEntry {
    // The announcer knows the faults of clips, which no manifest shows.
    if let fault = state.fault { return PackEntry(id: state.id, error: fault) }
    let read = await onWaitingThread { [shelf] in
      Result { () throws(VoicePackError) in try shelf.manifest(id: state.id) }
    }
    switch read {
    case .success(let manifest): return try await entry(manifest)
    case .failure(let error): return PackEntry(id: state.id, error: ErrorReport(error))
    }
  }

  private func entry(_ manifest: PackManifest) async throws -> PackEntry {
    var entry = PackEntry(
      id: manifest.id, locale: manifest.locale, speaker: manifest.speaker, licence: manifest.licence,
      speechServer: manifest.speechServer, sampleRate: manifest.sampleRate, clips: manifest.clips.count,
      tokens: manifest.tokens.count)
    let missing = try await missing.value(for: manifest) { [phraseBooks] in
      let vocabulary = try? phraseBooks.writer(for: manifest.locale).vocabulary()
      return vocabulary.map(manifest.tokensLacking)
    }
    entry.missingCount = missing?.count
    entry.missing = Array(missing?.prefix(Self.mostMissing) ?? [])
    return entry
  }
}
