// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Logging

/// The log of a failure that many tasks repeat every second until it is over, such as a full disk: at most one line in
/// a minute.
final class RepeatedFailureLog: Sendable {
  static let interval: Duration = .seconds(60)

  private let logger: Logger
  private let text: Logger.Message
  private let last = Locked<ContinuousClock.Instant?>(nil)

  init(_ text: Logger.Message, _ logger: Logger) { (self.text, self.logger) = (text, logger) }

  func tell(_ error: any Error, at now: ContinuousClock.Instant = .now) {
    let isWritten = last.withLock { last in
      if let last, now - last < Self.interval { return false }
      last = now
      return true
    }
    if isWritten { logger.warning(text, metadata: ["error": "\(error)"]) }
  }
}
