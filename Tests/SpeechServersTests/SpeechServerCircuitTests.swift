// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechServers

@Suite("A speech server rests after failures")
struct SpeechServerCircuitTests {
  private static func failing(_ count: Int, at now: Duration = .zero) -> SpeechServerCircuit {
    var circuit = SpeechServerCircuit(longestTrial: .seconds(3))
    for _ in 0..<count { circuit.failed(reason: "timed_out", at: now) }
    return circuit
  }

  @Test("a speech server is used until it has failed twice in a row")
  func closed() {
    var circuit = Self.failing(1)
    #expect(circuit.permission(at: .zero) == .speak && circuit.state(at: .zero) == .closed && circuit.failures == 1)
    circuit.succeeded()
    #expect(circuit.failures == 0 && circuit.reason == nil && circuit.failingSince == nil)
    circuit.failed(reason: "closed_early", at: .seconds(1))
    #expect(circuit.permission(at: .seconds(1)) == .speak)
    circuit.failed(reason: "closed_early", at: .seconds(2))
    #expect(circuit.permission(at: .seconds(2)) == .rest(until: .seconds(7)))
    #expect(circuit.state(at: .seconds(2)) == .open && circuit.rest(at: .seconds(3)) == .seconds(4))
    #expect(circuit.reason == "closed_early" && circuit.failingSince == .seconds(1))
  }

  @Test("after a speech server's rest, exactly one utterance is its trial, and a success makes the server available")
  func trial() {
    var circuit = Self.failing(2)
    #expect(circuit.permission(at: .milliseconds(4_999)) == .rest(until: .seconds(5)))
    #expect(circuit.permission(at: .seconds(5)) == .trial && circuit.state(at: .seconds(5)) == .halfOpen)
    #expect(circuit.permission(at: .seconds(5)) == .rest(until: .seconds(8)))
    circuit.succeeded()
    #expect(circuit.permission(at: .seconds(6)) == .speak && circuit.state(at: .seconds(6)) == .closed)
  }

  @Test("each failed trial doubles a speech server's rest, up to five minutes")
  func longerRests() {
    var circuit = Self.failing(2)
    var now = Duration.seconds(5)
    for rest in [10, 20, 40, 80, 160, 300, 300, 300] {
      #expect(circuit.permission(at: now) == .trial)
      circuit.failed(reason: "timed_out", at: now)
      #expect(circuit.rest(at: now) == .seconds(rest))
      now += .seconds(rest)
    }
  }

  @Test("failures of utterances that began before a speech server's rest do not lengthen the rest")
  func underWay() {
    var circuit = Self.failing(2)
    for _ in 0..<20 { circuit.failed(reason: "timed_out", at: .seconds(1)) }
    #expect(circuit.rest(at: .seconds(1)) == .seconds(4) && circuit.failures == 22)
  }

  @Test("if the trial of a speech server is cancelled or never ends, the next utterance becomes the trial")
  func lostTrial() {
    var circuit = Self.failing(2)
    #expect(circuit.permission(at: .seconds(5)) == .trial)
    circuit.abandoned()
    #expect(circuit.permission(at: .seconds(5)) == .trial)
    #expect(circuit.permission(at: .seconds(7)) == .rest(until: .seconds(8)))
    #expect(circuit.permission(at: .seconds(8)) == .trial)
  }
}
