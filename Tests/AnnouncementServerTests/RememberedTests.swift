// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Testing

@testable import AnnouncementServer

@Suite("A value that is computed once in an interval")
struct RememberedTests {
  @Test("all callers within an interval get the same value, and later callers get a new value")
  func shared() async throws {
    let (now, count) = (Locked(Duration.zero), Locked(0))
    let remembered = Remembered(for: .seconds(1), time: { now.withLock { $0 } }) {
      count.withLock { count in
        count += 1
        return count
      }
    }
    let got = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { await remembered.value } }
      return await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(got == [1])
    now.withLock { $0 = .milliseconds(999) }
    #expect(await remembered.value == 1)
    now.withLock { $0 = .seconds(1) }
    #expect(await remembered.value == 2)
  }
}
