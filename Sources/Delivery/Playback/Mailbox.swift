// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// The messages to a lane's single task, in the order in which they were posted. Only that task ever waits for them.
///
/// The lock only protects the list. Nothing is called while the lock is held, so posting never blocks.
final class Mailbox<Message: Sendable>: Sendable {
  private struct State {
    var messages: [Message] = []
    var hasNudge = false
    var isClosed = false
    var reader: CheckedContinuation<Void, Never>?

    mutating func takeReader() -> CheckedContinuation<Void, Never>? {
      defer { reader = nil }
      return reader
    }
  }

  private let state = Locked(State())

  /// - Returns: False if the mailbox is closed, so that no task will read the message.
  @discardableResult
  func post(_ message: Message) -> Bool {
    let (isPosted, reader): (Bool, CheckedContinuation<Void, Never>?) = state.withLock { state in
      guard !state.isClosed else { return (false, nil) }
      state.messages.append(message)
      return (true, state.takeReader())
    }
    reader?.resume()
    return isPosted
  }

  /// Wakes up the reader. Repeated calls take no additional memory.
  func nudge() {
    let reader = state.withLock { state in
      state.hasNudge = true
      return state.takeReader()
    }
    reader?.resume()
  }

  /// Returns all messages received so far, without waiting.
  func take() -> [Message] {
    state.withLock { state in
      defer {
        state.messages = []
        state.hasNudge = false
      }
      return state.messages
    }
  }

  /// Waits until there is a message or a nudge. Only one reader may call it.
  func arrival() async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if !state.messages.isEmpty || state.hasNudge { return true }
        state.reader = continuation
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Closes the mailbox.
  ///
  /// - Returns: The messages that will not be read.
  func close() -> [Message] {
    state.withLock { state in
      state.isClosed = true
      defer { state.messages = [] }
      return state.messages
    }
  }
}
