// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import ConcurrencySupport
import Foundation
import Testing

@Suite("Faults of the push simulator", .timeLimit(.minutes(5)))
struct FaultTests {
  /// Returns a script in which the first request meets a fault.
  private func first(_ fault: Fault) -> Faults { .script { $0.number == 1 ? fault : nil } }

  @Test(
    "a request that meets a fault gets the fault's status, reason and Retry-After, and its push is not accepted")
  func answer() async throws {
    try await Bench.with {
      $0.faults = first(Fault(.answer(status: 503, reason: "ServiceUnavailable", retryAfter: 7)))
    } _: { bench in
      let token = try bench.token()
      let answer = try await bench.push(token: token)
      #expect(answer.status == 503 && answer.reason == "ServiceUnavailable" && answer.headers["retry-after"] == "7")
      #expect(bench.simulator.counts.accepted == 0 && bench.simulator.counts.faults == ["503 ServiceUnavailable": 1])
      #expect(try await bench.push(token: token).status == 200)
    }
  }

  @Test(
    "the stream of refusals has each fault's status, or the fault's name if it has no status, and leaves out delays")
  func refusals() async throws {
    let faults = [
      Fault(.answer(status: 503, reason: "Shutdown")), Fault(.delay(milliseconds: 1)), Fault(.reset(code: 2)),
      Fault(.closeConnection, .afterProcessing), Fault(.answer(status: 200, reason: "")),
    ]
    try await Bench.with {
      $0.faults = .script { $0.number <= faults.count ? faults[$0.number - 1] : nil }
    } _: { bench in
      let refusals = bench.simulator.refusals()
      let token = try bench.token()
      for _ in faults { _ = try await bench.push(token: token) }
      var read: [String] = []
      // The time limit of the suite is the deadline.
      for await push in refusals.prefix(3) {
        #expect(push.isFault && push.topic == Bench.topic)
        read.append("\(push.status.map(String.init) ?? "-") \(push.reason)")
      }
      #expect(read == ["503 Shutdown", "- reset", "- close"])
    }
  }

  @Test("a fault with the status 410 is answered with a time")
  func gone() async throws {
    try await Bench.with {
      $0.faults = first(Fault(.answer(status: 410, reason: "Unregistered")))
    } _: { bench in
      let answer = try await bench.push()
      #expect(answer.timestamp == Bench.start)
    }
  }

  @Test("a fault after processing gives the client an error, although the push was accepted and delivered")
  func afterProcessing() async throws {
    for action in [
      Fault.Action.answer(status: 500, reason: "InternalServerError"), .reset(code: 2), .closeConnection,
    ] {
      try await Bench.with {
        $0.faults = first(Fault(action, .afterProcessing))
      } _: { bench in
        let answer = try await bench.push()
        #expect(answer.status != 200)
        #expect(bench.simulator.counts.accepted == 1)
        #expect(bench.simulator.deliveries(to: Bench.device).count == 1)
      }
    }
  }

  @Test("a reset ends the stream with the configured error code, and the push is not accepted")
  func reset() async throws {
    try await Bench.with {
      $0.faults = first(Fault(.reset(code: 2)))
    } _: { bench in
      let answer = try await bench.push()
      #expect(answer.exit == 92 && answer.log.contains("INTERNAL_ERROR"))
      #expect(bench.simulator.counts.accepted == 0)
    }
  }

  @Test("a push whose connection the simulator closes has no answer, and is not accepted")
  func closing() async throws {
    try await Bench.with {
      $0.faults = first(Fault(.closeConnection))
    } _: { bench in
      let answer = try await bench.push()
      #expect(answer.exit != 0 && answer.status == 0)
      #expect(bench.simulator.counts.accepted == 0)
    }
  }

  @Test("a request that the simulator leaves without an answer ends at the client's time limit")
  func never() async throws {
    for moment in [Fault.Moment.beforeProcessing, .afterProcessing] {
      try await Bench.with {
        $0.faults = first(Fault(.never, moment))
      } _: { bench in
        let answer = try await bench.push(options: ["--max-time", "1"])
        #expect(answer.exit == 28 && answer.status == 0)
        #expect(bench.simulator.counts.accepted == (moment == .afterProcessing ? 1 : 0))
      }
    }
  }

  @Test("a delayed request is answered after the delay")
  func delay() async throws {
    for moment in [Fault.Moment.beforeProcessing, .afterProcessing] {
      try await Bench.with {
        $0.faults = first(Fault(.delay(milliseconds: 1), moment))
        $0.answerDelay = 1
      } _: { bench in
        let answer = try await bench.push()
        #expect(answer.status == 200)
        #expect(bench.simulator.counts.accepted == 1)
      }
    }
  }

  @Test("GOAWAY before processing refuses the request, and the client sends it again on a new connection")
  func goAwayBefore() async throws {
    try await Bench.with {
      $0.faults = first(Fault(.goAway))
    } _: { bench in
      let answer = try await bench.push(options: ["--retry", "1", "--retry-all-errors", "--retry-delay", "0"])
      #expect(answer.status == 200)
      #expect(bench.simulator.counts.requests == 2 && bench.simulator.counts.connections == 2)
      #expect(bench.simulator.counts.accepted == 1)
    }
  }

  @Test("a request that was processed before GOAWAY is still answered")
  func goAwayAfter() async throws {
    try await Bench.with {
      $0.faults = first(Fault(.goAway, .afterProcessing))
    } _: { bench in
      let answer = try await bench.push()
      #expect(answer.status == 200)
      #expect(bench.simulator.counts.requests == 1 && bench.simulator.counts.accepted == 1)
    }
  }

  @Test("the function that chooses the faults gets each request as the simulator received it")
  func script() async throws {
    let seen = Locked<ReceivedRequest?>(nil)
    try await Bench.with {
      $0.faults = .script { request in
        seen.withLock { $0 = request }
        return nil
      }
    } _: { bench in
      _ = try await bench.push(["apns-id": "1"])
      let request = try #require(seen.withLock { $0 })
      #expect(request.number == 1 && request.connection == 1 && request.stream == 1)
      #expect(request.device == Bench.device && request.topic == Bench.topic && request.type == "alert")
      #expect(request.id == "1" && request.payload == Array(Bench.alert.utf8))
    }
  }

  @Test("random faults are the same for the same seed")
  func rates() async throws {
    var runs: [[Int]] = []
    for seed: UInt64 in [7, 7, 8] {
      try await Bench.with {
        $0.faults = .rates([
          Faults.Rate(Fault(.answer(status: 500, reason: "InternalServerError")), probability: 0.3),
          Faults.Rate(Fault(.answer(status: 429, reason: "TooManyRequests")), probability: 0.3),
        ])
        $0.seed = seed
      } _: { bench in
        let token = try bench.token()
        var statuses: [Int] = []
        for _ in 1...12 { statuses.append(try await bench.push(token: token).status) }
        runs.append(statuses)
      }
    }
    #expect(runs[0] == runs[1] && runs[0] != runs[2])
    #expect(Set(runs.joined()) == [200, 429, 500])
  }
}
