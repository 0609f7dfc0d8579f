// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// A lease of this process. It is renewed until it is lost, given back or no longer referenced.
package final class HeldLease: Sendable {
  /// The state that the holder shares with the task that renews the lease.
  private final class Core: Sendable {
    let lease: Locked<Ledger.Lease>
    private let losses = AsyncStream<Void>.makeStream()

    init(_ lease: Ledger.Lease) { self.lease = Locked(lease) }

    func end() {
      lease.withLock { $0.end() }
      losses.continuation.finish()
    }

    func waitForEnd() async { for await _ in losses.stream {} }
  }

  /// The lease was lost.
  package struct Lost: Error {
    package init() {}
  }

  private let core: Core
  private let keeper: Task<Void, Never>
  package let epoch: Int64

  /// - Parameters:
  ///   - lease: The lease, which the database has just given to this process.
  ///   - renew: Renews the lease in the database, within a time limit. It throws ``Lost`` if another node has the lease.
  ///     After any other error, it is called again.
  ///   - giveBack: Lets other nodes have the lease at once. If the database cannot be reached, the lease ends by itself.
  ///   - isLostByTime: Whether the lease is lost when it was not renewed in time. If this is false, the lease is lost
  ///     only when another node has it.
  package init(
    _ lease: Ledger.Lease, isLostByTime: Bool = true,
    renew: @escaping @Sendable (_ limit: Duration) async throws -> Void,
    giveBack: @escaping @Sendable () async -> Void
  ) {
    let core = Core(lease)
    (self.core, epoch) = (core, lease.epoch)
    // No other work of the process can take the thread on which the lease is renewed.
    keeper = Task(executorPreference: WaitingThreads.leases) {
      await withDiscardingTaskGroup { group in
        // A renewal may take longer than the lease lasts, so another task watches the time.
        if isLostByTime { group.addTask { await Self.watch(core) } }
        await Self.renew(core, renew)
        group.cancelAll()
      }
      if !core.lease.withLock(\.hasEnded) { await giveBack() }
      core.end()
    }
  }

  deinit { letGo() }

  /// Whether the lease may be used at this moment.
  package var isUsable: Bool { core.lease.withLock { $0.isUsable(at: .now) } }

  /// Notes that a write was refused because another node has the lease.
  package func lose() { core.end() }

  /// Waits until the lease is lost or given back, or until the task is cancelled. One task may wait.
  package func loss() async { await core.waitForEnd() }

  /// Gives the lease back soon.
  package func letGo() { keeper.cancel() }

  /// Gives the lease back. When the call returns, other nodes can have it, unless the database could not be reached.
  package func giveBack() async {
    keeper.cancel()
    await keeper.value
  }

  private static func renew(_ core: Core, _ renew: @Sendable (Duration) async throws -> Void) async {
    while true {
      let lease = core.lease.withLock { $0 }
      if lease.hasEnded { return }
      // The sleep throws only when the lease is given back.
      guard (try? await Task.sleep(until: lease.nextRenewal, clock: .continuous)) != nil else { return }
      let start = ContinuousClock.now
      do {
        try await renew(lease.limit(ofRenewalAt: start))
        core.lease.withLock { $0.renewed(askedAt: start) }
      } catch is Lost {
        return core.end()
      } catch {
        core.lease.withLock { $0.notRenewed(at: .now) }
      }
    }
  }

  /// Ends the lease when its time is over.
  private static func watch(_ core: Core) async {
    while true {
      let lease = core.lease.withLock { $0 }
      if lease.hasEnded { return }
      guard lease.isUsable(at: .now) else { return core.end() }
      guard (try? await Task.sleep(until: lease.usableUntil, clock: .continuous)) != nil else { return }
    }
  }
}
