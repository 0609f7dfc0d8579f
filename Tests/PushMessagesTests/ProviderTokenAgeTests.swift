// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushMessages
import TestSupport
import Testing

@Suite struct ProviderTokenAgeTests {
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  /// A moment after so many minutes, on a clock that was set by so many minutes.
  private func moment(_ minutes: Double, set: Double = 0) -> ProviderTokenAge.Moment {
    ProviderTokenAge.Moment(
      date: start.addingTimeInterval((minutes + set) * 60), elapsed: .milliseconds(Int64(minutes * 60_000)))
  }

  @Test("a provider token is replaced after 40 minutes")
  func usual() {
    let age = ProviderTokenAge(madeAt: moment(0))
    #expect(!age.isDue(at: moment(0)))
    #expect(!age.isDue(at: moment(39.99)))
    #expect(age.isDue(at: moment(40)))
    #expect(age.isDue(at: moment(600)))
  }

  @Test(
    "if the clock was set, a provider token is replaced after 20 minutes and not earlier",
    arguments: [-600, -6, 6, 600])
  func clockSet(minutes: Double) {
    let age = ProviderTokenAge(madeAt: moment(0))
    #expect(!age.isDue(at: moment(1, set: minutes)))
    #expect(!age.isDue(at: moment(19.99, set: minutes)))
    #expect(age.isDue(at: moment(20, set: minutes)))
  }

  @Test(
    "a small correction of the clock does not change the time at which a provider token is replaced",
    arguments: [-4, 4])
  func clockCorrected(minutes: Double) {
    let age = ProviderTokenAge(madeAt: moment(0))
    #expect(!age.isDue(at: moment(39.99, set: minutes)))
    #expect(age.isDue(at: moment(40, set: minutes)))
  }

  @Test("a provider token from before a restart of the machine is replaced")
  func otherStart() {
    #expect(ProviderTokenAge(madeAt: moment(30)).isDue(at: moment(10)))
  }

  @Test("only the first of several refusals makes a new provider token, and a young token is not replaced")
  func renewal() {
    let age = ProviderTokenAge(madeAt: moment(30))
    #expect(age.renewal(refused: ProviderTokenAge(madeAt: moment(0)), at: moment(31)) == .useCurrent)
    #expect(age.renewal(refused: age, at: moment(31)) == .wait(.seconds(19 * 60)))
    #expect(age.renewal(refused: age, at: moment(50)) == .makeNew)
    #expect(age.renewal(refused: age, at: moment(10)) == .makeNew)
  }

  /// Lets a sender push at the given minutes, and returns when it made tokens, and the largest age of a used token.
  private func tokens(pushesAt minutes: [Double], set: (Double) -> Double) -> (made: [Double], oldest: Double) {
    var made: [Double] = []
    var current: ProviderTokenAge?
    var oldest = 0.0
    for minute in minutes {
      let now = moment(minute, set: set(minute))
      if current?.isDue(at: now) != false {
        current = ProviderTokenAge(madeAt: now)
        made.append(minute)
      }
      oldest = max(oldest, minute - (made.last ?? minute))
    }
    return (made, oldest)
  }

  @Test("a day with a push each minute needs 36 provider tokens, 40 minutes apart")
  func everyMinute() {
    let (made, oldest) = tokens(pushesAt: (0..<1_440).map(Double.init)) { _ in 0 }
    #expect(made == (0..<36).map { Double($0 * 40) })
    #expect(oldest == 39)
  }

  @Test(
    "in 200 days with random pushes and clock changes, every provider token is replaced at an age of 20 to 60 minutes")
  func randomDays() {
    var generator = SplitMix64(seed: 20)
    for day in 0..<200 {
      var minutes: [Double] = []
      var minute = 0.0
      let longestPause = [0.5, 5, 30, 180][day % 4]
      while minute < 1_440 {
        minutes.append(minute)
        minute += Double.random(in: 0.01...longestPause, using: &generator)
      }
      let changes = (0..<day % 7).map { _ in
        (at: Double.random(in: 0...1_440, using: &generator), by: Double.random(in: -300...300, using: &generator))
      }
      let (made, oldest) = tokens(pushesAt: minutes) { minute in
        changes.filter { $0.at <= minute }.reduce(0) { $0 + $1.by }
      }
      // A millisecond for the rounding of moments.
      #expect(zip(made, made.dropFirst()).allSatisfy { $1 - $0 >= 20 - 0.001 / 60 })
      #expect(oldest < 60)
    }
  }
}
