// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import Ledger
import PushMessages
import WebhookMessages

/// Pushes, webhooks and payments in a ledger, and every write that a sender makes about them. Each write takes pushes,
/// messages or payments of its own, so it always changes something.
public final class DeliveryWork: Sendable {
  /// A write of a sender.
  public struct Write: Sendable {
    public let name: String
    /// Makes the write under a seat.
    public let run: @Sendable (DeliverySeat?) async throws -> Void
  }

  private let ledger: any Ledger.Store
  private let items: [DeliverySeat.Kind: Locked<[Int64]>]
  /// The devices whose tokens can be removed.
  private let devices: Locked<[String]>
  /// The position up to which the changes of the library were pushed.
  private let pushedPosition = Locked<Int64>(0)

  /// - Parameter count: The number of pushes, of messages and of payments.
  public init(in ledger: any Ledger.Store, count: Int = 40) async throws {
    self.ledger = ledger
    _ = try await ledger.register(newDevice())
    _ = try await ledger.register(newEndpoint(), by: .currentUser)
    let devices = (0..<count / 4).map { "phone-of-\($0)" }
    for device in devices {
      _ = try await ledger.register(newDevice(device, tokens: [.alert: "token of \(device)"]))
    }
    self.devices = Locked(devices)
    try await ledger.note(
      clips: [], ofBatch: "batch", account: "shop",
      files: (0..<count).map { libraryClip("\($0).wav", group: "group.\($0)") })
    let pushes = try await ledger.accept((0..<count).map { _ in newPush("phone-1") }, account: "shop")
    for number in 0..<count {
      let id = "delivered-\(number)"
      _ = try await ledger.accept(
        answer: NewAnswer(
          account: "shop", key: id, bodyDigest: digestOf(id), id: id, status: 201, report: Data(),
          rendered: ["method": "speech"]))
    }
    _ = try await ledger.accept(
      providerPayments: (0..<count).map { number in
        var new = Ledger.NewProviderPayment(account: "shop", endpoint: "till")
        (new.id, new.payload) = ("payment-\(number)", Data("{}".utf8))
        return new
      })
    let webhooks = try await ledger.unfinishedWebhooks().map(\.number)
    let payments = try await ledger.waitingProviderPayments(after: 0).map(\.number)
    // Only work that has begun can be stopped.
    _ = try await ledger.startSending(webhooks: webhooks)
    for number in payments { try await ledger.startAnnouncing(providerPayment: number) }
    items = [.pushes: Locked(pushes), .webhooks: Locked(webhooks), .providerPayments: Locked(payments)]
  }

  private struct NothingLeft: Error {}

  private func next(_ kind: DeliverySeat.Kind) throws -> Int64 {
    guard let item = items[kind]?.withLock({ $0.popLast() }) else { throw NothingLeft() }
    return item
  }

  /// Returns every write that a sender makes.
  public func writes(of kind: DeliverySeat.Kind) -> [Write] {
    func write(_ name: String, _ run: @escaping @Sendable (Int64, DeliverySeat?) async throws -> Void) -> Write {
      Write(name: name) { [self] seat in try await run(try next(kind), seat) }
    }
    switch kind {
    case .pushes:
      return [
        write("startSending") { [ledger] in _ = try await ledger.startSending([$0], under: $1) },
        write("finishPush") { [ledger] in try await ledger.finishPush($0, .delivered, reason: nil, under: $1) },
        write("expirePushes") { [ledger] in _ = try await ledger.expirePushes([($0, "TooLate")], under: $1) },
        write("postponePush") { [ledger] in try await ledger.postponePush($0, reason: "Unreachable", under: $1) },
        write("accept") { [ledger] _, seat in
          try await ledger.accept([newPush("phone-1", .background)], account: "shop", under: seat)
        },
        write("countRefusal") { [ledger] _, seat in
          try await ledger.countRefusal(ofToken: "a1", account: "shop", device: "phone-1", under: seat)
        },
        write("removeToken") { [ledger, devices] _, seat in
          guard let device = devices.withLock({ $0.popLast() }) else { throw NothingLeft() }
          try await ledger.removeToken(
            "token of \(device)", account: "shop", device: device, invalidSince: .distantFuture, under: seat)
        },
        write("noteLibraryPushed") { [ledger, pushedPosition] _, seat in
          let position = pushedPosition.withLock { position in
            position += 1
            return position
          }
          try await ledger.noteLibraryPushed(upTo: position, under: seat)
        },
      ]
    case .webhooks:
      let attempt = Ledger.WebhookAttempt(
        startedAt: Date(timeIntervalSince1970: 1_800_000_000), outcome: .delivered, nextAt: nil, patience: 3_600)
      return [
        write("startSending") { [ledger] in _ = try await ledger.startSending(webhooks: [$0], under: $1) },
        write("stopSending") { [ledger] in try await ledger.stopSending(webhook: $0, under: $1) },
        write("record") { [ledger] in _ = try await ledger.record(attempt, ofWebhook: $0, under: $1) },
      ]
    case .providerPayments:
      return [
        write("startAnnouncing") { [ledger] in try await ledger.startAnnouncing(providerPayment: $0, under: $1) },
        write("stopAnnouncing") { [ledger] in try await ledger.stopAnnouncing(providerPayment: $0, under: $1) },
        write("end") { [ledger] in try await ledger.end(providerPayment: $0, refusal: nil, under: $1) },
      ]
    }
  }

  /// Returns everything that the writes can change, as a text.
  public func state(of ledger: any Ledger.Store) async throws -> String {
    let pushes = try await ledger.unfinishedPushes().map { push in
      "\(push.number) \(push.starts) \(push.wasInterrupted) \(push.reason ?? "")"
    }
    let webhooks = try await ledger.unfinishedWebhooks().map { "\($0.number) \($0.starts)" }
    let payments = try await ledger.providerPayments(account: "shop", endpoint: "till", limit: 1_000).map { payment in
      "\(payment.number) \(payment.starts) \(payment.state)"
    }
    let devices = try await ledger.devices(account: "shop", after: "", limit: 1_000).map { device in
      "\(device.id) \(device.tokens.values.map(\.refusals))"
    }
    let groups = try await ledger.libraryNews(after: nil)?.clips.count ?? 0
    let parts = [pushes, webhooks, payments, devices, ["\(groups)"]]
    return parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }
}
