// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import VoicePackIntegrity
import VoicePacks

/// Chooses the voice pack that speaks an announcement.
///
/// A pack is used only if its files match the digests in its manifest. Otherwise a clip could be stored under the name
/// of another clip and speak a wrong amount.
final class PackChoice: Sendable {
  private let shelf: VoicePackShelf
  private let verified = Locked<[String: Result<VoicePack, any Error>]>([:])

  init(shelf: VoicePackShelf) { self.shelf = shelf }

  /// Returns the pack for an announcement. When a pack is first used, its files are read and checked, which may block
  /// for some ms.
  ///
  /// - A requested pack is used even if it lacks words.
  /// - With the method `clips`, it is the locale's first pack that has all fixed words of the announcement. If no pack
  ///   has them all, it is the first pack.
  /// - With the method `auto`, it is the first recorded pack that has all fixed words of the announcement. If a voice
  ///   or a rate was requested, no pack is used, because only the engine offers these. Broken packs are skipped, so
  ///   that the payment is still announced; `crier voices check` reports them.
  /// - Returns: The pack, or `nil` if the engine speaks.
  /// - Throws: `.optionInvalid` for a pack that is missing or has another locale. `.methodUnavailable` if the method is
  ///   `clips` and the locale has no pack. `VoicePackError` and `VoicePackIntegrityError` for a requested pack.
  func pack(for script: Script, pauses: ClipPauses, options: RenderOptions) throws -> VoicePack? {
    if options.method == .speech { return nil }
    if let id = options.pack {
      let pack = try self.pack(id)
      guard pack.manifest.locale.lowercased() == script.locale.lowercased() else {
        throw AnnouncerError(
          .optionInvalid, "pack \(id)",
          "is recorded in \(pack.manifest.locale), but the announcement is in \(script.locale)",
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
      // If the first pack is broken, its error tells the user more than an error about a missing pack.
      if let broken = ids.first { _ = try self.pack(broken) }
      throw AnnouncerError(
        .methodUnavailable, "method clips", "no voice pack of \(script.locale) is installed",
        remedy: "make one with crier voices build --locale \(script.locale), or choose method speech or auto")
    }
    return pack
  }

  /// Returns the pack that replaces an unavailable engine. It is the first synthesized pack that has all fixed words of
  /// the announcement.
  ///
  /// - Returns: The pack. The result is `nil` if there is none, or if the options request a method, a pack, a voice or
  ///   a rate.
  func substitute(for script: Script, pauses: ClipPauses, options: RenderOptions) -> VoicePack? {
    guard options.method == .auto, options.pack == nil, !options.asksForEngine else { return nil }
    return firstComplete(of: ids(for: script, synthesized: true), for: script, pauses: pauses)
  }

  /// Returns the ids of the packs for the script's locale, in the order of the shelf.
  private func ids(for script: Script, synthesized: Bool) -> [String] {
    shelf.ids(for: script.locale).filter { (try? shelf.manifest(id: $0))?.isSynthesized == synthesized }
  }

  /// Returns the first of the packs that is undamaged and has all fixed words of the announcement.
  private func firstComplete(of ids: [String], for script: Script, pauses: ClipPauses) -> VoicePack? {
    ids.lazy.compactMap { try? self.pack($0) }.first {
      SpeakingPlan(script, recordedBy: $0, pauses: pauses).rolesWithoutClip.isSubset(of: [.channel])
    }
  }

  /// - Throws: `.optionInvalid` for a pack that is not installed.
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
    ids.isEmpty ? "no packs are installed; make one with crier voices build" : ids.joined(separator: ", ")
  }
}

extension RenderOptions {
  /// Whether the options request a voice or a rate, which only the engine offers.
  fileprivate var asksForEngine: Bool { voice != nil || rate != nil }
}
