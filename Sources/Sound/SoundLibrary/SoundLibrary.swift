// SPDX-License-Identifier: Apache-2.0

package import FileSystem
public import Foundation

/// The clips in a group container's `Library/Sounds`.
///
/// A clip exists completely or not at all: it is written under a hidden name in the same folder, synchronized to the
/// disk and renamed. Then the folder is synchronized. When ``publish(_:as:)`` returns, the clip survives a power cut.
///
/// Any number of threads, values and processes can use one folder at the same time. If several publish the same name,
/// the last one wins. No file stays open between calls, so a folder that was deleted is created again. Calls block the
/// thread.
public struct SoundLibrary: Sendable {
  /// The maximum size of a clip in bytes. A sound of less than 30 s fits in half of it, even in 16-bit stereo at 48
  /// kHz. A notification service extension has about 24 MB of memory in total.
  public static let maximumClipBytes = 16 << 20

  public let container: GroupContainer

  let calls: FileSystemCalls
  let now: @Sendable () -> Date
  private let whenSetAside: @Sendable (_ folder: URL) -> Void

  /// - Parameter whenSetAside: Called with the new place of a folder that had a clip's name and was moved away; see
  ///   ``publish(_:as:)``. It must return at once.
  public init(container: GroupContainer, whenSetAside: @escaping @Sendable (_ folder: URL) -> Void = { _ in }) {
    self.init(container: container, calls: .system, whenSetAside: whenSetAside)
  }

  /// - Parameter now: The clock by which uses are recorded.
  package init(
    container: GroupContainer, calls: FileSystemCalls = .system, now: @escaping @Sendable () -> Date = { Date() },
    whenSetAside: @escaping @Sendable (_ folder: URL) -> Void = { _ in }
  ) {
    self.container = container
    self.calls = calls
    self.now = now
    self.whenSetAside = whenSetAside
  }

  /// The container's `Library/Sounds`; the first ``publish(_:as:)`` creates it.
  public var soundsDirectory: URL { container.soundsDirectory }

  /// Returns the file URL of the clip with a name, whether or not the clip exists.
  ///
  /// - Throws: ``SoundLibraryError`` with the code `invalidClipName`.
  public func url(for name: String) throws(SoundLibraryError) -> URL {
    try Self.check(name)
    return soundsDirectory.appending(path: name, directoryHint: .notDirectory)
  }

  /// Publishes a clip in `Library/Sounds` and replaces an existing clip with the same name.
  ///
  /// The container, `Library` and `Sounds` are created if they are missing. A symbolic link in place of `Library` or
  /// `Sounds` is refused. A symbolic link, a pipe, a socket or a device in place of the clip is replaced, and a link is
  /// not followed. A folder in place of the clip may hold somebody's files. It is moved to a hidden name, stays there,
  /// and is reported; see ``foldersSetAside()``.
  ///
  /// - Parameters:
  ///   - bytes: A complete sound file of at most ``maximumClipBytes``. The content is not checked.
  ///   - name: At most 255 bytes of UTF-8 that end in `.wav`, `.aiff` or `.caf`, with no `/`, no control character and
  ///     no `.` at the start.
  /// - Returns: The clip's file URL.
  /// - Throws: ``SoundLibraryError``. An existing clip is then unchanged, and no part of the new one is left. There is
  ///   one exception: if the last step, synchronizing the folder, fails, the complete new clip may already be in place.
  public func publish(_ bytes: [UInt8], as name: String) throws(SoundLibraryError) -> URL {
    let url = try url(for: name)
    try check(bytes, name)
    do throws(SystemError) {
      let folder = try SoundsFolder(of: container, making: .readableByAll, calls: calls)
      report(setAside: try folder.publish(bytes, as: name, use: SoundUse(at: now())))
    } catch {
      throw SoundLibraryError(error, while: .publishing, in: soundsDirectory)
    }
    return url
  }

  /// Returns the bytes of a clip; nil if it does not exist.
  ///
  /// The content is not checked. The caller notices an empty, short or damaged file when it decodes the file, and then
  /// publishes the clip again. A missing folder is not an error. A folder, a symbolic link, a pipe, a socket or a
  /// device with this name does not count as a clip. ``publish(_:as:)`` then puts the clip in its place.
  ///
  /// - Parameters:
  ///   - isUse: Whether the clip counts as used now, for example because somebody asked for it; see ``SoundUse``.
  ///   - limit: The maximum size in bytes of a file that is read.
  /// - Throws: ``SoundLibraryError``; its code is `tooLarge` if the file has more bytes than the limit.
  public func contents(
    of name: String, isUse: Bool = false, atMost limit: Int = maximumClipBytes
  ) throws(SoundLibraryError) -> [UInt8]? {
    try Self.check(name)
    return try inFolder(while: .reading) { folder throws(SystemError) in
      try folder.contents(of: name, atMost: limit, use: isUse ? SoundUse(at: now()) : nil)
    }
  }

  /// Calls a function with the open folder.
  ///
  /// - Returns: The function's result. Nil if the folder or the file does not exist, or if the name does not belong to
  ///   a file.
  /// - Throws: ``SoundLibraryError``.
  func inFolder<Value>(
    while action: SoundLibraryError.Action, _ work: (borrowing SoundsFolder) throws(SystemError) -> Value
  ) throws(SoundLibraryError) -> Value? {
    do throws(SystemError) {
      return try work(SoundsFolder(of: container, calls: calls))
    } catch {
      if [.missing, .notAFile].contains(error.kind) { return nil }
      throw SoundLibraryError(error, while: action, in: soundsDirectory)
    }
  }

  /// Reports a folder that was moved away.
  func report(setAside name: String?) {
    guard let name else { return }
    whenSetAside(soundsDirectory.appending(path: name, directoryHint: .isDirectory))
  }

  /// Checks that a clip with these bytes can have this name.
  func check(_ bytes: [UInt8], _ name: String) throws(SoundLibraryError) {
    try Self.check(name)
    guard bytes.count <= Self.maximumClipBytes else {
      throw SoundLibraryError(code: .tooLarge, action: .publishing, folder: soundsDirectory)
    }
  }

  static func check(_ name: String) throws(SoundLibraryError) {
    // The check compares bytes, as the file system does. A comparison of Swift's characters would miss the "." at the
    // start of ".\u{308}.wav".
    let hasExtension = [".wav", ".aiff", ".caf"].contains { name.utf8.reversed().starts(with: $0.utf8.reversed()) }
    let hasControls = name.unicodeScalars.contains { $0 == "/" || $0.properties.generalCategory == .control }
    guard hasExtension, !hasControls, name.utf8.first != UInt8(ascii: "."), name.utf8.count <= 255 else {
      throw SoundLibraryError(code: .invalidClipName)
    }
  }
}
