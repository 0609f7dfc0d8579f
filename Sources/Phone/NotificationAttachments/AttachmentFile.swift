// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import SoundDownloads

/// The file of one attachment that is being written, until it is complete or abandoned.
///
/// One task makes, writes and keeps the file. Any other task can abandon it at the same time. That other task waits
/// while the file is being made, but not while bytes are being written.
///
/// The bytes are not synchronized to the disk, because a notification does not survive a loss of power either.
final class AttachmentFile: Sendable {
  private enum Phase { case growing, whole, abandoned }

  private struct State {
    var phase = Phase.growing
    /// The file's name once it exists.
    var name: String?
    var folder: FileSystemCalls.Descriptor?
    var file: FileSystemCalls.Descriptor?
  }

  private let folder: URL
  private let calls: FileSystemCalls
  private let state = Locked(State())

  init(folder: URL, calls: FileSystemCalls) {
    self.folder = folder
    self.calls = calls
  }

  deinit {
    // No task is writing any more, because such a task would hold this object. The descriptor was open until now, so
    // that no other file could get its number.
    let (folder, file) = state.withLock { ($0.folder, $0.file) }
    if let file { calls.close(file) }
    if let folder { calls.close(folder) }
  }

  /// Creates the file with a new name, and creates the folder if it is missing. Only the owner can read the file and
  /// the folder.
  ///
  /// - Throws: ``DownloadError``.
  func make(fileExtension: String) throws(DownloadError) {
    let name = "attachment-\(UUID().uuidString).\(fileExtension)"
    do throws(SystemError) {
      try DurableFolder.make(folder, .ownerOnly, calls: calls)
      let path = folder.path(percentEncoded: false)
      let opened = try retryingWhenInterrupted { () throws(SystemError) in try calls.openFolder(nil, path) }
      let isMade = try state.withLock { state -> Result<Bool, SystemError> in
        state.folder = opened
        guard state.phase == .growing else { return .success(false) }
        return Result { () throws(SystemError) in
          state.file = try retryingWhenInterrupted { () throws(SystemError) in
            try calls.createFile(opened, name, .ownerOnly)
          }
          state.name = name
          return true
        }
      }.get()
      if isMade { return }
    } catch {
      throw DownloadError(.notStored, of: .attachment, reason: error.description)
    }
    throw DownloadError(.cancelled, of: .attachment)
  }

  /// Appends bytes.
  ///
  /// - Throws: ``DownloadError``, with the code `cancelled` when the file was abandoned.
  func write(_ bytes: [UInt8]) throws(DownloadError) {
    guard let file = state.withLock({ $0.phase == .growing ? $0.file : nil }) else {
      throw DownloadError(.cancelled, of: .attachment)
    }
    do throws(SystemError) {
      try calls.writeAll(bytes, to: file)
    } catch {
      throw DownloadError(.notStored, of: .attachment, reason: error.description)
    }
  }

  /// Ends the file as complete, unless it was abandoned. Afterwards, the file cannot be abandoned.
  ///
  /// - Returns: The file; nil if it was abandoned.
  func keep() -> URL? {
    let (name, file): (String?, FileSystemCalls.Descriptor?) = state.withLock { state in
      guard state.phase == .growing, let name = state.name else { return (nil, nil) }
      state.phase = .whole
      defer { state.file = nil }
      return (name, state.file)
    }
    if let file { calls.close(file) }
    return name.map { folder.appending(path: $0, directoryHint: .notDirectory) }
  }

  /// Removes the file, unless it is complete.
  ///
  /// - Returns: True if the file was removed or never existed; false if it is complete.
  @discardableResult
  func abandon() -> Bool {
    state.withLock { state in
      guard state.phase != .whole else { return false }
      state.phase = .abandoned
      remove(&state)
      return true
    }
  }

  /// Removes the file, even if it is complete.
  func remove() {
    state.withLock { state in
      state.phase = .abandoned
      remove(&state)
    }
  }

  private func remove(_ state: inout State) {
    guard let name = state.name, let folder = state.folder else { return }
    try? calls.remove(folder, name)
    state.name = nil
  }
}
