// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a lane's one task is told, by anybody, in the order of telling. Nobody waits in here but that task.
///
/// The lock guards the list and nothing else, and nothing is called while it is held; so nothing can wait for it.
final class Mailbox<Message: Sendable>: @unchecked Sendable {  // What changes is used under the lock.
  private let lock = NSLock()
  private var messages: [Message] = []
  private var hasNudge = false
  private var isClosed = false
  private var reader: CheckedContinuation<Void, Never>?

  /// - Returns: false when it was closed: nobody will read it.
  @discardableResult
  func post(_ message: Message) -> Bool {
    let (isPosted, reader): (Bool, CheckedContinuation<Void, Never>?) = lock.withLock {
      guard !isClosed else { return (false, nil) }
      messages.append(message)
      return (true, takeReader())
    }
    reader?.resume()
    return isPosted
  }

  /// Lets the reader look around; however often, it takes no room.
  func nudge() {
    let reader = lock.withLock {
      hasNudge = true
      return takeReader()
    }
    reader?.resume()
  }

  /// All that has come; does not wait.
  func take() -> [Message] {
    lock.withLock {
      defer {
        messages = []
        hasNudge = false
      }
      return messages
    }
  }

  /// Returns when there is something, or a nudge. For one reader.
  func arrival() async {
    await withCheckedContinuation { continuation in
      let isThere = lock.withLock {
        if !messages.isEmpty || hasNudge { return true }
        reader = continuation
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// - Returns: what nobody will read.
  func close() -> [Message] {
    lock.withLock {
      isClosed = true
      defer { messages = [] }
      return messages
    }
  }

  private func takeReader() -> CheckedContinuation<Void, Never>? {
    defer { reader = nil }
    return reader
  }
}
