// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Foundation
import Testing

@Suite("Devices of the push simulator", .timeLimit(.minutes(5)))
struct DeviceTests {
  private typealias Device = APNSSimulator.Device

  private func alert(_ text: String) -> String { #"{"aps":{"alert":"\#(text)"}}"# }

  private func bodies(_ pushes: [Push]) -> [String] { pushes.map { String(decoding: $0.payload, as: UTF8.self) } }

  @Test("a push to a device token that became invalid is answered with 410 and the time")
  func gone() async throws {
    try await Bench.with {
      $0.devices = [
        Device(Bench.device, state: .unregistered(since: 1_899_999_999_123)),
        Device(Bench.otherDevice, state: .expired(since: 1_899_999_999_456)),
      ]
    } _: { bench in
      let token = try bench.token()
      let unregistered = try await bench.push(token: token)
      #expect(unregistered.status == 410 && unregistered.reason == "Unregistered")
      #expect(unregistered.timestamp == 1_899_999_999_123)
      let expired = try await bench.push(to: Bench.otherDevice, token: token)
      #expect(expired.status == 410 && expired.reason == "ExpiredToken")
      #expect(expired.timestamp == 1_899_999_999_456)
    }
  }

  @Test("a device token that is unknown, or belongs to the other environment, is answered with BadDeviceToken")
  func bad() async throws {
    try await Bench.with {
      $0.devices = [Device(Bench.device, state: .wrongEnvironment)]
    } _: { bench in
      let token = try bench.token()
      for device in [Bench.device, Bench.otherDevice] {
        let answer = try await bench.push(to: device, token: token)
        #expect(answer.status == 400 && answer.reason == "BadDeviceToken" && answer.timestamp == nil)
      }
    }
  }

  @Test("a device token, in upper or lower case, takes only pushes of its own topics")
  func topics() async throws {
    try await Bench.with {
      $0.devices = [Device(Bench.device, topics: [Bench.topic])]
    } _: { bench in
      let token = try bench.token()
      #expect(try await bench.push(to: Bench.device.uppercased(), token: token).status == 200)
      let answer = try await bench.push(token: token, ["apns-topic": "com.example.other"])
      #expect(answer.status == 400 && answer.reason == "DeviceTokenNotForTopic")
      #expect(bench.simulator.deliveries(to: Bench.device).count == 1)
    }
  }

  @Test("a device that was offline gets only the newest push of each topic")
  func away() async throws {
    try await Bench.with { bench in
      let token = try bench.token()
      bench.simulator.setOnline(Bench.device, false)
      for text in ["1", "2", "3"] {
        #expect(try await bench.push(token: token, body: alert(text)).status == 200)
      }
      _ = try await bench.push(token: token, ["apns-topic": "com.example.other"], body: alert("4"))
      #expect(bench.simulator.deliveries(to: Bench.device).isEmpty)
      bench.advance(seconds: 60)
      bench.simulator.setOnline(Bench.device, true)
      let pushes = bench.simulator.deliveries(to: Bench.device)
      #expect(bodies(pushes) == [alert("3"), alert("4")])
      #expect(pushes.allSatisfy { $0.received == Bench.start && $0.delivered == Bench.start + 60_000 })
      #expect(
        bench.simulator.record.values.map(\.fate.rawValue).sorted() == [
          "delivered", "delivered", "replaced", "replaced",
        ])
    }
  }

  @Test("an expired push is not delivered to a device that was offline")
  func expiration() async throws {
    try await Bench.with { bench in
      let token = try bench.token()
      bench.simulator.setOnline(Bench.device, false)
      let end = "\(Bench.start / 1000 + 30)"
      _ = try await bench.push(token: token, ["apns-expiration": end], body: alert("1"))
      _ = try await bench.push(token: token, ["apns-expiration": "0", "apns-topic": "com.example.other"])
      bench.advance(seconds: 30)
      bench.simulator.setOnline(Bench.device, true)
      #expect(bench.simulator.deliveries(to: Bench.device).isEmpty)
      #expect(bench.simulator.record.values.map(\.fate) == [.expired, .expired])
      _ = try await bench.push(token: token, ["apns-expiration": "0"], body: alert("2"))
      #expect(bodies(bench.simulator.deliveries(to: Bench.device)) == [alert("2")])
    }
  }

  @Test("two pushes with the same id are one push in the simulator's record, and both deliveries are counted")
  func duplicates() async throws {
    try await Bench.with { bench in
      let (token, id) = (try bench.token(), UUID())
      for _ in 1...2 { _ = try await bench.push(token: token, ["apns-id": id.uuidString]) }
      #expect(bench.simulator.record.count == 1)
      let entry = try #require(bench.simulator.entry(id))
      #expect(entry.accepted == 2 && entry.delivered == 2 && entry.device == Bench.device)
      #expect(bench.simulator.counts.duplicates == 1)
    }
  }

  @Test("a reordered push changes places with the next push to the same device")
  func reordering() async throws {
    try await Bench.with {
      $0.reorderRate = 1
      // Far longer than the test, so that only the next push ends the wait.
      $0.reorderPatience = 3_600_000
    } _: { bench in
      let token = try bench.token()
      for text in ["1", "2", "3"] { _ = try await bench.push(token: token, body: alert(text)) }
      #expect(bodies(bench.simulator.deliveries(to: Bench.device)) == [alert("2"), alert("1")])
      bench.simulator.releaseHeldPushes()
      #expect(bodies(bench.simulator.deliveries(to: Bench.device)) == [alert("2"), alert("1"), alert("3")])
      #expect(bench.simulator.counts.reordered == 1)
    }
  }

  @Test("a reordered push that no other push follows is delivered after a time limit")
  func reorderingEnds() async throws {
    try await Bench.with {
      $0.reorderRate = 1
      $0.reorderPatience = 1
    } _: { bench in
      var deliveries = bench.simulator.deliveries().makeAsyncIterator()
      _ = try await bench.push(body: alert("1"))
      let push = try #require(await deliveries.next())
      #expect(bodies([push]) == [alert("1")])
    }
  }

  @Test("a reordered push is not delivered while its device is offline, and counts as older than the next push")
  func reorderingAway() async throws {
    try await Bench.with {
      $0.reorderRate = 1
      // Far longer than the test, so that only the test ends the wait.
      $0.reorderPatience = 3_600_000
    } _: { bench in
      let token = try bench.token()
      _ = try await bench.push(token: token, body: alert("1"))
      bench.simulator.setOnline(Bench.device, false)
      bench.simulator.releaseHeldPushes()
      #expect(bench.simulator.deliveries(to: Bench.device).isEmpty)
      #expect(bench.simulator.record.values.map(\.fate) == [.waiting])
      _ = try await bench.push(token: token, body: alert("2"))
      #expect(bench.simulator.record.values.map(\.fate.rawValue).sorted() == ["replaced", "waiting"])
      bench.simulator.setOnline(Bench.device, true)
      #expect(bodies(bench.simulator.deliveries(to: Bench.device)) == [alert("2")])
    }
  }

  @Test("a full record of pushes forgets the oldest push, and a repetition of this push counts as new")
  func fullLedger() async throws {
    try await Bench.with {
      $0.recordSize = 2
    } _: { bench in
      let (token, ids) = (try bench.token(), (0..<3).map { _ in UUID() })
      // A push that comes again does not become younger.
      for id in [ids[0], ids[1], ids[0], ids[2]] {
        _ = try await bench.push(token: token, ["apns-id": id.uuidString])
      }
      #expect(Set(bench.simulator.record.keys) == [ids[1], ids[2]])
      #expect(bench.simulator.counts.accepted == 4 && bench.simulator.counts.duplicates == 1)
      _ = try await bench.push(token: token, ["apns-id": ids[0].uuidString])
      #expect(bench.simulator.entry(ids[0])?.accepted == 1 && bench.simulator.entry(ids[1]) == nil)
      #expect(bench.simulator.counts.accepted == 5 && bench.simulator.counts.duplicates == 1)
    }
  }

  @Test("a push that the simulator is told to drop is accepted and never delivered")
  func dropping() async throws {
    try await Bench.with {
      $0.dropRate = 1
    } _: { bench in
      let answer = try await bench.push()
      #expect(answer.status == 200)
      #expect(bench.simulator.deliveries(to: Bench.device).isEmpty)
      #expect(bench.simulator.record.values.map(\.fate) == [.dropped] && bench.simulator.counts.dropped == 1)
    }
  }

  @Test("the simulator's streams yield accepted and delivered pushes in order, and end when the simulator stops")
  func streams() async throws {
    var streams: (accepted: AsyncStream<Push>, delivered: AsyncStream<Push>)?
    try await Bench.with { bench in
      streams = (bench.simulator.acceptances(), bench.simulator.deliveries())
      let token = try bench.token()
      bench.simulator.setOnline(Bench.otherDevice, false)
      _ = try await bench.push(to: Bench.otherDevice, token: token, body: alert("1"))
      _ = try await bench.push(token: token, body: alert("2"))
    }
    var (accepted, delivered): ([String], [String]) = ([], [])
    for await push in try #require(streams).accepted { accepted += bodies([push]) }
    for await push in try #require(streams).delivered { delivered += bodies([push]) }
    #expect(accepted == [alert("1"), alert("2")] && delivered == [alert("2")])
  }
}
