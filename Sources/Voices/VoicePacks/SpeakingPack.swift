// SPDX-License-Identifier: Apache-2.0

/// The pack that speaks a locale if neither the request nor its key names a pack, a voice or a method.
public struct SpeakingPack: Sendable, Hashable {
  /// The reason why a pack speaks.
  public enum Reason: String, Sendable, Hashable, Encodable, CaseIterable {
    /// The service's setting `packs` names the pack.
    case setting
    /// The user chose the pack with `crier voices use`.
    case chosen
    /// The pack is the first recorded pack of the locale. If there is none, it is the first pack that a tested speech
    /// server made. If the pack lacks fixed words of an announcement, the next pack in this order that has these words
    /// speaks. If no pack has these words, the engine speaks. While a speech server of the settings answers, it speaks
    /// instead of a pack that a speech server made.
    case first
  }

  /// The locale (BCP 47).
  public var locale: String
  /// The pack's id; `nil` if the engine speaks.
  public var id: String?
  /// The reason why the pack speaks; `nil` if the engine speaks.
  public var reason: Reason?

  /// Decides which of several packs speaks a locale.
  ///
  /// - Parameters:
  ///   - locale: the locale, in any letter case.
  ///   - manifests: the manifests of the packs that can speak, in the order of the shelf. Packs of other locales do not
  ///     matter.
  ///   - chosen: the id of the pack that was chosen for the locale. If none of the packs has this id, the choice has no
  ///     effect.
  ///   - isSetting: whether the service's settings made the choice.
  public init(for locale: String, among manifests: [PackManifest], chosen: String?, isSetting: Bool) {
    self.locale = locale
    let spoken = manifests.filter { $0.locale.lowercased() == locale.lowercased() }
    if let chosen, spoken.contains(where: { $0.id == chosen }) {
      (id, reason) = (chosen, isSetting ? .setting : .chosen)
    } else if let first = spoken.first(where: { !$0.isSynthesized }) ?? spoken.first(where: { $0.speechServer != nil })
    {
      (id, reason) = (first.id, .first)
    }
  }

  /// Decides which pack of a shelf speaks a locale. Manifests are read, but no clips.
  public init(for locale: String, on shelf: VoicePackShelf) {
    self.init(
      for: locale, among: shelf.ids.compactMap { try? shelf.manifest(id: $0) }, chosen: shelf.chosen(for: locale),
      isSetting: shelf.isSettled(locale))
  }
}
