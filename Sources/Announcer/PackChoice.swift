// SPDX-License-Identifier: Apache-2.0

import Announcements
import Answers
import VoicePackIntegrity
import VoicePacks

/// Which voice pack says an announcement.
///
/// Only packs whose bytes are those of their manifests are used: a clip under another's name would say another amount.
final class PackChoice: Sendable {
  private let shelf: VoicePackShelf
  private let verified = Locked<[String: Result<VoicePack, any Error>]>([:])

  init(shelf: VoicePackShelf) { self.shelf = shelf }

  /// The pack for an announcement; reads and checks its files at its first use, so it may block for some ms.
  ///
  /// - A pack that was asked for is the one, whatever it lacks.
  /// - With `clips`, the first of the locale that has all of the announcement's fixed words, else the first.
  /// - With `auto`, the first that has them, unless a voice or a rate was asked for, which only the engine has. A pack
  ///   that is broken is passed over: the payment is announced all the same, and `crier voices check` tells.
  /// - Returns: `nil` when the engine is to speak.
  /// - Throws: `.optionInvalid` for a pack that is not there or of another locale, `.methodUnavailable` when `clips` has
  ///   no pack at all; for a pack asked for, `VoicePackError` and `VoicePackIntegrityError`.
  func pack(for script: Script, pauses: ClipPauses, options: RenderOptions) throws -> VoicePack? {
    if options.method == .speech { return nil }
    if let id = options.pack {
      let pack = try self.pack(id)
      guard pack.manifest.locale.lowercased() == script.locale.lowercased() else {
        throw AnnouncerError(
          .optionInvalid, "pack \(id)",
          "is recorded in \(pack.manifest.locale), and the announcement is in \(script.locale)",
          remedy: "choose a pack of the announcement's locale: \(named(shelf.ids(for: script.locale)))")
      }
      return pack
    }
    let wantsEngine = options.voice != nil || options.rate != nil
    if options.method == .auto, wantsEngine { return nil }
    if let preferred = options.preferredPack.flatMap({ try? pack($0) }),
      preferred.manifest.locale.lowercased() == script.locale.lowercased()
    {
      return preferred
    }
    let packs = shelf.ids(for: script.locale).compactMap { try? self.pack($0) }
    let complete = packs.first {
      SpeakingPlan(script, recordedBy: $0, pauses: pauses).rolesWithoutClip.isSubset(of: [.channel])
    }
    if options.method == .auto { return complete }
    guard let pack = complete ?? packs.first else {
      // A pack that is there and broken is the news, not that there is none.
      if let broken = shelf.ids(for: script.locale).first { _ = try self.pack(broken) }
      throw AnnouncerError(
        .methodUnavailable, "method clips", "no voice pack of \(script.locale) is installed",
        remedy: "make one with crier voices build --locale \(script.locale), or choose speech, or auto")
    }
    return pack
  }

  /// - Throws: `.optionInvalid` for a pack that is not there.
  func check(_ id: String?) throws(AnnouncerError) {
    guard let id, !shelf.ids.contains(id) else { return }
    throw AnnouncerError(
      .optionInvalid, "pack \(id)", "is not installed", remedy: "choose one of \(named(shelf.ids))")
  }

  private func pack(_ id: String) throws -> VoicePack {
    try check(id)
    return try verified.withLock { verified in
      if let known = verified[id] { return known }
      let pack = try shelf.pack(id: id)
      let found = Result<VoicePack, any Error> {
        try PackIntegrity.verify(pack)
        return pack
      }
      verified[id] = found
      return found
    }.get()
  }

  private func named(_ ids: [String]) -> String {
    ids.isEmpty ? "none is there; make one with crier voices build" : ids.joined(separator: ", ")
  }
}
