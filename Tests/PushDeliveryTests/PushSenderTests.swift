// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import ConcurrencySupport
import Foundation
import Ledger
import PushDelivery
import PushMessages
import PushTestSupport
import TestSupport
import Testing

extension Networked {
  @Suite("The sender of pushes", .timeLimit(.minutes(5)))
  struct PushSenderTests {
    /// The fate of a push that APNs always answers in the same way.
    enum Fate: Sendable {
      /// The push ends at once in the state, with the reason.
      case ends(Ledger.Push.State)
      /// The push is tried again until it expires.
      case expiresAfterRetries
      /// The app is stopped, and tried again with long waits until the push expires.
      case stopsApp
    }

    private static let fates: [(Int, String, Fate)] = [
      (400, "BadCollapseId", .ends(.failed)), (400, "BadDeviceToken", .ends(.failed)),
      (400, "BadExpirationDate", .ends(.failed)), (400, "BadMessageId", .ends(.failed)),
      (400, "BadPriority", .ends(.failed)), (400, "BadTopic", .stopsApp),
      (400, "DeviceTokenNotForTopic", .ends(.failed)), (400, "DuplicateHeaders", .ends(.failed)),
      (400, "IdleTimeout", .expiresAfterRetries), (400, "InvalidPushType", .ends(.failed)),
      (400, "MissingDeviceToken", .ends(.failed)), (400, "MissingTopic", .stopsApp),
      (400, "PayloadEmpty", .ends(.failed)), (400, "TopicDisallowed", .stopsApp),
      (403, "BadCertificate", .stopsApp), (403, "BadCertificateEnvironment", .stopsApp),
      (403, "BadEnvironmentKeyIdInToken", .stopsApp),
      (403, "BadEnvironmentKeyInToken", .stopsApp), (403, "ExpiredProviderToken", .stopsApp),
      (403, "Forbidden", .stopsApp), (403, "InvalidProviderToken", .stopsApp),
      (403, "MissingProviderToken", .stopsApp), (403, "UnrelatedKeyIdInToken", .stopsApp),
      (404, "BadPath", .ends(.failed)), (405, "MethodNotAllowed", .stopsApp),
      (410, "ExpiredToken", .ends(.unregistered)), (410, "Unregistered", .ends(.unregistered)),
      (413, "PayloadTooLarge", .ends(.failed)), (429, "TooManyProviderTokenUpdates", .expiresAfterRetries),
      (429, "TooManyRequests", .expiresAfterRetries), (500, "InternalServerError", .expiresAfterRetries),
      (503, "ServiceUnavailable", .expiresAfterRetries), (503, "Shutdown", .expiresAfterRetries),
      (400, "NeverHeardOf", .ends(.failed)), (418, "NeverHeardOf", .stopsApp),
      (502, "NeverHeardOf", .expiresAfterRetries),
    ]

    @Test("each documented reason of APNs ends a push, lets it wait, or stops all pushes to the app", arguments: fates)
    func reasons(status: Int, reason: String, fate: Fate) async throws {
      let clock = TestClock(jumps: true)
      try await PushSite.with {
        $0.faults = .script { _ in Fault(.answer(status: status, reason: reason)) }
      } _: { site in
        let outbox = try Outbox(now: { clock.now })
        try await outbox.register(1)
        let number = try await outbox.push(to: 1, now: clock.now)
        let client = try site.client()
        try await outbox.send(1, with: [Outbox.app: client], now: { clock.now }, sleep: clock.sleep)
        let push = try #require(try await outbox.pushes(to: 1).first)
        #expect(push.number == number)
        let ends = outbox.reports.filter { if case .ended = $0 { true } else { false } }
        #expect(ends.count == 1)
        let stops = outbox.reports.filter { if case .topicStopped = $0 { true } else { false } }
        let requests = site.simulator.counts.requests
        #expect(requests == push.attempts)
        #expect(outbox.reports.count { $0 == .attempted(server: client.server, nil) } == requests)
        switch fate {
        case .ends(let state):
          #expect(push.state == state)
          #expect(push.reason == reason)
          #expect(requests == 1)
          #expect(stops.isEmpty)
        case .expiresAfterRetries:
          #expect(push.state == .expired)
          #expect(push.reason == reason)
          // The waits grow to five minutes within the hour.
          #expect((12...40).contains(requests))
          // A stop of up to 20 minutes is reported once, although the push is tried more often.
          let told = [PushSender.Report.topicStopped(PushSchedule.Topic(Outbox.app), reason: reason)]
          #expect(stops == (reason == PushSender.tooManyTokens ? told : []))
        case .stopsApp:
          #expect(push.state == .expired)
          #expect(push.reason == reason)
          // The app is tried every quarter of an hour within the hour.
          #expect(requests == 4)
          #expect(stops == [.topicStopped(PushSchedule.Topic(Outbox.app), reason: reason)])
        }
      }
    }

    @Test("a push that was never sent because its app was refused expires with the reason for the refusal")
    func neverTried() async throws {
      let clock = TestClock(jumps: true)
      try await PushSite.with {
        $0.faults = .script { _ in Fault(.answer(status: 400, reason: "TopicDisallowed")) }
      } _: { site in
        let outbox = try Outbox(now: { clock.now })
        for device in 1...20 {
          try await outbox.register(device)
          try await outbox.push(to: device, now: clock.now)
        }
        var settings = PushSender.Settings()
        settings.mostToApp = 1
        try await outbox.send(
          20, with: [Outbox.app: try site.client()], settings: settings, now: { clock.now }, sleep: clock.sleep)
        var attempts: [Int] = []
        for device in 1...20 {
          let push = try #require(try await outbox.pushes(to: device).first)
          #expect(push.state == .expired && push.reason == "TopicDisallowed")
          attempts.append(push.attempts)
        }
        #expect(attempts.contains(0), "the first refusal stops the app, and one push is tried each quarter of an hour")
      }
    }

    @Test("an answer 410 deletes the token only if it was registered before the time in the answer")
    func unregistered() async throws {
      let now = Date()
      try await PushSite.with { _ in
      } _: { site in
        let outbox = try Outbox()
        for (device, moment) in [(1, now.addingTimeInterval(60)), (2, now.addingTimeInterval(-60))] {
          try await outbox.register(device)
          try await outbox.push(to: device)
          let since = Int64(moment.timeIntervalSince1970 * 1_000)
          site.simulator.set(APNSSimulator.Device(PushSite.token(device), state: .unregistered(since: since)))
        }
        try await outbox.send(2, with: [Outbox.app: try site.client()])
        for device in [1, 2] {
          #expect(try await outbox.pushes(to: device).map(\.state) == [.unregistered])
          #expect(try await outbox.device(device)?.tokens.isEmpty == (device == 1))
        }
      }
    }

    @Test("each refusal of a bad device token is counted, and the token is kept")
    func badDeviceToken() async throws {
      try await PushSite.with { site in
        site.simulator.set(APNSSimulator.Device(PushSite.token(1), state: .wrongEnvironment))
        let outbox = try Outbox()
        try await outbox.register(1)
        for _ in 0..<5 { try await outbox.push(to: 1) }
        try await outbox.send(5, with: [Outbox.app: try site.client()])
        #expect(try await outbox.pushes(to: 1).allSatisfy { $0.state == .failed && $0.reason == "BadDeviceToken" })
        #expect(try await outbox.device(1)?.tokens[.alert]?.refusals == 5)
        #expect(outbox.reports.count { $0 == .tokenRefused(account: "shop", device: "device-1") } == 5)
      }
    }

    @Test("refused tokens of ten devices in a row lead to one report about the app")
    func suspects() async throws {
      try await PushSite.with { configuration in
        configuration.faults = .script { _ in Fault(.answer(status: 400, reason: "DeviceTokenNotForTopic")) }
      } _: { site in
        let outbox = try Outbox()
        for device in 0..<12 {
          try await outbox.register(device)
          for _ in 0..<2 { try await outbox.push(to: device) }
        }
        try await outbox.send(24, with: [Outbox.app: try site.client()])
        let alarms = outbox.reports.filter { if case .allTokensRefused = $0 { true } else { false } }
        #expect(alarms == [.allTokensRefused(Outbox.app, reason: "DeviceTokenNotForTopic")])
        #expect(try await outbox.ledger.pushCounts() == [.failed: 24])
      }
    }

    @Test(
      "a wrong key stops an app's pushes and is reported once; single pushes then try the key until it works")
    func wrongKey() async throws {
      let clock = TestClock(jumps: true)
      try await PushSite.with { configuration in
        // The first fifty are sent at once; two trials follow.
        configuration.faults = .script {
          $0.number <= 52 ? Fault(.answer(status: 403, reason: "InvalidProviderToken")) : nil
        }
      } _: { site in
        let outbox = try Outbox(now: { clock.now })
        for device in 0..<50 {
          try await outbox.register(device)
          // Each answer of the fifty lets the clock jump once more.
          try await outbox.push(to: device, lifetime: 10_000_000, now: clock.now)
        }
        let start = clock.now
        try await outbox.send(50, with: [Outbox.app: try site.client()], now: { clock.now }, sleep: clock.sleep)
        #expect(try await outbox.ledger.pushCounts() == [.delivered: 50])
        #expect(site.simulator.counts.requests == 102)
        let stops = outbox.reports.filter { if case .topicStopped = $0 { true } else { false } }
        #expect(stops == [.topicStopped(PushSchedule.Topic(Outbox.app), reason: "InvalidProviderToken")])
        #expect(clock.now.timeIntervalSince(start) >= 2_700)
      }
    }

    @Test("an app that is not configured is reported once, and its pushes expire")
    func unknownApp() async throws {
      let clock = TestClock(jumps: true)
      let outbox = try Outbox(now: { clock.now })
      for device in 0..<3 {
        try await outbox.register(device, app: "com.example.other")
        try await outbox.push(to: device, now: clock.now)
      }
      try await outbox.send(3, with: [:], now: { clock.now }, sleep: clock.sleep)
      #expect(try await outbox.ledger.pushCounts() == [.expired: 3])
      let app = PushSchedule.App(bundleID: "com.example.other", environment: .production)
      let stops = outbox.reports.filter { if case .topicStopped = $0 { true } else { false } }
      #expect(stops == [.topicStopped(PushSchedule.Topic(app), reason: "AppNotConfigured")])
    }

    /// Counts one more.
    private static func next(_ count: Locked<Int>) -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }

    @Test("the pushes to a device that has got too many pushes keep their order, and do not delay other devices")
    func tooManyRequests() async throws {
      let clock = TestClock(jumps: false)
      let others = Locked(0)
      let slow = PushSite.token(0)
      let refusals = Locked(0)
      try await PushSite.with { configuration in
        configuration.faults = .script { request in
          guard request.device == slow, Self.next(refusals) <= 3 else { return nil }
          return Fault(.answer(status: 429, reason: "TooManyRequests", retryAfter: 30))
        }
      } _: { site in
        let outbox = try Outbox(now: { clock.now })
        for device in 0..<20 {
          try await outbox.register(device)
          for _ in 0..<5 { try await outbox.push(to: device, now: clock.now) }
        }
        let start = clock.now
        try await outbox.send(
          100, with: [Outbox.app: try site.client()], now: { clock.now }, sleep: clock.sleep,
          onReport: {
            guard case .ended(let push) = $0, push.device != "device-0" else { return }
            // The clock stands until all pushes to other devices have ended.
            if Self.next(others) == 95 { clock.jump() }
          })
        #expect(try await outbox.ledger.pushCounts() == [.delivered: 100])
        let ends = outbox.reports.compactMap { if case .ended(let push) = $0 { push.device } else { nil } }
        #expect(ends.suffix(5) == Array(repeating: "device-0", count: 5)[...])
        #expect(try await outbox.pushes(to: 0).map(\.attempts) == [4, 1, 1, 1, 1])
        #expect(clock.now.timeIntervalSince(start) >= 90)
      }
    }

    @Test("after an answer with Retry-After, the sender waits for the stated time")
    func retryAfter() async throws {
      let clock = TestClock(jumps: true)
      let moments = Locked<[Date]>([])
      try await PushSite.with { configuration in
        configuration.faults = .script { request in
          moments.withLock { $0.append(clock.now) }
          guard request.number == 1 else { return nil }
          return Fault(.answer(status: 503, reason: "ServiceUnavailable", retryAfter: 120))
        }
      } _: { site in
        let outbox = try Outbox(now: { clock.now })
        try await outbox.register(1)
        try await outbox.push(to: 1, now: clock.now)
        try await outbox.send(1, with: [Outbox.app: try site.client()], now: { clock.now }, sleep: clock.sleep)
        #expect(try await outbox.pushes(to: 1).map(\.state) == [.delivered])
        let times = moments.withLock { $0 }
        #expect(times.count == 2)
        #expect((120...121).contains(times[1].timeIntervalSince(times[0])))
      }
    }

    @Test("an expired push is not sent, and its end is reported")
    func expired() async throws {
      try await PushSite.with { site in
        let outbox = try Outbox()
        try await outbox.register(1)
        let old = try await outbox.push(to: 1, lifetime: -1)
        let new = try await outbox.push(to: 1)
        try await outbox.send(2, with: [Outbox.app: try site.client()])
        #expect(try await outbox.pushes(to: 1).map(\.state) == [.expired, .delivered])
        #expect(site.simulator.counts.requests == 1)
        let states = outbox.reports.compactMap { report -> [Int64: Ledger.Push.State]? in
          if case .ended(let push) = report { [push.number: push.state] } else { nil }
        }
        #expect(Set(states) == [[old: .expired], [new: .delivered]])
      }
    }

    @Test(
      "a step of the wall clock neither ends a push nor lengthens a pause",
      arguments: [5, 3_600, 86_400, -5, -3_600, -86_400] as [TimeInterval])
    func clockStep(seconds: TimeInterval) async throws {
      let clock = TestClock(jumps: true)
      let step = Locked<TimeInterval>(0)
      let date: @Sendable () -> Date = { clock.now.addingTimeInterval(step.withLock { $0 }) }
      try await PushSite.with { configuration in
        configuration.faults = .script { request in
          guard request.number == 1 else { return nil }
          // The whole app is paused, and the clock is set meanwhile.
          step.withLock { $0 = seconds }
          return Fault(.answer(status: 503, reason: "ServiceUnavailable", retryAfter: 30))
        }
      } _: { site in
        let outbox = try Outbox(now: date)
        for device in 1...2 { try await outbox.register(device) }
        try await outbox.push(to: 1, now: date())
        let start = clock.now
        try await outbox.send(
          2, with: [Outbox.app: try site.client()], now: { clock.now }, date: date, sleep: clock.sleep,
          onReport: { _ in }
        ) { sender in
          try await eventually { step.withLock({ $0 }) != 0 }
          try await outbox.push(to: 2, now: date())
          sender.lookForPushes()
        }
        #expect(try await outbox.ledger.pushCounts() == [.delivered: 2])
        #expect((30...120).contains(clock.now.timeIntervalSince(start)))
      }
    }

    @Test(
      "a step of the wall clock after the registration of a phone does not prevent a push from being sent",
      arguments: [5, 3_600, 86_400, -5, -3_600, -86_400] as [TimeInterval])
    func clockStepAfterRegistration(seconds: TimeInterval) async throws {
      let now = Date()
      let step = Locked<TimeInterval>(0)
      let date: @Sendable () -> Date = { now.addingTimeInterval(step.withLock { $0 }) }
      try await PushSite.with { _ in
      } _: { site in
        let outbox = try Outbox(now: date)
        try await outbox.register(1)
        step.withLock { $0 = seconds }
        try await outbox.push(to: 1, now: date())
        let other = NewPush(
          device: "device-1", kind: .background, priority: 5, expiresAt: date().addingTimeInterval(60),
          body: NewPush.Body(Data(#"{"aps":{"content-available":1}}"#.utf8)))
        try await outbox.ledger.accept([other], account: Outbox.account)
        try await outbox.send(2, with: [Outbox.app: try site.client()], now: { now }, date: date)
        #expect(try await outbox.ledger.pushCounts() == [.delivered: 2])
      }
    }

    @Test("a push that was interrupted twice is reported, and sent later, after the others")
    func setAside() async throws {
      let clock = TestClock(jumps: true)
      try await PushSite.with { _ in
      } _: { site in
        let outbox = try Outbox(now: { clock.now })
        try await outbox.register(1)
        let numbers = [try await outbox.push(to: 1, now: clock.now), try await outbox.push(to: 1, now: clock.now)]
        // Nothing records the end of these attempts, as if the process had ended.
        for _ in 0..<2 { _ = try await outbox.ledger.startSending([numbers[0]]) }
        let start = clock.now
        try await outbox.send(2, with: [Outbox.app: try site.client()], now: { clock.now }, sleep: clock.sleep)
        let ends = outbox.reports.compactMap { if case .ended(let push) = $0 { push.number } else { nil } }
        #expect(ends == [numbers[1], numbers[0]] && outbox.reports.contains(.setAside(count: 1)))
        #expect(try await outbox.ledger.pushCounts() == [.delivered: 2])
        #expect(clock.now.timeIntervalSince(start) >= 600)
      }
    }

    @Test("pushes to a device without a token, or to a removed device, end without being sent")
    func noToken() async throws {
      try await PushSite.with { site in
        let outbox = try Outbox()
        for device in 1...2 {
          try await outbox.register(device)
          try await outbox.push(to: device)
        }
        let token = PushSite.token(1)
        _ = try await outbox.ledger.removeToken(
          token, account: "shop", device: "device-1", invalidSince: Date().addingTimeInterval(60))
        _ = try await outbox.ledger.removeDevice(account: "shop", id: "device-2", by: .currentUser)
        try await outbox.send(2, with: [Outbox.app: try site.client()])
        #expect(try await outbox.ledger.pushCounts() == [.unregistered: 2])
        #expect(site.simulator.counts.requests == 0)
      }
    }

    @Test("pushes that GOAWAY refused are sent again under the same id")
    func goAway() async throws {
      try await PushSite.with {
        $0.faults = .script { $0.number % 41 == 0 ? Fault(.goAway) : nil }
      } _: { site in
        let outbox = try Outbox()
        for device in 0..<100 {
          try await outbox.register(device)
          for _ in 0..<3 { try await outbox.push(to: device) }
        }
        try await outbox.send(300, with: [Outbox.app: try site.client()])
        #expect(try await outbox.ledger.pushCounts() == [.delivered: 300])
        var attempts = 0
        for device in 0..<100 {
          for push in try await outbox.pushes(to: device) {
            #expect(site.simulator.entry(push.id) != nil)
            attempts += push.attempts
          }
        }
        #expect(site.simulator.record.count == 300)
        #expect(attempts > 300)
      }
    }

    @Test("while a server cannot be reached, one push at a time tries it, and the others expire with the reason")
    func unreachable() async throws {
      let clock = TestClock(jumps: true)
      try await PushSite.with { site in
        let outbox = try Outbox(now: { clock.now })
        for device in 0..<20 {
          try await outbox.register(device)
          try await outbox.push(to: device, now: clock.now)
        }
        let nobody = try PushConnections(
          server: PushServer(host: "127.0.0.1", port: OtherServer.freePort(), trustRoots: site.authority))
        let client = PushClient(connections: nobody, tokens: ProviderTokens(key: site.key))
        try await outbox.send(20, with: [Outbox.app: client], now: { clock.now }, sleep: clock.sleep)
        #expect(try await outbox.ledger.pushCounts() == [.expired: 20])
        var attempts = 0
        for device in 0..<20 {
          for push in try await outbox.pushes(to: device) {
            #expect(push.reason == "cannot_connect")
            attempts += push.attempts
          }
        }
        // Each device for itself would try at least twelve times within the hour.
        #expect(attempts < 120)
        let reported = outbox.reports.filter {
          if case .attempted(_, .cannotConnect) = $0 { true } else { false }
        }
        #expect(reported.count == attempts, "each attempt without a connection is reported, for the alarm")
        #expect(!outbox.reports.contains { if case .topicStopped = $0 { true } else { false } })
      }
    }

    @Test("a stopped sender finishes the pushes that it is sending, and the next sender continues")
    func stopped() async throws {
      try await PushSite.with {
        $0.answerDelay = 5
      } _: { site in
        let outbox = try Outbox()
        for device in 0..<20 {
          try await outbox.register(device)
          for _ in 0..<10 { try await outbox.push(to: device) }
        }
        let client = try site.client()
        try await outbox.send(50, with: [Outbox.app: client])
        let counts = try await outbox.ledger.pushCounts()
        #expect(counts[.sending] == nil)
        #expect(counts[.delivered, default: 0] >= 50)
        try await outbox.send(200 - counts[.delivered, default: 0], with: [Outbox.app: client])
        #expect(try await outbox.ledger.pushCounts() == [.delivered: 200])
        #expect(site.simulator.counts.duplicates == 0)
        #expect(!outbox.reports.contains { if case .interrupted = $0 { true } else { false } })
      }
    }

    @Test(
      "with random faults, each push ends once, the pushes to a device end in order, and the ledger agrees with APNs",
      arguments: [1, 2])
    func randomFaults(seed: UInt64) async throws {
      let pushes = ProcessInfo.processInfo.environment["CRIER_RANDOM_PUSHES"].flatMap { Int($0) } ?? 5_000
      var run = RandomFaults(pushes: pushes, devices: pushes / 25)
      run.seed = seed
      let findings = try await run.run()
      #expect(findings.faults.isEmpty)
      #expect(findings.happened.count >= min(10, pushes / 50))
      #expect(findings.states[.delivered, default: 0] > pushes * 3 / 5)
    }
  }
}
