// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An open folder of a pack. File names are relative to the open folder, and links inside it are not followed, so no
/// file outside is ever read. All files belong to the same pack, even if another pack is renamed to the folder's path
/// meanwhile.
struct PackFolder: ~Copyable {
  /// The reason why a file could not be mapped.
  enum Failure: Error {
    case missing
    /// The name belongs to a link, a folder, a pipe or a device.
    case notAFile
    case tooLarge
    /// Any other failure, with its `errno`.
    case system(Int32)

    init(_ number: Int32) {
      self =
        switch number {
        case ENOENT, ENOTDIR: .missing
        case ELOOP, EMLINK, ENXIO: .notAFile  // BSD has EMLINK for a link, and a socket gives ENXIO.
        default: .system(number)
        }
    }
  }

  /// The pack's id, which is the folder's name.
  let id: String
  private let descriptor: Int32

  /// Opens a folder.
  ///
  /// - Parameter directory: the folder. Its path may contain links.
  init(_ directory: URL) throws(VoicePackError) {
    let directory = directory.standardizedFileURL
    let id = directory.lastPathComponent
    guard directory.isFileURL, PackManifest.isID(id) else { throw .idInvalid(id) }
    let path = directory.path(percentEncoded: false)
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)  // The text lives as long as the call.
    guard descriptor >= 0 else {
      throw VoicePackError(Failure(errno), .notFound, "voice pack \(id)", "its folder", maximumBytes: 0)
    }
    self.id = id
    self.descriptor = descriptor
  }

  deinit { _ = close(descriptor) }

  /// Returns the bytes of a file of the folder.
  func contents(_ name: String, _ storage: VoicePack.Storage, maximumBytes: Int) throws(Failure) -> Data {
    switch storage {
    case .mapped: try mapped(name, maximumBytes: maximumBytes)
    case .copied: try copied(name, maximumBytes: maximumBytes)
    }
  }

  /// Maps a file of the folder for reading. The file is unmapped when the last copy of the returned data is released.
  ///
  /// - Parameter name: a plain file name, without a `/`.
  func mapped(_ name: String, maximumBytes: Int) throws(Failure) -> Data {
    let file = try opened(name, maximumBytes: maximumBytes)
    defer { _ = close(file.descriptor) }
    guard file.count > 0 else { return Data() }
    let memory = unsafe mmap(nil, file.count, PROT_READ, MAP_PRIVATE, file.descriptor, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw Failure(errno) }
    // unsafe: the mapping has this number of bytes, and only the returned data owns it.
    return unsafe Data(bytesNoCopy: memory, count: file.count, deallocator: .unmap)
  }

  /// Opens a regular file of the folder for reading, and returns its size in bytes. The caller closes it.
  private func opened(
    _ name: String, maximumBytes: Int
  ) throws(Failure) -> (descriptor: Int32, count: Int) {
    // unsafe: the text lives as long as the call. Because of `O_NONBLOCK` the call does not wait if the file is a pipe.
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw Failure(errno) }
    var status = stat()
    // unsafe: the system fills in a local variable of this function.
    let failure: Failure? =
      if unsafe fstat(file, &status) != 0 {
        Failure(errno)
      } else if status.st_mode & S_IFMT != S_IFREG {
        .notAFile
      } else if status.st_size > maximumBytes {
        .tooLarge
      } else {
        nil
      }
    if let failure {
      _ = close(file)
      throw failure
    }
    return (file, Int(status.st_size))
  }

  /// Reads a file of the folder into memory of this process. Later changes of the file do not change the returned data.
  ///
  /// - Parameter name: a plain file name, without a `/`.
  private func copied(_ name: String, maximumBytes: Int) throws(Failure) -> Data {
    let file = try opened(name, maximumBytes: maximumBytes)
    defer { _ = close(file.descriptor) }
    var bytes = [UInt8](repeating: 0, count: file.count)
    var done = 0
    while done < bytes.count {
      // unsafe: no more is read than the rest of the buffer holds.
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe read(file.descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Failure(errno) }
      if count == 0 { break }  // The file has become shorter; its reader reports the missing bytes.
      done += count
    }
    return Data(bytes.prefix(done))
  }

  /// The state of all files in a pack's folder. It differs after a file was added, removed, replaced or written.
  struct Stamp: Hashable {
    fileprivate struct File: Hashable {
      var name: String
      var device: UInt64
      var inode: UInt64
      var byteCount: Int64
      /// The times of the last change of the contents and of the entry itself, in ns.
      var changes: [Int64]
    }
    fileprivate var files: [File]
  }

  /// Returns the present state of a pack's files; `nil` when the folder cannot be read.
  static func stamp(of directory: URL) -> Stamp? {
    let path = directory.path(percentEncoded: false)
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return nil }
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)  // The text lives as long as the call.
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    // The folder itself is included, so that a folder that took another's place always differs.
    return Stamp(
      files: ([""] + names.sorted()).compactMap { name in
        var status = stat()
        // unsafe: the text lives as long as the call, and the system fills in a local variable of this function.
        let result =
          name.isEmpty
          ? unsafe fstat(descriptor, &status) : unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW)
        guard result == 0 else { return nil }
        #if canImport(Darwin)
          let times = [status.st_mtimespec, status.st_ctimespec]
        #else
          let times = [status.st_mtim, status.st_ctim]
        #endif
        return Stamp.File(
          name: name, device: UInt64(truncatingIfNeeded: status.st_dev),
          inode: UInt64(truncatingIfNeeded: status.st_ino), byteCount: Int64(status.st_size),
          changes: times.map { Int64($0.tv_sec) * 1_000_000_000 + Int64($0.tv_nsec) })
      })
  }

  /// Returns the C library's message for an `errno`.
  static func message(_ number: Int32) -> String {
    unsafe String(cString: strerror(number))  // There is a text for any number; it is copied at once.
  }
}
