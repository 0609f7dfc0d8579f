// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AnnouncementServer

@Suite("The watch of destinations that cannot be reached")
struct ConnectionWatchTests {
  private typealias Watch = ConnectionWatch<String>

  private func kinds(_ news: [Watch.News]) -> [Watch.News.Kind] { news.map(\.kind) }

  @Test("a minute without a successful connection causes one warning with the number of attempts")
  func warning() {
    var watch = Watch()
    for second in [0, 1, 3, 7, 15, 31] { watch.failed("apns", reason: "cannot_connect", at: .seconds(second)) }
    #expect(watch.due(at: .seconds(59)).isEmpty && watch.unreachable(at: .seconds(59)).isEmpty)
    let news = watch.due(at: .seconds(60))
    #expect(kinds(news) == [.unreachable] && news[0].outage.failures == 6 && news[0].outage.began == .zero)
    #expect(watch.unreachable(at: .seconds(60)).keys.map { $0 } == ["apns"])
    for second in 61..<600 {
      watch.failed("apns", reason: "cannot_connect", at: .seconds(second))
      #expect(watch.due(at: .seconds(second)).isEmpty)
    }
  }

  @Test("a single failed connection is reported after a minute, even without further attempts")
  func single() {
    var watch = Watch()
    watch.failed("apns", reason: "timed_out", at: .seconds(5))
    #expect(watch.due(at: .seconds(64)).isEmpty)
    #expect(kinds(watch.due(at: .seconds(65))) == [.unreachable])
  }

  @Test("if no work waits, an outage ends ten minutes after the last attempt")
  func nothingWaits() {
    var watch = Watch()
    for second in [0, 100] { watch.failed("apns", reason: "timed_out", at: .seconds(second)) }
    #expect(watch.unreachable(at: .seconds(699), isAnythingWaiting: false).count == 1)
    #expect(watch.unreachable(at: .seconds(700), isAnythingWaiting: false).isEmpty)
    #expect(watch.unreachable(at: .seconds(700)).count == 1)
  }

  @Test("an outage is logged as an error with its number of failures after 10, 20, 40, … minutes, and then once a day")
  func errors() {
    var watch = Watch()
    var told: [Int] = []
    for minute in 0..<(5 * 1_440) {
      watch.failed("apns", reason: "cannot_connect", at: .seconds(60 * minute))
      for news in watch.due(at: .seconds(60 * minute)) where news.kind == .stillUnreachable {
        told.append(minute)
        #expect(news.outage.failures == minute + 1)
      }
    }
    #expect(told == [10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 4_000, 5_440, 6_880])
  }

  @Test("an outage is logged as an error only if further attempts to connect have failed")
  func quiet() {
    var watch = Watch()
    watch.failed("apns", reason: "cannot_connect", at: .zero)
    #expect(kinds(watch.due(at: .seconds(60))) == [.unreachable])
    for minute in 2..<600 { #expect(watch.due(at: .seconds(60 * minute)).isEmpty) }
    watch.failed("apns", reason: "cannot_connect", at: .seconds(36_000))
    #expect((600..<1_300).contains { !watch.due(at: .seconds(60 * $0)).isEmpty })
  }

  @Test("a successful connection ends the outage, and is reported only if the outage was reported")
  func success() {
    var watch = Watch()
    watch.failed("apns", reason: "cannot_connect", at: .zero)
    #expect(watch.reached("apns") == nil && watch.due(at: .seconds(100)).isEmpty && watch.isEmpty)
    watch.failed("apns", reason: "cannot_connect", at: .seconds(200))
    #expect(watch.due(at: .seconds(259)).isEmpty, "the time counts from the first failure after the success")
    #expect(kinds(watch.due(at: .seconds(260))) == [.unreachable])
    let news = watch.reached("apns")
    #expect(news?.kind == .reachedAgain && news?.outage.failures == 1)
    #expect(watch.reached("apns") == nil && watch.unreachable(at: .seconds(900)).isEmpty)
  }

  @Test("each destination has its own outage, and the outage of a forgotten destination is not reported")
  func destinations() {
    var watch = Watch()
    watch.failed("production", reason: "cannot_connect", at: .zero)
    watch.failed("sandbox", reason: "certificate_refused", at: .seconds(30))
    #expect(watch.due(at: .seconds(60)).map(\.destination) == ["production"])
    watch.forget { $0 == "sandbox" }
    #expect(watch.due(at: .seconds(90)).isEmpty)
    #expect(watch.unreachable(at: .seconds(900)).mapValues(\.reason) == ["production": "cannot_connect"])
  }

  @Test("after a sleep of the machine, the outage is reported once")
  func sleep() {
    var watch = Watch()
    watch.failed("apns", reason: "cannot_connect", at: .zero)
    #expect(kinds(watch.due(at: .seconds(100_000))) == [.unreachable])
    watch.failed("apns", reason: "cannot_connect", at: .seconds(100_001))
    #expect(watch.due(at: .seconds(100_001)).isEmpty)
  }
}
