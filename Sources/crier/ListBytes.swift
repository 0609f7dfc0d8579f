// SPDX-License-Identifier: Apache-2.0

import Announcements
import Dispatch
import Synchronization

#if canImport(Glibc)
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
    let answer = Answer()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        answer.isAwaited(by: continuation)
        queue.async { answer.give(Result { try self.read() }) }
      }
    } onCancel: {
      answer.give(.failure(CancellationError()))
    }
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

  /// Resumes whoever waits with the first answer that is given, and never twice.
  private final class Answer: Sendable {
    private enum State {
      case idle
      case awaited(CheckedContinuation<[UInt8], any Error>)
      case given(Result<[UInt8], any Error>)
    }

    private let state = Mutex(State.idle)

    func isAwaited(by continuation: CheckedContinuation<[UInt8], any Error>) {
      let early: Result<[UInt8], any Error>? = state.withLock { state in
        if case .given(let result) = state { return result }
        state = .awaited(continuation)
        return nil
      }
      if let early { continuation.resume(with: early) }
    }

    func give(_ result: Result<[UInt8], any Error>) {
      let continuation: CheckedContinuation<[UInt8], any Error>? = state.withLock { state in
        switch state {
        case .idle:
          state = .given(result)
          return nil
        case .awaited(let continuation):
          state = .given(result)
          return continuation
        case .given:
          return nil
        }
      }
      continuation?.resume(with: result)
    }
  }
}
