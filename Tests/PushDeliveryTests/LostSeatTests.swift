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
  @Suite("A sender of pushes that has lost its lease", .timeLimit(.minutes(5)))
  struct LostSeatTests {
    /// A lost seat is like one that was given back: writes under it fail, and nothing more may be sent.
    private func seat(_ outbox: Outbox) async throws -> DeliverySeat {
      try #require(try await outbox.ledger.takeSeat(of: .pushes))
    }

    private func sender(
      _ outbox: Outbox, _ client: PushClient, _ reports: Locked<[PushSender.Report]>
    ) -> PushSender {
      PushSender(
        ledger: outbox.ledger, clients: [Outbox.app: client],
        report: { report in reports.withLock { $0.append(report) } })
    }

    @Test("a push without an answer gets no outcome, and the next sender sends the push again under the same id")
    func underWay() async throws {
      let ids = Locked<[String?]>([])
      try await PushSite.with { configuration in
        configuration.faults = .script { request in
          ids.withLock { $0.append(request.id) }
          return request.number == 1 ? Fault(.never) : nil
        }
      } _: { site in
        let outbox = try Outbox()
        try await outbox.register(1)
        let number = try await outbox.push(to: 1)
        let reports = Locked<[PushSender.Report]>([])
        let sender = sender(outbox, try site.client(timeout: .seconds(5)), reports)
        let first = try await seat(outbox)
        let running = Task { await sender.run(under: first) }
        try await eventually("the push is sent") { ids.withLock { $0.count } == 1 }
        await first.giveBack()
        running.cancel()
        await running.value
        let pushes = try await outbox.ledger.unfinishedPushes()
        #expect(pushes.map(\.number) == [number] && pushes.allSatisfy(\.wasInterrupted))
        #expect(reports.withLock { $0 }.allSatisfy { if case .ended = $0 { false } else { true } })

        let second = try await seat(outbox)
        let next = Task { await sender.run(under: second) }
        try await eventually { try await outbox.ledger.pushCounts() == [.delivered: 1] }
        next.cancel()
        await next.value
        #expect(ids.withLock { $0.count == 2 && Set($0).count == 1 })
        #expect(reports.withLock { $0 }.contains(.interrupted(count: 1)))
      }
    }

    @Test("a push that waits for its turn on the connection is not sent any more")
    func waiting() async throws {
      try await PushSite.with { configuration in
        configuration.maxConcurrentStreams = 1
        configuration.faults = .script { _ in Fault(.never) }
      } _: { site in
        let outbox = try Outbox()
        for device in 1...3 {
          try await outbox.register(device)
          try await outbox.push(to: device)
        }
        let reports = Locked<[PushSender.Report]>([])
        let sender = sender(outbox, try site.client(timeout: .seconds(5)), reports)
        let seat = try await seat(outbox)
        let running = Task { await sender.run(under: seat) }
        try await eventually("a push is sent") { site.simulator.counts.requests == 1 }
        await seat.giveBack()
        running.cancel()
        await running.value
        #expect(site.simulator.counts.requests == 1)
        #expect(try await outbox.ledger.pushCounts().keys.allSatisfy { !$0.isFinal })
      }
    }

    @Test("a sender that loses its lease before it begins sends nothing, and ends by itself")
    func before() async throws {
      try await PushSite.with { site in
        let outbox = try Outbox()
        try await outbox.register(1)
        try await outbox.push(to: 1)
        let reports = Locked<[PushSender.Report]>([])
        let seat = try await seat(outbox)
        await seat.giveBack()
        await sender(outbox, try site.client(), reports).run(under: seat)
        #expect(site.simulator.counts.requests == 0)
        #expect(try await outbox.ledger.pushCounts() == [.waiting: 1])
      }
    }

    @Test("a push that may not be sent any more fails without reaching the server")
    func withdrawn() async throws {
      try await PushSite.with { site in
        let error = await #expect(throws: PushTransportError.self) {
          try await site.client().send(PushSite.request(to: 1), if: { false })
        }
        #expect(error?.code == .closed && site.simulator.counts.requests == 0)
      }
    }
  }
}
