// SPDX-License-Identifier: Apache-2.0

import FileSystem

extension SoundLibrary {
  /// Returns the names of the tones, sorted: the files in `Library/Sounds` that are not rendered clips. Folders and
  /// symbolic links are left out. The array is empty if the folder does not exist.
  ///
  /// - Throws: ``SoundLibraryError``.
  public func tones() throws(SoundLibraryError) -> [String] {
    let names = try names().filter { !Self.isRenderedClip($0) }
    guard !names.isEmpty else { return [] }
    return try inFolder(while: .reading) { folder throws(SystemError) in
      // A file that somebody removes at this moment is left out.
      names.filter { (try? folder.status(of: $0))?.isRegularFile == true }
    } ?? []
  }

  /// Returns whether `Library/Sounds` has a file with this name that is not empty. The content is not checked.
  public func hasSound(_ name: String) -> Bool {
    guard Self.isClipName(name),
      let status = try? inFolder(while: .reading, { folder throws(SystemError) in try folder.status(of: name) })
    else { return false }
    return status.isRegularFile && status.byteCount > 0
  }

  /// Returns the state of the chosen tone.
  public func tone(chosenIn preference: some TonePreference) -> SoundChoice.Tone {
    do throws(SoundLibraryError) {
      guard let name = try preference.tone() else { return .notChosen }
      return hasSound(name) ? .chosen(name) : .missing(name)
    } catch {
      return .unreadable
    }
  }

  /// Decides which sound a notification plays. There is always a result, because a problem with the sound must not stop
  /// the notification.
  ///
  /// - Parameters:
  ///   - announcement: The name of the announcement's clip; nil if there is none.
  ///   - preference: The preference for a tone, which the group shares.
  ///   - payload: The sound that the push names; nil if it names none.
  public func soundChoice(
    announcement: String?, preference: some TonePreference, payload: String?
  ) -> SoundChoice {
    SoundChoice(announcement: announcement, tone: tone(chosenIn: preference), payload: payload)
  }
}
