// SPDX-License-Identifier: Apache-2.0

import Announcements
// CDispatch and CoreFoundation are imported for `stat`. The Swift 6.3 compiler takes its declaration from CDispatch if
// the service is linked, and from CoreFoundation if the push simulator is linked too.
import CDispatch
import ConcurrencySupport
import CoreFoundation
import Dispatch
import Foundation
import Glibc

/// The bytes of a list, read in pieces from a file or standard input.
final class ListBytes: Sendable {
  private static let pieceBytes = 64 * 1024

  /// The number of bytes to read, or `nil` for a pipe or a device.
  let totalBytes: Int?

  private let path: String
  private let descriptor: CInt
  /// The queue for blocking reads. A pipe can block for a long time, so reads must not block the shared threads.
  private let queue = DispatchQueue(label: "crier.list")

  /// - Parameter path: The file, or `-` for standard input.
  /// - Throws: `.payloadMalformed` if the list cannot be opened.
  init(path: String) throws(AnnouncementError) {
    self.path = path
    descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.unreadable(path) }
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    totalBytes = isFile ? max(0, Int(status.st_size) - max(0, Int(lseek(descriptor, 0, SEEK_CUR)))) : nil
  }

  deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

  /// Returns the next piece as soon as it is available, or an empty array at the end. Cancelling the task ends the call
  /// at once, even while the read blocks; the list cannot be read after that.
  ///
  /// - Throws: `AnnouncementError` with `.payloadMalformed`, `CancellationError`.
  func next() async throws -> [UInt8] {
    let piece = FirstOutcome<[UInt8], any Error>()
    let outcome = await piece.wait {
      queue.async { piece.end(Result { try self.read() }) }
      return []
    } onCancel: {
      piece.end(.failure(CancellationError()))
    }
    return try outcome.get()
  }

  private func read() throws(AnnouncementError) -> [UInt8] {
    var count = -1
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, initialized in
      repeat {
        count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      } while count < 0 && errno == EINTR
      initialized = max(0, count)
    }
    guard count >= 0 else { throw Self.unreadable(path) }
    return bytes
  }

  private static func unreadable(_ path: String) -> AnnouncementError {
    AnnouncementError(
      .payloadMalformed, path == "-" ? "standard input" : Terminal.printable(path), "cannot be read",
      remedy: "give a CSV or JSON lines file, or - for standard input")
  }
}
