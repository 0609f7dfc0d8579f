// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Foundation

  /// The preference for a tone in the `UserDefaults` that an app shares with its extensions.
  public struct DefaultsTonePreference: TonePreference {
    private let group: String

    /// - Parameter group: The identifier of the app group, such as `group.crier`.
    /// - Throws: ``SoundLibraryError`` with the code `invalidGroupName` if the identifier cannot name shared
    ///   preferences, for example because it is the app's own bundle id.
    public init(group: String) throws(SoundLibraryError) {
      guard GroupContainer.isGroupName(group), UserDefaults(suiteName: group) != nil else {
        throw .invalidGroupName(group)
      }
      self.group = group
    }

    // The object is looked up each time, because it is not Sendable on every system.
    private var defaults: UserDefaults? { UserDefaults(suiteName: group) }

    public func tone() throws(SoundLibraryError) -> String? {
      Self.tone(stored: defaults?.string(forKey: Self.key))
    }

    public func setTone(_ name: String) throws(SoundLibraryError) {
      try SoundLibrary.check(name)
      defaults?.set(name, forKey: Self.key)
    }

    public func removeTone() throws(SoundLibraryError) {
      defaults?.removeObject(forKey: Self.key)
    }
  }
#endif
