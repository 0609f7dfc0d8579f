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

/// An open folder of a pack. Files are named relative to the open folder and no link in it is followed, so nothing
/// outside is ever read, and all files are of one pack even if another is renamed into its place meanwhile.
struct PackFolder: ~Copyable {
  /// Why a file could not be mapped.
  enum Failure: Error {
    case missing
    /// A link, a folder, a pipe or a device.
    case notAFile
    case tooLarge
    /// Anything else, by its `errno`.
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

  /// The pack's: the folder's name.
  let id: String
  private let descriptor: Int32

  /// - Parameter directory: the folder, which may itself be reached through links.
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

  /// A file of the folder, mapped for reading; unmapped when the last copy of the value goes.
  ///
  /// - Parameter name: a plain file name, without a `/`.
  func mapped(_ name: String, maximumBytes: Int) throws(Failure) -> Data {
    // The text lives as long as the call. A pipe must not keep it waiting.
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw Failure(errno) }
    defer { _ = close(file) }
    var status = stat()
    // The system fills in a value of our own.
    guard unsafe fstat(file, &status) == 0 else { throw Failure(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    guard status.st_size <= maximumBytes else { throw .tooLarge }
    let count = Int(status.st_size)
    guard count > 0 else { return Data() }
    let memory = unsafe mmap(nil, count, PROT_READ, MAP_PRIVATE, file, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw Failure(errno) }
    // The mapping has so many bytes, and is the value's alone.
    return unsafe Data(bytesNoCopy: memory, count: count, deallocator: .unmap)
  }

  /// The C library's words for an `errno`.
  static func message(_ number: Int32) -> String {
    unsafe String(cString: strerror(number))  // It is a text for any number, copied at once.
  }
}
