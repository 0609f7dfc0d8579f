// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import HTTPTypes
import HummingbirdCore
import Logging
import ServiceAccess

/// The log of refused and failed requests. Only the first line of each kind in a second is written, followed by the
/// number of lines that were left out. The metrics count all of these requests.
final class RefusalLog: Sendable {
  struct Kind: Sendable, Hashable {
    var status: Int
    /// The path as the route table spells it.
    var path: String
  }

  private struct State {
    var sampling = LogSampling<Kind>()
    /// Whether a task is scheduled. The task logs the numbers of omitted lines when the second is over.
    var isAwaited = false
  }

  private let state = Locked(State())
  private let logger: Logger
  private let time: @Sendable () -> Duration

  /// - Parameters:
  ///   - logger: The logger for the numbers of omitted lines.
  ///   - time: The time since an arbitrary origin; it never runs backwards.
  init(_ logger: Logger, time: @escaping @Sendable () -> Duration) {
    self.logger = logger
    self.time = time
  }

  /// Returns whether to write a line of this kind. If not, the line is counted as omitted.
  func isWritten(_ kind: Kind) -> Bool {
    let now = time()
    let (isWritten, leftOut, isFirst) = state.withLock { state in
      let (isWritten, leftOut) = state.sampling.take(kind, at: now)
      defer { state.isAwaited = state.isAwaited || !isWritten }
      return (isWritten, leftOut, !isWritten && !state.isAwaited)
    }
    tell(leftOut)
    if isFirst { Task { await finish() } }
    return isWritten
  }

  /// Logs the numbers of omitted lines when their second is over, even if no further request arrives.
  private func finish() async {
    var isAwaited = true
    while isAwaited {
      // The numbers are logged once a second.
      try? await Task.sleep(for: .seconds(1))
      let now = time()
      let leftOut: [Kind: Int]
      (leftOut, isAwaited) = state.withLock { state in
        let leftOut = state.sampling.finish(at: now)
        // More lines may have been left out in a second that is not over yet.
        state.isAwaited = state.sampling.isLeavingOut
        return (leftOut, state.isAwaited)
      }
      tell(leftOut)
    }
  }

  private func tell(_ leftOut: [Kind: Int]) {
    for (kind, count) in leftOut.sorted(by: { ($0.key.path, $0.key.status) < ($1.key.path, $1.key.status) }) {
      logger.info(
        "and \(count) more in the last second", metadata: ["path": "\(kind.path)", "status": "\(kind.status)"])
    }
  }
}
