// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AnnouncementServer

@Suite("The pace of pushes of the library")
struct LibraryPushPaceTests {
  typealias Pace = LibraryPushPace<String, String>

  /// Returns what is due, in the order of the keys.
  private func due(_ pace: inout Pace, at second: Int) -> [String] {
    pace.due(at: .seconds(second)).map { "\($0.key) \($0.item)" }.sorted()
  }

  @Test("a burst of 1,000 changes leads to one push at once, and to another push after the interval")
  func burst() {
    var pace = Pace(interval: .seconds(300))
    #expect(pace.nextMoment == nil)
    var pushes: [Duration] = []
    for number in 0..<1_000 where pace.change(["set"], of: "phone", at: .milliseconds(number)) != nil {
      pushes.append(.milliseconds(number))
    }
    #expect(pushes == [.zero] && pace.nextMoment == .seconds(300))
    for second in 0...2_000 { for _ in pace.due(at: .seconds(second)) { pushes.append(.seconds(second)) } }
    #expect(pushes == [.zero, .seconds(300)] && pace.nextMoment == nil)
    let pushed = pace.change(["set"], of: "phone", at: .seconds(2_001))
    #expect(pushed == "set", "after a quiet interval, a change is pushed at once")
  }

  @Test("if 100 items change without end, one push is sent in each interval, and each item gets its turn")
  func steady() {
    var pace = Pace(interval: .seconds(300))
    let items = (0..<100).map { "item \($0)" }
    var pushes: [(second: Int, item: String)] = []
    for second in 0..<60_000 {
      // As the service does, the changes of a moment come first.
      if second.isMultiple(of: 10), let item = pace.change(items, of: "phone", at: .seconds(second)) {
        pushes.append((second, item))
      }
      pushes += pace.due(at: .seconds(second)).map { (second, $0.item) }
    }
    #expect(pushes.map(\.second) == Array(stride(from: 0, to: 60_000, by: 300)))
    #expect(pushes.map(\.item) == items + items, "each of the two rounds has every item once")
  }

  @Test("after one change, each changed item is pushed once, in order, and no further push follows")
  func turns() {
    var pace = Pace(interval: .seconds(300))
    let first = pace.change(["set", "a", "b"], of: "phone", at: .zero)
    #expect(first == "set")
    // A quiet interval does not let a change overtake those that wait.
    let early = [pace.change(["b", "set"], of: "phone", at: .seconds(300))]
    #expect(early == [nil])
    var pushes: [String] = []
    for second in stride(from: 300, through: 3_000, by: 300) { pushes += due(&pace, at: second) }
    #expect(pushes == ["phone a", "phone b", "phone set"] && pace.nextMoment == nil)
    let none = pace.change([], of: "other", at: .zero)
    #expect(none == nil && pace.nextMoment == nil)
  }

  @Test("an item that no longer needs a push gives its turn to the next item")
  func replaced() {
    var pace = Pace(interval: .seconds(300))
    _ = pace.change(["set", "a", "b", "c"], of: "phone", at: .zero)
    let first = due(&pace, at: 300)
    let next = pace.next(of: "phone")
    let later = due(&pace, at: 599) + due(&pace, at: 600)
    let rest = [pace.next(of: "phone"), pace.next(of: "nobody")]
    #expect(first == ["phone a"] && next == "b" && later == ["phone c"] && rest == [nil, nil])
  }

  @Test("each key has its own pace of pushes")
  func keys() {
    var pace = Pace(interval: .seconds(300))
    var pushed: [Bool] = []
    for (key, second) in [("a", 0), ("b", 100), ("a", 150), ("b", 150)] {
      pushed.append(pace.change(["set"], of: key, at: .seconds(second)) != nil)
    }
    #expect(pushed == [true, true, false, false] && pace.nextMoment == .seconds(300))
    let dueAt = [299, 300].map { due(&pace, at: $0) }
    #expect(dueAt == [[], ["a set"]] && pace.nextMoment == .seconds(400))
    let late = due(&pace, at: 1_000)
    pushed = ["a", "b"].map { pace.change(["set"], of: $0, at: .seconds(1_000)) != nil }
    #expect(late == ["b set"] && pushed == [true, false])
  }
}
