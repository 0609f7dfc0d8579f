// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Darwin
#endif

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

  /// Maps a file of the folder for reading. The file is unmapped when the last copy of the returned data is released.
  ///
  /// - Parameter name: a plain file name, without a `/`.
  func mapped(_ name: String, maximumBytes: Int) throws(Failure) -> Data {
    // unsafe: the text lives as long as the call. Because of `O_NONBLOCK` the call does not wait if the file is a pipe.
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw Failure(errno) }
    defer { _ = close(file) }
    var status = stat()
    // unsafe: the system fills in a local variable of this function.
    guard unsafe fstat(file, &status) == 0 else { throw Failure(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    guard status.st_size <= maximumBytes else { throw .tooLarge }
    let count = Int(status.st_size)
    guard count > 0 else { return Data() }
    let memory = unsafe mmap(nil, count, PROT_READ, MAP_PRIVATE, file, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw Failure(errno) }
    // unsafe: the mapping has this number of bytes, and only the returned data owns it.
    return unsafe Data(bytesNoCopy: memory, count: count, deallocator: .unmap)
  }

  /// Returns the C library's message for an `errno`.
  static func message(_ number: Int32) -> String {
    unsafe String(cString: strerror(number))  // There is a text for any number; it is copied at once.
  }
}
