// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation
public import Ledger
public import PushDelivery
import PushMessages
import SQLiteLedger

/// A ledger in a fresh folder with devices and pushes, and the sender of its outbox.
public final class Outbox: Sendable {
  public static let account = "shop"
  public static let app = PushSchedule.App(bundleID: PushSite.app, environment: .production)

  public let ledger: any Ledger.Store
  private let folder: URL
  private let remembersReports: Bool
  private let reported = Locked<[PushSender.Report]>([])

  /// - Parameter remembersReports: Whether ``reports`` has what the sender reports.
  public init(now: @escaping @Sendable () -> Date = { Date() }, remembersReports: Bool = true) throws {
    self.remembersReports = remembersReports
    folder = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)")
    ledger = try SQLiteLedger(at: folder.appending(path: "ledger.sqlite"), now: now)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Everything that the sender has reported.
  public var reports: [PushSender.Report] { reported.withLock { $0 } }

  /// Registers a device with the token of its number.
  public func register(_ device: Int, app: String = PushSite.app) async throws {
    try await Self.register(device, app: app, in: ledger)
  }

  public static func register(_ device: Int, app: String = PushSite.app, in ledger: any Ledger.Store) async throws {
    let id = "device-\(device)"
    let digest = Data(repeating: 0, count: 24) + withUnsafeBytes(of: UInt64(device).bigEndian) { Data($0) }
    _ = try await ledger.register(
      NewDevice(
        account: account, id: id, app: app, environment: .production, tokens: [.alert: PushSite.token(device)]),
      key: NewKey(id: "key-\(device)", account: account, digest: digest, scopes: ["device"], device: id),
      renewsKey: false, with: nil,
      by: .currentUser)
  }

  /// Returns an alert push whose payload has the sequence number.
  public static func alert(to device: Int, expiresAt: Date) -> NewPush {
    NewPush(
      device: "device-\(device)", kind: .alert, priority: 10, expiresAt: expiresAt,
      body: NewPush.Body(
        beforeSequence: Data(#"{"aps":{"alert":"12.50","mutable-content":1},"crier":{"sequence":"#.utf8),
        afterSequence: Data("}}".utf8)))
  }

  /// Puts an alert push to a device into the outbox.
  ///
  /// - Parameter lifetime: The time after which it is no longer news, in seconds.
  @discardableResult
  public func push(to device: Int, lifetime: TimeInterval = 3_600, now: Date = Date()) async throws -> Int64 {
    let numbers = try await ledger.accept(
      [Self.alert(to: device, expiresAt: now.addingTimeInterval(lifetime))], account: Self.account)
    guard let number = numbers.first else { throw NoSuchDevice() }
    return number
  }

  private struct NoSuchDevice: Error {}

  public func device(_ number: Int) async throws -> Ledger.Device? {
    try await ledger.device(account: Self.account, id: "device-\(number)")
  }

  public func pushes(to device: Int) async throws -> [Ledger.Push] {
    try await ledger.pushes(account: Self.account, device: "device-\(device)", afterSequence: 0, limit: 1_000)
  }

  /// Runs a sender until a number of pushes have ended.
  ///
  /// - Parameters:
  ///   - date: Returns the time of day; nil for the same as `now`.
  ///   - meanwhile: Work that is done while the sender runs.
  public func send(
    _ count: Int, with clients: [PushSchedule.App: PushClient], settings: PushSender.Settings = .init(),
    now: @escaping @Sendable () -> Date = { Date() }, date: (@Sendable () -> Date)? = nil,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0 ... .max) },
    onReport: @escaping @Sendable (PushSender.Report) -> Void = { _ in },
    meanwhile: (PushSender) async throws -> Void = { _ in }
  ) async throws {
    let (ends, end) = AsyncStream<Void>.makeStream()
    let sender = PushSender(
      ledger: ledger, clients: clients, settings: settings, now: now, date: date ?? now, sleep: sleep, random: random
    ) { [reported, remembersReports] report in
      if remembersReports { reported.withLock { $0.append(report) } }
      onReport(report)
      if case .ended = report { end.yield() }
    }
    let running = Task { await sender.run() }
    try await meanwhile(sender)
    var missing = count
    if missing > 0 {
      for await _ in ends {
        missing -= 1
        if missing == 0 { break }
      }
    }
    running.cancel()
    await running.value
  }
}
