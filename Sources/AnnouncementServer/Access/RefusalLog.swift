// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import HTTPTypes
import HummingbirdCore
import Logging
import ServiceAccess

/// Lines of what was refused or failed: the first of each kind in a second, and then how many more there were. All of them
/// are counted in the metrics.
final class RefusalLog: Sendable {
  struct Kind: Sendable, Hashable {
    var status: Int
    /// As the table of routes has it.
    var path: String
  }

  private struct State {
    var sampling = LogSampling<Kind>()
    /// Whether somebody will look when the second is over.
    var isAwaited = false
  }

  private let state = Locked(State())
  private let logger: Logger
  private let time: @Sendable () -> Duration

  /// - Parameters:
  ///   - logger: for the lines that tell how many more there were.
  ///   - time: since a moment of its own; never runs backwards.
  init(_ logger: Logger, time: @escaping @Sendable () -> Duration) {
    self.logger = logger
    self.time = time
  }

  /// Whether a line of this kind is to be written.
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

  /// Tells what was left out when its second is over, also when nothing comes any more.
  private func finish() async {
    try? await Task.sleep(for: .seconds(1))
    let now = time()
    tell(
      state.withLock { state in
        state.isAwaited = false
        return state.sampling.finish(at: now)
      })
  }

  private func tell(_ leftOut: [Kind: Int]) {
    for (kind, count) in leftOut.sorted(by: { ($0.key.path, $0.key.status) < ($1.key.path, $1.key.status) }) {
      logger.info(
        "and \(count) more in the last second", metadata: ["path": "\(kind.path)", "status": "\(kind.status)"])
    }
  }
}
