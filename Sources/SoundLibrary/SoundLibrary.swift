// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation

/// The clips in a group container's `Library/Sounds`.
///
/// A clip is there whole or not at all: it is written under a hidden name in the same folder, brought to the disk,
/// renamed, and the folder is brought to the disk. When ``publish(_:as:)`` returns, the clip survives a power cut.
///
/// Any number of threads, values and processes may use one folder at once, and the last one to publish a name wins.
/// Nothing is kept open between calls, so a folder that was deleted is made again. Calls block the thread.
public struct SoundLibrary: Sendable {
  /// The most bytes a clip may have. Less than 30 s of sound fit in a quarter of it, even in 48 kHz stereo, and a
  /// notification service extension has about 24 MB of memory in all.
  public static let maximumClipBytes = 16 << 20

  public let container: GroupContainer

  let calls: FileSystemCalls

  public init(container: GroupContainer) {
    self.init(container: container, calls: .system)
  }

  init(container: GroupContainer, calls: FileSystemCalls) {
    self.container = container
    self.calls = calls
  }

  /// `Library/Sounds` of the container; made by the first ``publish(_:as:)``.
  public var soundsDirectory: URL { container.soundsDirectory }

  /// Where the clip of that name is, or would be.
  ///
  /// - Throws: ``SoundLibraryError`` with the code `invalidClipName`.
  public func url(for name: String) throws(SoundLibraryError) -> URL {
    try Self.check(name)
    return soundsDirectory.appending(path: name, directoryHint: .notDirectory)
  }

  /// Puts a clip into `Library/Sounds`, in place of one that has its name.
  ///
  /// `Library` and `Sounds` are made when they are missing, and so is the container. A symbolic link in their place is
  /// refused; one in the clip's place is replaced, not followed.
  ///
  /// - Parameters:
  ///   - bytes: A whole sound file, at most ``maximumClipBytes``. They are not looked at.
  ///   - name: At most 255 bytes of UTF-8 that end in `.wav`, `.aiff` or `.caf`, with no `/`, no control character and
  ///     no `.` at the start.
  /// - Returns: The file's place.
  /// - Throws: ``SoundLibraryError``. A clip that stood there before is unharmed, and no part of the new one is left.
  ///   Only if the disk fails at the very last step, bringing the folder's entry to it, does the whole new clip stand
  ///   there already.
  public func publish(_ bytes: [UInt8], as name: String) throws(SoundLibraryError) -> URL {
    let url = try url(for: name)
    guard bytes.count <= Self.maximumClipBytes else {
      throw SoundLibraryError(code: .tooLarge, action: .publishing, folder: soundsDirectory)
    }
    do throws(SystemError) {
      let folder = try SoundsFolder(making: container, calls: calls)
      try folder.publish(bytes, as: name)
    } catch {
      throw SoundLibraryError(error, while: .publishing, in: soundsDirectory)
    }
    return url
  }

  /// The bytes of a clip, or nil when there is none of that name.
  ///
  /// They are what the file holds: one that is empty, short or torn is the caller's to recognise, by decoding it, and
  /// to publish anew. A missing folder is no error.
  ///
  /// - Throws: ``SoundLibraryError``, with the code `notAFile` when a folder, a symbolic link or a device has the name,
  ///   `tooLarge` when the file has more than ``maximumClipBytes``.
  public func contents(of name: String) throws(SoundLibraryError) -> [UInt8]? {
    try Self.check(name)
    do throws(SystemError) {
      let folder = try SoundsFolder(existing: container, calls: calls)
      return try folder.contents(of: name, atMost: Self.maximumClipBytes)
    } catch {
      if error.kind == .missing { return nil }
      throw SoundLibraryError(error, while: .reading, in: soundsDirectory)
    }
  }

  private static func check(_ name: String) throws(SoundLibraryError) {
    // Bytes, because characters see no "." at the start of ".\u{308}.wav"; the file system does.
    let hasExtension = [".wav", ".aiff", ".caf"].contains { name.utf8.reversed().starts(with: $0.utf8.reversed()) }
    let hasControls = name.unicodeScalars.contains { $0 == "/" || $0.properties.generalCategory == .control }
    guard hasExtension, !hasControls, name.utf8.first != UInt8(ascii: "."), name.utf8.count <= 255 else {
      throw SoundLibraryError(code: .invalidClipName)
    }
  }
}
