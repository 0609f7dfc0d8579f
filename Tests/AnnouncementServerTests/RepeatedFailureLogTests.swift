// SPDX-License-Identifier: Apache-2.0

import Logging
import Testing

@testable import AnnouncementServer

@Suite("The log of a failure that repeats")
struct RepeatedFailureLogTests {
  private struct Fault: Error, CustomStringConvertible { var description: String }

  @Test("the first of repeated failures is logged, and the next one only after a minute")
  func interval() {
    let log = TestLog()
    let failures = RepeatedFailureLog("A push could not be stored.", log.logger)
    let start = ContinuousClock.now
    for second in 0..<60 {
      for task in 0..<100 { failures.tell(Fault(description: "\(second) \(task)"), at: start + .seconds(second)) }
    }
    #expect(log.lines.count == 1)
    failures.tell(Fault(description: "again"), at: start + RepeatedFailureLog.interval)
    #expect(log.lines.count == 2)
    #expect(log.lines.allSatisfy { $0.contains("A push could not be stored.") })
    #expect(log.lines.last?.contains("again") == true)
  }
}
