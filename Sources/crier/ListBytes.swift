// SPDX-License-Identifier: Apache-2.0

import Announcements
import Dispatch
import Foundation

#if canImport(Glibc)
  // With the service linked, the compiler takes `stat` for this module's (Swift 6.3).
  import CDispatch
  import Glibc
#else
  import Darwin
#endif

/// The bytes of a list, piece by piece, from a file or from standard input.
final class ListBytes: Sendable {
  private static let pieceBytes = 64 * 1024

  /// What there is to read; `nil` for a pipe or a device.
  let totalBytes: Int?

  private let path: String
  private let descriptor: CInt
  /// Waiting for whoever fills a pipe belongs on a thread of its own.
  private let queue = DispatchQueue(label: "crier.list")

  /// - Parameter path: `-` for standard input.
  /// - Throws: `.payloadMalformed` when there is nothing that can be read.
  init(path: String) throws(AnnouncementError) {
    self.path = path
    descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.unreadable(path) }
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    totalBytes = isFile ? max(0, Int(status.st_size) - max(0, Int(lseek(descriptor, 0, SEEK_CUR)))) : nil
  }

  deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

  /// The next piece, as soon as there is one, or nothing at the end. Ends at once when its task is cancelled, whether or
  /// not more comes; the list cannot be read on after that.
  ///
  /// - Throws: `AnnouncementError` with `.payloadMalformed`, `CancellationError`.
  func next() async throws -> [UInt8] {
    let piece = FirstResult()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        piece.isAwaited(by: continuation)
        queue.async { piece.give(Result { try self.read() }) }
      }
    } onCancel: {
      piece.give(.failure(CancellationError()))
    }
    return try piece.result.get()
  }

  private func read() throws(AnnouncementError) -> [UInt8] {
    var count = -1
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, initialized in
      repeat {
        #if canImport(Glibc)
          count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        #else
          count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        #endif
      } while count < 0 && errno == EINTR
      initialized = max(0, count)
    }
    guard count >= 0 else { throw Self.unreadable(path) }
    return bytes
  }

  private static func unreadable(_ path: String) -> AnnouncementError {
    AnnouncementError(
      .payloadMalformed, path == "-" ? "standard input" : Terminal.printable(path), "cannot be read",
      remedy: "name a file of CSV or JSON lines, or - for standard input")
  }

  /// The first result that is given, for the one who waits for it. It passes through the lock, as an `Answer` does.
  private final class FirstResult: @unchecked Sendable {  // What changes is used under the lock.
    private let lock = NSLock()
    private var given: Result<[UInt8], any Error>?
    private var waiter: CheckedContinuation<Void, Never>?

    /// What was given; asked by the one who has waited.
    var result: Result<[UInt8], any Error> { lock.withLock { given } ?? .failure(CancellationError()) }

    func isAwaited(by continuation: CheckedContinuation<Void, Never>) {
      let isGiven = lock.withLock {
        if given == nil { waiter = continuation }
        return given != nil
      }
      if isGiven { continuation.resume() }
    }

    func give(_ result: Result<[UInt8], any Error>) {
      let waiter: CheckedContinuation<Void, Never>? = lock.withLock {
        guard given == nil else { return nil }
        given = result
        defer { self.waiter = nil }
        return self.waiter
      }
      waiter?.resume()
    }
  }
}
