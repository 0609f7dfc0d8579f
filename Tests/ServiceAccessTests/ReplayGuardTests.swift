// SPDX-License-Identifier: Apache-2.0

import Foundation
import ServiceAccess
import Testing

@Suite("Replays")
struct ReplayGuardTests {
  let digest = Data(0..<32)
  let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func request(_ body: String, at offset: Int64 = 0) -> SignedRequest {
    SignedRequest(signing: "POST", "/", body: Data(body.utf8), with: digest, at: 1_800_000_000 + offset)
  }

  /// The failure of admitting; nil when it is admitted.
  private func failure(_ replays: inout ReplayGuard, _ request: SignedRequest, at offset: TimeInterval = 0)
    -> AccessError.Code?
  {
    do throws(AccessError) {
      try replays.admit(request, at: now + offset)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("a request is admitted once, as long as its time is within the window, and never after")
  func once() {
    var replays = ReplayGuard()
    #expect(failure(&replays, request("a")) == nil)
    for offset in [0, 0.5, 299, 300, 300.9] { #expect(failure(&replays, request("a"), at: offset) == .replayed) }
    #expect(failure(&replays, request("a"), at: 301) == .timestampOutsideWindow)
    #expect(replays.count == 0)
  }

  @Test("requests that differ in their body or their second are different ones")
  func different() {
    var replays = ReplayGuard()
    for request in [request("a"), request("b"), request("a", at: 1), request("a", at: -1)] {
      #expect(failure(&replays, request) == nil)
    }
    #expect(replays.count == 4)
  }

  @Test("one from a clock that goes ahead is remembered until nobody may send it any more")
  func ahead() {
    var replays = ReplayGuard()
    #expect(failure(&replays, request("a", at: 300)) == nil)
    #expect(failure(&replays, request("a", at: 300), at: 599) == .replayed)
    #expect(failure(&replays, request("a", at: 300), at: 600) == .replayed)
    #expect(failure(&replays, request("a", at: 300), at: 601) == .timestampOutsideWindow)
    #expect(failure(&replays, request("b", at: 301), at: 0) == .timestampOutsideWindow)
  }

  @Test("when the clock is set back, what was forgotten is not admitted again")
  func setBack() {
    var replays = ReplayGuard()
    #expect(failure(&replays, request("a")) == nil)
    #expect(failure(&replays, request("b", at: 1_000), at: 1_000) == nil)
    #expect(replays.count == 1, "the first one is forgotten")
    #expect(failure(&replays, request("a"), at: 0) == .timestampOutsideWindow)
  }

  @Test("a full one refuses what is new, remembers what it has, and has room again with time")
  func full() {
    var replays = ReplayGuard(capacity: 3)
    for body in ["a", "b", "c"] { #expect(failure(&replays, request(body)) == nil) }
    #expect(failure(&replays, request("d")) == .tooManyRemembered)
    #expect(failure(&replays, request("a")) == .replayed)
    #expect(replays.count == 3)
    #expect(failure(&replays, request("d", at: 301), at: 301) == nil)
    #expect(replays.count == 1)
  }

  @Test("after a start, requests from before it are refused")
  func start() {
    var replays = ReplayGuard(start: now + 0.7)
    #expect(failure(&replays, request("a", at: -1), at: 1) == .timestampOutsideWindow)
    #expect(failure(&replays, request("a", at: 0), at: 1) == nil)
  }

  @Test("it is as large as a window's requests, however many came: an hour of 20 a second")
  func bounded() {
    var replays = ReplayGuard()
    var largest = 0
    for second in 0..<3_600 as Range<Int64> {
      for body in 0..<20 { #expect(failure(&replays, request("\(body)", at: second), at: Double(second)) == nil) }
      largest = max(largest, replays.count)
    }
    #expect(largest == 301 * 20)
  }
}
