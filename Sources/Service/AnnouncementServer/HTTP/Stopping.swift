// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// The shared flag that says whether the service is stopping.
final class Stopping: Sendable {
  private let state = Locked(false)

  var isStopping: Bool { state.withLock { $0 } }
  func stop() { state.withLock { $0 = true } }
}
