// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import SpeakingPlans
import VoicePackIntegrity
import VoicePacks

/// Chooses the voice pack that speaks an announcement.
///
/// A pack is used only if its files match the digests in its manifest. Otherwise a clip could be stored under the name
/// of another clip and speak a wrong amount.
///
/// The type notices packs that are added, replaced or removed while the program runs. If the new files of a pack are
/// broken or not complete yet, the pack's last good version goes on speaking until the new files are whole or the pack
/// is removed. A voice pack speaks amounts, so a half-copied pack must neither speak nor leave the payments unspoken.
final class PackChoice: Sendable {
  /// A pack that was loaded and checked.
  private struct Checked {
    let pack: VoicePack
    /// The reason why the pack must not speak.
    let fault: (any Error)?
  }

  private struct Memory {
    var checked: [String: Checked] = [:]
    /// The last version of each pack that was in order.
    var lastGood: [String: VoicePack] = [:]

    /// Forgets the packs that are no longer on the shelf.
    mutating func keep(_ ids: Set<String>) {
      checked = checked.filter { ids.contains($0.key) }
      lastGood = lastGood.filter { ids.contains($0.key) }
    }
  }

  private let shelf: VoicePackShelf
  private let memory = Locked(Memory())

  init(shelf: VoicePackShelf) { self.shelf = shelf }

  /// Returns the pack for an announcement. When a pack is first used, its files are read and checked, which may block
  /// for some ms.
  ///
  /// - A requested pack is used even if it lacks words.
  /// - With the method `clips`, the result is the locale's first pack that has all fixed words of the announcement. If
  ///   no pack has all of these words, the result is the first pack. The pack that was chosen for the locale counts as
  ///   the first.
  /// - With the method `auto`, the result is the chosen pack of the locale, even if it lacks words. If no pack is
  ///   chosen, the result is the first recorded pack that has all fixed words of the announcement. If there is no such
  ///   pack, the result is the first pack of a tested speech server that has all of these words. If a voice or a rate
  ///   was requested, no pack is used, because only the engine offers these. Broken packs are skipped, so that the
  ///   payment is still announced; `crier voices check` reports them.
  /// - Returns: The pack, or `nil` if the engine speaks.
  /// - Throws: `.optionInvalid` for a pack that is missing or has another locale. `.methodUnavailable` if the method is
  ///   `clips` and the locale has no pack. `VoicePackError` and `VoicePackIntegrityError` for a requested pack.
  func pack(for script: Script, pauses: ClipPauses, options: RenderOptions) throws -> VoicePack? {
    if let pack = try recordedPack(for: script, pauses: pauses, options: options) { return pack }
    guard options.method == .auto, options.pack == nil, !options.asksForEngine else { return nil }
    return firstComplete(of: ids(for: script) { $0.speechServer != nil }, for: script, pauses: pauses)
  }

  /// Returns the pack that takes precedence over a speech server: a pack that was requested or chosen, or a recorded
  /// pack.
  ///
  /// - Returns: The pack that ``pack(for:pauses:options:)`` would return. The result is `nil` if that pack would be
  ///   used only as the pack of a tested speech server.
  /// - Throws: The errors of ``pack(for:pauses:options:)``.
  func recordedPack(for script: Script, pauses: ClipPauses, options: RenderOptions) throws -> VoicePack? {
    if options.method == .speech { return nil }
    if let id = options.pack {
      let pack = try self.pack(id)
      guard pack.manifest.locale.lowercased() == script.locale.lowercased() else {
        throw AnnouncerError(
          .optionInvalid, "pack \(id)",
          "is recorded in \(pack.manifest.locale), but the announcement is in \(script.locale)",
          remedy: "choose a pack of the announcement's locale: \(named(ids(for: script.locale)))")
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
      if let chosen = shelf.chosen(for: script.locale), ids(for: script.locale).contains(chosen),
        let pack = try? pack(chosen)
      {
        return pack
      }
      return firstComplete(of: ids(for: script) { !$0.isSynthesized }, for: script, pauses: pauses)
    }
    let ids = ids(for: script.locale)
    let complete = firstComplete(of: ids, for: script, pauses: pauses)
    guard let pack = complete ?? ids.lazy.compactMap({ try? self.pack($0) }).first else {
      // If the first pack is broken, its error tells the user more than an error about a missing pack.
      if let broken = ids.first { _ = try self.pack(broken) }
      throw AnnouncerError(
        .methodUnavailable, "method clips", "no voice pack of \(script.locale) is installed",
        remedy: "make one with crier voices build --locale \(script.locale), or choose the method 'speech' or 'auto'")
    }
    return pack
  }

  /// Returns the pack that replaces an unavailable engine. It is the first synthesized pack that has all fixed words of
  /// the announcement.
  ///
  /// - Returns: The pack. The result is `nil` if no pack has all of these words, or if the options request a method, a
  ///   pack, a voice or a rate.
  func substitute(for script: Script, pauses: ClipPauses, options: RenderOptions) -> VoicePack? {
    guard options.method == .auto, options.pack == nil, !options.asksForEngine else { return nil }
    return firstComplete(of: ids(for: script, where: \.isSynthesized), for: script, pauses: pauses)
  }

  /// Returns the ids of the packs for the script's locale, in the order of the shelf.
  private func ids(for script: Script, where isMeant: (PackManifest) -> Bool) -> [String] {
    ids(for: script.locale).filter { manifest($0).map(isMeant) ?? false }
  }

  /// Returns the ids of the packs for a locale: first the chosen pack, and then the others in the order of the shelf.
  private func ids(for locale: String) -> [String] {
    let spoken = locale.lowercased()
    return shelf.ids.filter { manifest($0)?.locale.lowercased() == spoken }.chosenFirst(shelf.chosen(for: locale))
  }

  /// Returns the manifest of the version of a pack that would speak.
  private func manifest(_ id: String) -> PackManifest? {
    // If a pack has not spoken yet, its manifest is enough to find its locale, so the pack is not loaded.
    guard memory.withLock({ $0.lastGood[id] != nil }) else { return try? shelf.manifest(id: id) }
    return try? pack(id).manifest
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
    return try memory.withLock { memory in
      do {
        return try current(id, &memory)
      } catch {
        guard let good = memory.lastGood[id] else { throw error }
        return good
      }
    }
  }

  /// Returns the pack as its files are now.
  ///
  /// - Throws: `VoicePackError` and `VoicePackIntegrityError` for a pack that must not speak.
  private func current(_ id: String, _ memory: inout Memory) throws -> VoicePack {
    memory.keep(Set(shelf.ids))
    let pack = try shelf.pack(id: id)
    let checked: Checked
    if let known = memory.checked[id], known.pack === pack {
      checked = known
    } else {
      var fault: (any Error)?
      do { try PackIntegrity.verify(pack) } catch { fault = error }
      checked = Checked(pack: pack, fault: fault)
      memory.checked[id] = checked
    }
    if let fault = checked.fault { throw fault }
    memory.lastGood[id] = pack
    return pack
  }

  /// See `VoicePackShelf.generation`.
  var generation: Int { shelf.generation }

  /// Returns the state of each pack. Packs that are not chosen and have not spoken yet are not loaded: only their
  /// manifests are checked.
  func states() -> [PackState] {
    let chosen = Set(shelf.choices.map(\.id))
    return shelf.ids.map { id in
      memory.withLock { memory in
        memory.keep(Set(shelf.ids))
        do {
          let isLoaded = chosen.contains(id) || memory.checked[id] != nil || memory.lastGood[id] != nil
          let manifest = isLoaded ? try current(id, &memory).manifest : try shelf.manifest(id: id)
          return PackState(id: id, digest: manifest.digest)
        } catch {
          return PackState(
            id: id, fault: ErrorReport(error), speaksEarlierVersion: memory.lastGood[id] != nil)
        }
      }
    }
  }

  /// Returns the pack that speaks each locale if an announcement names no pack, voice or method, in the order of the
  /// shelf. Locales that the engine speaks are left out, and so are broken packs without a good version.
  func speaking() -> [SpeakingPack] {
    let usable = Set(states().filter { $0.fault == nil || $0.speaksEarlierVersion }.map(\.id))
    let manifests = shelf.ids.filter(usable.contains).compactMap { manifest($0) }
    var locales: Set<String> = []
    return manifests.map(\.locale).filter { locales.insert($0.lowercased()).inserted }
      .map { locale in
        SpeakingPack(
          for: locale, among: manifests, chosen: shelf.chosen(for: locale), isSetting: shelf.isSettled(locale))
      }
      .filter { $0.id != nil }
  }

  /// Returns the faults of the choices of packs: packs that are missing or speak another locale, and a file of choices
  /// that cannot be read.
  func choiceFaults() -> [String] {
    let faults: [String] = shelf.choices.compactMap { choice in
      guard shelf.ids.contains(choice.id) else {
        return "the pack \(choice.id), which was chosen for \(choice.locale), is not installed"
      }
      guard let spoken = manifest(choice.id)?.locale, spoken.lowercased() != choice.locale.lowercased() else {
        return nil
      }
      return "the pack \(choice.id), which was chosen for \(choice.locale), speaks \(spoken)"
    }
    return faults + [shelf.choicesFault.map { "\($0)" }].compactMap(\.self)
  }

  private func named(_ ids: [String]) -> String {
    ids.isEmpty ? "no packs are installed; make one with crier voices build" : ids.joined(separator: ", ")
  }
}

extension RenderOptions {
  /// Whether the options request a voice or a rate, which only the engine offers.
  fileprivate var asksForEngine: Bool { voice != nil || rate != nil }
}
