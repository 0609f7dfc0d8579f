// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AnnouncementServer

@Suite("Alarms")
struct AlarmWatchTests {
  private typealias Facts = AlarmWatch.Facts

  private static func settings(_ change: (inout AlarmSettings) -> Void = { _ in }) -> AlarmSettings {
    var settings = AlarmSettings()
    settings.silentHours = 4
    change(&settings)
    return settings
  }

  private static func facts(
    lost: Duration? = nil, paused: Duration? = nil, waiting: Int = 0, silent: Duration? = nil
  ) -> Facts {
    Facts(player: .init(deviceLostFor: lost, pausedFor: paused, waiting: waiting), silentFor: silent)
  }

  private static let minute: Duration = .seconds(60)

  @Test("a shop in which everything works raises no alarm")
  func quiet() {
    var watch = AlarmWatch(Self.settings(), at: .zero)
    for second in stride(from: 0, to: 7_200, by: 5) {
      #expect(watch.look(Self.facts(waiting: 3, silent: .seconds(3_000)), at: .seconds(second)) == [])
    }
    #expect(watch.active.isEmpty)
  }

  @Test("a device that is lost for the configured minutes raises one alarm, and its return ends the alarm once")
  func device() {
    var watch = AlarmWatch(Self.settings { $0.deviceMinutes = 2 }, at: .zero)
    #expect(watch.look(Self.facts(lost: .seconds(119)), at: .seconds(10)) == [])
    #expect(
      watch.look(Self.facts(lost: .seconds(120)), at: .seconds(11)) == [.init(alarm: .deviceLost, hasBegun: true)])
    #expect(watch.look(Self.facts(lost: .seconds(500)), at: .seconds(391)) == [])
    #expect(watch.active == [.deviceLost])
    #expect(watch.look(Self.facts(), at: .seconds(400)) == [.init(alarm: .deviceLost, hasBegun: false)])
    #expect(watch.look(Self.facts(), at: .seconds(405)) == [] && watch.active.isEmpty)
    #expect(watch.look(Self.facts(lost: .seconds(130)), at: .seconds(600)).map(\.hasBegun) == [true])
  }

  @Test("a pause raises an alarm after the configured minutes, also if most of the minutes were before a restart")
  func paused() {
    var watch = AlarmWatch(Self.settings { $0.pausedMinutes = 10 }, at: .zero)
    #expect(watch.look(Self.facts(paused: .seconds(599)), at: .zero) == [])
    #expect(watch.look(Self.facts(paused: .seconds(600)), at: .seconds(1)) == [.init(alarm: .paused, hasBegun: true)])
    #expect(watch.look(Self.facts(), at: .seconds(2)) == [.init(alarm: .paused, hasBegun: false)])
  }

  @Test("a queue that is longer than its limit for a whole minute raises an alarm")
  func queue() {
    var watch = AlarmWatch(Self.settings { $0.longestQueue = 20 }, at: .zero)
    #expect(watch.look(Self.facts(waiting: 21), at: .seconds(0)) == [])
    #expect(watch.look(Self.facts(waiting: 90), at: .seconds(59)) == [])
    #expect(watch.look(Self.facts(waiting: 20), at: .seconds(59)) == [])
    #expect(watch.look(Self.facts(waiting: 21), at: .seconds(61)) == [])
    #expect(watch.look(Self.facts(waiting: 21), at: .seconds(120)) == [])
    #expect(watch.look(Self.facts(waiting: 21), at: .seconds(121)) == [.init(alarm: .queueLong, hasBegun: true)])
    #expect(watch.look(Self.facts(waiting: 21), at: .seconds(200)) == [])
    #expect(watch.look(Self.facts(waiting: 20), at: .seconds(201)) == [.init(alarm: .queueLong, hasBegun: false)])
  }

  @Test("an alarm for pushes begins as soon as APNs counts as unreachable")
  func pushes() {
    var watch = AlarmWatch(Self.settings(), at: .zero)
    #expect(watch.look(Facts(isPushUnreachable: true), at: .zero) == [.init(alarm: .pushUnreachable, hasBegun: true)])
    #expect(watch.look(Facts(isPushUnreachable: true), at: .seconds(1)) == [])
    #expect(watch.look(Facts(), at: .seconds(2)) == [.init(alarm: .pushUnreachable, hasBegun: false)])
  }

  @Test("a shop without payments for the configured hours raises an alarm, which begins only while the shop is open")
  func silent() {
    var watch = AlarmWatch(Self.settings(), at: .zero)
    #expect(watch.look(Self.facts(silent: .seconds(4 * 3_600 - 1)), at: .zero) == [])
    var closed = Self.facts(silent: .seconds(4 * 3_600))
    closed.isOpen = false
    #expect(watch.look(closed, at: .seconds(1)) == [])
    #expect(watch.look(Self.facts(silent: .seconds(4 * 3_600)), at: .seconds(2)).map(\.alarm) == [.shopSilent])
    #expect(watch.look(closed, at: .seconds(3)) == [], "it goes on after the shop has closed")
    #expect(watch.look(Self.facts(silent: nil), at: .seconds(4)) == [])
    #expect(watch.look(Self.facts(silent: .zero), at: .seconds(5)) == [.init(alarm: .shopSilent, hasBegun: false)])
  }

  @Test("the value 0 of a setting switches its alarm off")
  func off() {
    var settings = AlarmSettings()
    (settings.deviceMinutes, settings.pausedMinutes, settings.longestQueue, settings.silentHours) = (0, 0, 0, 0)
    var watch = AlarmWatch(settings, at: .zero)
    let worst = Self.facts(lost: .seconds(86_400), paused: .seconds(86_400), waiting: 9_999, silent: .seconds(864_000))
    for second in [0, 60, 3_600] { #expect(watch.look(worst, at: .seconds(second)) == []) }
  }

  @Test("while another program plays on the output, the player's alarms neither begin nor end")
  func otherPlayer() {
    var watch = AlarmWatch(Self.settings(), at: .zero)
    _ = watch.look(Self.facts(paused: .seconds(3_600), waiting: 50), at: .zero)
    _ = watch.look(Self.facts(paused: .seconds(3_660), waiting: 50), at: .seconds(60))
    #expect(watch.active == [.paused, .queueLong])
    #expect(watch.look(Facts(player: nil), at: .seconds(65)) == [])
    #expect(watch.active == [.paused, .queueLong])
  }

  @Test("several alarms begin and end independently of each other")
  func several() {
    var watch = AlarmWatch(Self.settings(), at: .zero)
    let both = watch.look(Self.facts(lost: .seconds(60), paused: .seconds(600)), at: .zero)
    #expect(both == [.init(alarm: .deviceLost, hasBegun: true), .init(alarm: .paused, hasBegun: true)])
    #expect(watch.look(Self.facts(paused: .seconds(605)), at: .seconds(5)).map(\.alarm) == [.deviceLost])
    #expect(watch.active == [.paused])
  }

  @Test("an alarm from before a restart is not raised again, and ends only when its state is known after the start")
  func restart() {
    var watch = AlarmWatch(Self.settings(), active: [.deviceLost], at: .zero)
    #expect(watch.look(Self.facts(), at: .seconds(1)) == [], "the device has not been tried yet")
    #expect(watch.look(Self.facts(lost: .seconds(70)), at: .seconds(80)) == [])
    #expect(watch.look(Self.facts(), at: .seconds(85)) == [.init(alarm: .deviceLost, hasBegun: false)])
  }

  @Test("an alarm from before a restart ends 90 seconds after the start if its cause is gone")
  func restartWithoutCause() {
    var watch = AlarmWatch(Self.settings(), active: [.paused, .queueLong], at: .zero)
    #expect(watch.look(Self.facts(), at: .seconds(89)) == [])
    let ended = watch.look(Self.facts(), at: .seconds(90))
    #expect(ended == [.init(alarm: .paused, hasBegun: false), .init(alarm: .queueLong, hasBegun: false)])
  }

  @Test("an alarm for a long queue from before a restart is not raised again while the queue stays long")
  func restartWithQueue() {
    var watch = AlarmWatch(Self.settings(), active: [.queueLong], at: .zero)
    for second in [0, 30, 60, 90, 600] { #expect(watch.look(Self.facts(waiting: 30), at: .seconds(second)) == []) }
  }
}

@Suite("The time for which a shop was open")
struct OpenTimeTests {
  private static let end = Date(timeIntervalSince1970: 1_800_000_000)

  private func between(_ seconds: TimeInterval, upTo most: Duration = .seconds(1 << 40), isOpen: (Date) -> Bool)
    -> Duration
  {
    OpenTime.between(Self.end.addingTimeInterval(-seconds), Self.end, upTo: most, isOpen: isOpen)
  }

  @Test("the open time of a shop that is always open is the whole time, up to two weeks")
  func always() {
    #expect(between(3_601) { _ in true } == .seconds(3_601))
    #expect(between(0) { _ in true } == .zero)
    #expect(between(-60) { _ in true } == .zero)
    #expect(between(100 * 86_400) { _ in true } == .seconds(14 * 86_400))
  }

  @Test("hours in which the shop is closed do not count as open time")
  func closed() {
    #expect(between(86_400) { _ in false } == .zero)
    // The shop is open in every second hour.
    let open = between(10 * 3_600) { Int($0.timeIntervalSince(Self.end)) / 3_600 % 2 == 0 }
    #expect(open == .seconds(5 * 3_600))
  }

  @Test("the calculation of the open time stops as soon as the time reaches the limit")
  func enough() {
    var looks = 0
    let open = between(86_400, upTo: .seconds(600)) { _ in
      looks += 1
      return true
    }
    #expect(open == .seconds(600) && looks == 2)
  }
}
