// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Ledger
import TestSupport
import Testing

@Suite("Leases", .timeLimit(.minutes(5)))
struct LeaseTests {
  @Test("the time of a lease counts from its request, and the holder stops a second before the lease can end")
  func usable() {
    let start = ContinuousClock.now
    var lease = Ledger.Lease(epoch: 7, askedAt: start)
    #expect(lease.epoch == 7 && lease.nextRenewal == start + .seconds(3))
    #expect(lease.isUsable(at: start) && lease.isUsable(at: start + .milliseconds(8_999)))
    #expect(!lease.isUsable(at: start + .seconds(9)))
    lease.renewed(askedAt: start + .seconds(3))
    #expect(lease.nextRenewal == start + .seconds(6))
    #expect(lease.isUsable(at: start + .milliseconds(11_999)) && !lease.isUsable(at: start + .seconds(12)))
    // An answer to an earlier request shortens nothing.
    lease.renewed(askedAt: start + .seconds(1))
    #expect(lease.usableUntil == start + .seconds(12))
  }

  @Test("a renewal that fails is tried again after a second, and a lease that has ended stays ended")
  func ended() {
    let start = ContinuousClock.now
    var lease = Ledger.Lease(epoch: 1, askedAt: start)
    #expect(lease.limit(ofRenewalAt: start + .seconds(3)) == .seconds(3))
    lease.notRenewed(at: start + .seconds(5))
    #expect(lease.nextRenewal == start + .seconds(6) && lease.usableUntil == start + .seconds(9))
    #expect(lease.limit(ofRenewalAt: start + .seconds(7)) == .seconds(2))
    lease.end()
    #expect(!lease.isUsable(at: start))
    lease.renewed(askedAt: start + .seconds(1))
    #expect(!lease.isUsable(at: start + .seconds(1)))
  }

  @Test("in 1,000 random runs, the holder never uses a lease that the database gives to somebody else")
  func neverTwo() {
    var random = SplitMix64(seed: 43)
    for _ in 0..<1_000 {
      let start = ContinuousClock.now
      var lease = Ledger.Lease(epoch: 1, askedAt: start)
      // The database carries each request out some time after it was sent, and answers some time later, or never.
      var until = start + .milliseconds(Int.random(in: 0...2_000, using: &random)) + lease.terms.length
      var moment = start
      for _ in 0..<10 {
        moment = max(moment, lease.nextRenewal)
        let carriedOut = moment + .milliseconds(Int.random(in: 0...4_000, using: &random))
        // After its end, another node may have taken the lease, and nothing is renewed.
        let isStored = carriedOut < until && Bool.random(using: &random)
        if isStored { until = carriedOut + lease.terms.length }
        let answered = carriedOut + .milliseconds(Int.random(in: 0...4_000, using: &random))
        if isStored, Bool.random(using: &random) {
          lease.renewed(askedAt: moment)
        } else {
          lease.notRenewed(at: answered)
        }
        moment = answered
        #expect(lease.usableUntil < until)
      }
    }
  }

  /// Terms of leases that tests do not wait long for.
  private static func terms(length: Duration, renewal: Duration) -> Ledger.Lease.Terms {
    var terms = Ledger.Lease.Terms()
    (terms.length, terms.renewal, terms.retry) = (length, renewal, .milliseconds(5))
    terms.margin = .milliseconds(5)
    return terms
  }

  private struct Unreachable: Error {}

  @Test("a held lease is renewed until it is given back, also after failures")
  func renewal() async throws {
    let (renewals, returns) = (Locked(0), Locked(0))
    let lease = HeldLease(
      Ledger.Lease(
        epoch: 3, terms: Self.terms(length: .seconds(120), renewal: .milliseconds(5)), askedAt: ContinuousClock.now),
      renew: { limit in
        #expect(limit == .seconds(1))
        let count = renewals.withLock { count in
          count += 1
          return count
        }
        if count.isMultiple(of: 2) { throw Unreachable() }
      },
      giveBack: { returns.withLock { $0 += 1 } })
    try await eventually { renewals.withLock { $0 } >= 6 }
    #expect(lease.isUsable && lease.epoch == 3 && returns.withLock { $0 } == 0)
    await lease.giveBack()
    await lease.loss()
    #expect(!lease.isUsable && returns.withLock { $0 } == 1)
    await lease.giveBack()
    #expect(returns.withLock { $0 } == 1)
  }

  @Test("a lease that is no longer referenced is given back")
  func dropped() async throws {
    let returns = Locked(0)
    var lease: HeldLease? = HeldLease(
      Ledger.Lease(epoch: 1, askedAt: ContinuousClock.now), renew: { _ in },
      giveBack: { returns.withLock { $0 += 1 } })
    withExtendedLifetime(lease) {}
    lease = nil
    try await eventually { returns.withLock { $0 } == 1 }
  }

  @Test("a lease whose renewal hangs is lost when its time is over, and is not given back")
  func hanging() async throws {
    let returns = Locked(0)
    let lease = HeldLease(
      Ledger.Lease(
        epoch: 1, terms: Self.terms(length: .milliseconds(50), renewal: .milliseconds(5)), askedAt: ContinuousClock.now),
      renew: { _ in try await Task.sleep(for: .seconds(3_600)) }, giveBack: { returns.withLock { $0 += 1 } })
    await lease.loss()
    #expect(!lease.isUsable)
    await lease.giveBack()
    #expect(returns.withLock { $0 } == 0)
  }

  @Test("a lease that another node has, or under which a write was refused, is lost at once")
  func lost() async throws {
    let terms = Self.terms(length: .seconds(3_600), renewal: .milliseconds(5))
    let taken = HeldLease(
      Ledger.Lease(epoch: 1, terms: terms, askedAt: ContinuousClock.now), renew: { _ in throw HeldLease.Lost() },
      giveBack: {})
    await taken.loss()
    #expect(!taken.isUsable)
    let refused = HeldLease(
      Ledger.Lease(epoch: 1, terms: terms, askedAt: ContinuousClock.now), renew: { _ in }, giveBack: {})
    refused.lose()
    await refused.loss()
    #expect(!refused.isUsable)
  }
}
