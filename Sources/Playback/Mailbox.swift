// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The messages to a lane's single task, in the order in which they were posted. Only that task ever waits for them.
///
/// The lock only protects the list. Nothing is called while the lock is held, so posting never blocks.
final class Mailbox<Message: Sendable>: @unchecked Sendable {  // Mutable state is only used while the lock is held.
  private let lock = NSLock()
  private var messages: [Message] = []
  private var hasNudge = false
  private var isClosed = false
  private var reader: CheckedContinuation<Void, Never>?

  /// - Returns: False if the mailbox is closed, so that no task will read the message.
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

  /// Wakes up the reader. Repeated calls take no additional memory.
  func nudge() {
    let reader = lock.withLock {
      hasNudge = true
      return takeReader()
    }
    reader?.resume()
  }

  /// Returns all messages received so far, without waiting.
  func take() -> [Message] {
    lock.withLock {
      defer {
        messages = []
        hasNudge = false
      }
      return messages
    }
  }

  /// Waits until there is a message or a nudge. Only one reader may call it.
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

  /// Closes the mailbox.
  ///
  /// - Returns: The messages that will not be read.
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
