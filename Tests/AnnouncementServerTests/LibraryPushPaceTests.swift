// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AnnouncementServer

@Suite("The pace of pushes of the library")
struct LibraryPushPaceTests {
  @Test("a burst of 1,000 changes leads to one push at once, and to one more after the interval")
  func burst() {
    var pace = LibraryPushPace<String>(interval: .seconds(300))
    #expect(pace.nextMoment == nil)
    var pushes: [Duration] = []
    for number in 0..<1_000 where pace.change("phone", at: .milliseconds(number)) {
      pushes.append(.milliseconds(number))
    }
    #expect(pushes == [.zero] && pace.nextMoment == .seconds(300))
    for second in 0...2_000 { for _ in pace.due(at: .seconds(second)) { pushes.append(.seconds(second)) } }
    #expect(pushes == [.zero, .seconds(300)] && pace.nextMoment == nil)
    let isPushed = pace.change("phone", at: .seconds(2_001))
    #expect(isPushed, "after a quiet interval, a change is pushed at once")
  }

  @Test("changes that never end are pushed once in each interval")
  func steady() {
    var pace = LibraryPushPace<String>(interval: .seconds(300))
    var pushes: [Int] = []
    for second in 0..<3_600 {
      if !pace.due(at: .seconds(second)).isEmpty { pushes.append(second) }
      if pace.change("phone", at: .seconds(second)) { pushes.append(second) }
    }
    #expect(pushes == Array(stride(from: 0, to: 3_600, by: 300)))
  }

  @Test("each key has its own pace")
  func keys() {
    var pace = LibraryPushPace<String>(interval: .seconds(300))
    var pushed: [Bool] = []
    for (key, second) in [("a", 0), ("b", 100), ("a", 150), ("b", 150)] {
      pushed.append(pace.change(key, at: .seconds(second)))
    }
    #expect(pushed == [true, true, false, false] && pace.nextMoment == .seconds(300))
    var due = [299, 300].map { pace.due(at: .seconds($0)) }
    #expect(due == [[], ["a"]] && pace.nextMoment == .seconds(400))
    due = [1_000].map { pace.due(at: .seconds($0)) }
    pushed = ["a", "b"].map { pace.change($0, at: .seconds(1_000)) }
    #expect(due == [["b"]] && pushed == [true, false])
  }
}
