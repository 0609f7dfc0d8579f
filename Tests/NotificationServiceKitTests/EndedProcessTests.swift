// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundLibrary
import TestSupport
import Testing

@testable import NotificationServiceKit

@Suite("Extension processes that end early")
struct EndedProcessTests {
  private typealias Push = VirtualPhone.Push
  private let settings = {
    var settings = NotificationOrder.Settings()
    settings.lease = 4_000
    return settings
  }()

  private func arrive(
    _ order: inout NotificationOrder, _ push: Push, isMissed: Bool = false, at now: Int64
  ) throws -> Int64 {
    let number = order.arrive(push.arrival, isMissed: isMissed, at: now, settings)
    return try #require(number)
  }

  /// The program, beside the tests in the folder of the build.
  static var program: URL {
    var folder = Bundle(for: BundleMarker.self).bundleURL
    while !FileManager.default.fileExists(atPath: folder.appending(path: "notification-extension").path) {
      folder.deleteLastPathComponent()
    }
    return folder.appending(path: "notification-extension")
  }

  private final class BundleMarker {}

  @Test("a killed process blocks other processes no longer than its lease")
  func lease() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    _ = try arrive(&order, Push.payment(1, at: 0), at: 0)
    let second = try arrive(&order, Push.payment(2, at: 0), at: 0)
    order.prepared(second, duration: 1_000, settings)
    let answer1 = order.turn(of: second, "p2", at: 3_999, canAsk: false, settings)
    #expect(answer1 != .speak)
    order.renew(second, at: 3_999, settings)
    let isRemoved = order.removeAbandoned(at: 4_001, settings) { _ in true }
    #expect(isRemoved)
    let answer2 = order.turn(of: second, "p2", at: 4_001, canAsk: false, settings)
    #expect(answer2 == .speak)
  }

  @Test("a payment whose clip iOS has played for a killed process is not announced again")
  func shownAsSent() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    _ = order.arrive(Push.payment(1, at: 0).arrival, at: 0, settings)
    _ = order.removeAbandoned(at: 5_000, settings) { $0 == "p1.wav" }
    #expect(order.outcome(of: "p1") == .shownAsSent)
    #expect(order.catchUpTime(settings) == nil)
  }

  @Test("if a process is killed and the phone has no clip for its push, the phone asks the service for the payment")
  func missingAfterKill() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    _ = order.arrive(Push.payment(1, at: 0).arrival, at: 0, settings)
    let second = try arrive(&order, Push.payment(2, at: 100), at: 100)
    order.prepared(second, duration: 1_000, settings)
    order.renew(second, at: 3_000, settings)
    _ = order.removeAbandoned(at: 4_100, settings) { _ in false }
    let answer3 = order.turn(of: second, "p2", at: 4_100, canAsk: true, settings)
    #expect(answer3 != .speak)
    let answer4 = order.claimCatchUp(second, at: 4_600, settings)
    #expect(answer4 == 0)
    let first = try arrive(&order, Push.payment(1, at: 0), isMissed: true, at: 4_700)
    order.prepared(first, duration: 1_000, settings)
    order.endCatchUp(second, upTo: 1, isComplete: true, at: 4_700, settings)
    let answer5 = order.turn(of: first, "p1", at: 4_700, canAsk: true, settings)
    #expect(answer5 == .speak)
  }

  @Test("if the process that handles a lost push ends, the phone asks the service for the payment again")
  func missedAfterKill() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    _ = try arrive(&order, Push.payment(1, at: 0), isMissed: true, at: 0)
    let second = try arrive(&order, Push.payment(2, at: 100), at: 100)
    order.renew(second, at: 3_000, settings)
    _ = order.removeAbandoned(at: 4_100, settings) { _ in true }
    #expect(order.outcome(of: "p1") == nil)
    #expect(order.catchUpTime(settings) == 4_600)
  }

  @Test("if the process that makes a summary ends, another process makes the summary")
  func summariserEnds() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    var numbers: [Int64] = []
    for sequence in Int64(1)...12 {
      let number = try arrive(&order, Push.payment(sequence, at: 0), at: 0)
      order.prepared(number, duration: 3_000, settings)
      numbers.append(number)
    }
    guard case .summarise(let members) = order.turn(of: numbers[0], "p1", at: 0, canAsk: false, settings) else {
      Issue.record("No summary is made.")
      return
    }
    #expect(members.count == 12)
    for number in numbers.dropFirst() { order.renew(number, at: 3_000, settings) }
    _ = order.removeAbandoned(at: 4_100, settings) { _ in true }
    guard case .summarise(let others) = order.turn(of: numbers[1], "p2", at: 4_100, canAsk: false, settings) else {
      Issue.record("No other process makes the summary.")
      return
    }
    #expect(others.map(\.id) == (2...12).map { "p\($0)" })
  }

  @Test("a process that was stopped for longer than its lease is forgotten, and its push can arrive again")
  func stoppedProcess() async throws {
    var order = NotificationOrder()
    let number = try arrive(&order, Push.payment(1, at: 0), at: 0)
    _ = order.removeAbandoned(at: 60_000, settings) { _ in true }
    let answer6 = order.turn(of: number, "p1", at: 60_000, canAsk: false, settings)
    #expect(answer6 == .forgotten)
    let answer7 = order.arrive(Push.payment(1, at: 0).arrival, at: 60_000, settings)
    #expect(answer7 != nil)
  }

  @Test("after a restart of the phone, a push does not wait for processes and sounds from before the restart")
  func restart() throws {
    var order = NotificationOrder()
    order.notice(1_000_000)
    order.restart(after: 6)
    _ = order.arrive(Push.payment(7, at: 0).arrival, at: 1_000_000, settings)
    order.notice(2_000)
    let number = try arrive(&order, Push.payment(7, at: 0), at: 2_000)
    order.prepared(number, duration: 1_000, settings)
    let answer8 = order.turn(of: number, "p7", at: 2_000, canAsk: false, settings)
    #expect(answer8 == .speak)
    #expect(order.lastSequence == 7)
  }

  @Test(
    "if the processes that handle the first pushes are killed, the phone asks for all pushes from the lowest number on")
  func killedFirst() throws {
    var order = NotificationOrder()
    for sequence: Int64 in [6, 5] { _ = try arrive(&order, Push.payment(sequence, at: 0), at: 0) }
    #expect(order.lastHeard == nil)
    _ = order.removeAbandoned(at: 60_000, settings) { _ in false }
    #expect(order.lastHeard == 4 && order.postponed == [5, 6])
  }

  @Test(
    "a clock reading up to 5 s behind the latest one is accepted, and one further behind means a restart",
    arguments: [(95_000, true), (94_999, false), (100_000, true), (160_000, true)])
  func readings(now: Int64, isSameStart: Bool) throws {
    var order = NotificationOrder()
    order.notice(100_000)
    let number = try arrive(&order, Push.payment(7, at: 0), at: 100_000)
    order.notice(now)
    #expect((order.entry(number) != nil) == isSameStart)
  }

  /// Returns the requests that a process has handed over with a sound, by the lines of its output.
  private static func sounded(in output: Data) -> [String] {
    output.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = try? JSONSerialization.jsonObject(with: line) as? [String: Any]
      guard fields?["event"] as? String == "hand-over", fields?["sound"] is String else { return nil }
      return fields?["request"] as? String
    }
  }

  /// How often processes are killed; `make check-phone` sets 500.
  private static let kills = Int(ProcessInfo.processInfo.environment["CRIER_EXTENSION_KILLS"] ?? "") ?? 40

  @Test(
    "processes killed at any moment leave an undamaged order file, and the next process hands over with a sound")
  func killed() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: ["Received", "two", "dollars"])
    let configuration = phone.container.directory.appending(path: "configuration.json")
    try JSONSerialization.data(withJSONObject: [
      "container": phone.container.directory.path(percentEncoded: false),
      "templates": PhoneFolder.phraseBooks.path(percentEncoded: false), "last_sequence": 0,
      // What an ended process leaves behind does not hold up the next one for long.
      "lease": 200, "patience": 50,
    ]).write(to: configuration)
    let file = NotificationOrderFile(container: phone.container.directory)
    var random = SplitMix64(seed: 7)
    var (lastSequence, handedOver, unknown): (Int64, Int, Int) = (0, 0, 0)
    for round in 0..<Self.kills {
      let process = Process()
      process.executableURL = Self.program
      process.arguments = [configuration.path(percentEncoded: false)]
      let (input, output) = (Pipe(), Pipe())
      (process.standardInput, process.standardOutput) = (input, output)
      process.standardError = FileHandle.nullDevice
      try process.run()
      // The first line says that the process is ready.
      var lines = output.fileHandleForReading.availableData
      for number in 0..<3 {
        let sequence = Int64(round * 3 + number + 1)
        let payload = try JSONSerialization.jsonObject(with: TestPush(id: "p\(sequence)", sequence: sequence).payload)
        let line = try JSONSerialization.data(
          withJSONObject: ["do": "push", "request": "p\(sequence)", "payload": payload])
        try input.fileHandleForWriting.write(contentsOf: line + Data("\n".utf8))
      }
      // Every second process ends at a random moment, and every other one soon after its first hand-over.
      if round.isMultiple(of: 2) {
        usleep(.random(in: 0...60_000, using: &random))
      } else {
        while Self.sounded(in: lines).isEmpty {
          let more = output.fileHandleForReading.availableData
          try #require(!more.isEmpty, "The process has ended.")
          lines += more
        }
        usleep(.random(in: 0...3_000, using: &random))
      }
      process.killAndWait()
      try output.fileHandleForWriting.close()
      lines += try output.fileHandleForReading.readToEnd() ?? Data()
      guard let order = try file.read() else {
        #expect(!FileManager.default.fileExists(atPath: file.file.path), "The order is damaged.")
        continue
      }
      #expect(order.lastSequence ?? 0 >= lastSequence)
      lastSequence = order.lastSequence ?? 0
      let sounded = Self.sounded(in: lines)
      let heard = (1...3).map { "p\(round * 3 + $0)" }.filter { order.outcome(of: $0) == .heard }
      // A payment that was handed over is never announced again.
      #expect(Set(sounded).isSubset(of: heard))
      handedOver += sounded.count
      unknown += heard.count - sounded.count
    }
    #expect(handedOver >= Self.kills / 2)
    // A process may end between the order and the call of the handler, which follow each other at once.
    #expect(unknown <= 1 + Self.kills / 50)
    let last = Int64(Self.kills * 3 + 1)
    let handOvers = try await phone.service().handOver(TestPush(id: "p\(last)", sequence: last).payload)
    guard case .named? = handOvers.first?.sound else {
      Issue.record("The next announcement is not heard.")
      return
    }
  }
}
