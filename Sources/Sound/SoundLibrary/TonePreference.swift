// SPDX-License-Identifier: Apache-2.0

/// The tone that somebody chose in the app. The app and its extensions share it.
///
/// The tone is the name of a sound file with its extension, such as `chime.wav`, in the group's `Library/Sounds`. It is
/// stored under the key ``key``.
public protocol TonePreference: Sendable {
  /// Returns the chosen tone; nil if none was chosen. The file of the tone need not exist.
  ///
  /// - Throws: ``SoundLibraryError`` if the preference cannot be read. An invalid preference, such as a damaged file,
  ///   counts as no choice.
  func tone() throws(SoundLibraryError) -> String?

  /// Stores the chosen tone.
  ///
  /// - Throws: ``SoundLibraryError``; its code is `invalidClipName` if no sound file can have the name. The preference
  ///   is then unchanged.
  func setTone(_ name: String) throws(SoundLibraryError)

  /// Removes the choice, so that no tone is chosen. If there was no choice, nothing happens.
  ///
  /// - Throws: ``SoundLibraryError``.
  func removeTone() throws(SoundLibraryError)
}

extension TonePreference {
  /// The key of the tone in the shared preferences.
  public static var key: String { "sound" }

  /// Returns a stored text as the name of a tone. A text that cannot be the name of a sound file, such as `default`,
  /// counts as no choice.
  static func tone(stored: String?) -> String? {
    guard let stored, (try? SoundLibrary.check(stored)) != nil else { return nil }
    return stored
  }
}
