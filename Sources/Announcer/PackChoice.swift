// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
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
  /// - With `auto`, the first recorded pack that has them, unless a voice or a rate was asked for, which only the engine
  ///   has. A pack that is broken is passed over: the payment is announced all the same, and `crier voices check` tells.
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
    if options.method == .auto, options.asksForEngine { return nil }
    if let preferred = options.preferredPack.flatMap({ try? pack($0) }),
      preferred.manifest.locale.lowercased() == script.locale.lowercased()
    {
      return preferred
    }
    if options.method == .auto {
      return firstComplete(of: ids(for: script, synthesized: false), for: script, pauses: pauses)
    }
    let ids = shelf.ids(for: script.locale)
    let complete = firstComplete(of: ids, for: script, pauses: pauses)
    guard let pack = complete ?? ids.lazy.compactMap({ try? self.pack($0) }).first else {
      // A pack that is there and broken is the news, not that there is none.
      if let broken = ids.first { _ = try self.pack(broken) }
      throw AnnouncerError(
        .methodUnavailable, "method clips", "no voice pack of \(script.locale) is installed",
        remedy: "make one with crier voices build --locale \(script.locale), or choose speech, or auto")
    }
    return pack
  }

  /// The pack that takes the engine's place where there is no engine: the first synthesized pack that has all of the
  /// announcement's fixed words.
  ///
  /// - Returns: `nil` when there is none, and when the options name the method, the pack, the voice or the rate.
  func substitute(for script: Script, pauses: ClipPauses, options: RenderOptions) -> VoicePack? {
    guard options.method == .auto, options.pack == nil, !options.asksForEngine else { return nil }
    return firstComplete(of: ids(for: script, synthesized: true), for: script, pauses: pauses)
  }

  /// The ids of the locale's packs, in the shelf's order.
  private func ids(for script: Script, synthesized: Bool) -> [String] {
    shelf.ids(for: script.locale).filter { (try? shelf.manifest(id: $0))?.isSynthesized == synthesized }
  }

  /// The first pack that is whole and has all of the announcement's fixed words.
  private func firstComplete(of ids: [String], for script: Script, pauses: ClipPauses) -> VoicePack? {
    ids.lazy.compactMap { try? self.pack($0) }.first {
      SpeakingPlan(script, recordedBy: $0, pauses: pauses).rolesWithoutClip.isSubset(of: [.channel])
    }
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

extension RenderOptions {
  /// Whether a voice or a rate was asked for, which only the engine has.
  fileprivate var asksForEngine: Bool { voice != nil || rate != nil }
}
