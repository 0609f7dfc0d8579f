// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Crypto
import Foundation
import Ledger
import Logging
import PushDelivery
import PushMessages
import VoicePackIntegrity

/// Pushes the changes of the library to phones: a file-provider push for the working set and for each container that
/// the phone's extension shows, and a background push if voice packs have changed. The pushes are paced and put into
/// the outbox.
///
/// Only the service that sends the pushes of a ledger runs it. After a restart, changes whose pushes may be missing are
/// pushed again.
actor LibraryPushes {
  /// A push that is paced on its own.
  struct Target: Hashable, Sendable {
    var account: String
    var device: String
    /// The identifier of a container; nil for the background push.
    var container: String?
  }

  /// The time between two background pushes to a device. iOS delivers only a few of them an hour.
  static let backgroundInterval: Duration = .seconds(20 * 60)
  /// The shortest time between two looks at the changes.
  private static let pause: Duration = .seconds(1)
  /// The longest time between two looks, because other programs change the library too.
  private static let longestPause: Duration = .seconds(60)
  /// The number of pushes that are put into the outbox in one transaction.
  private static let pushesAtOnce = 100
  private static let workingSet = FileProviderMessage.Container.workingSet.identifier

  private let parts: PushParts
  private let ledger: Ledger
  private let standardGroup: String
  private let logger: Logger
  private let time: @Sendable () -> Duration
  private let sent: @Sendable () -> Void
  private var containers: LibraryPushPace<Target>
  private var backgrounds = LibraryPushPace<Target>(interval: LibraryPushes.backgroundInterval)
  /// The position of the latest change that was looked at; nil before the first look.
  private var position: Int64?
  /// The position up to which all pushes are in the outbox.
  private var pushedPosition: Int64?
  /// The pushes that are to be put into the outbox.
  private var unsent: Set<Target> = []
  private let signal = WorkSignal()

  /// - Parameters:
  ///   - interval: The time between two file-provider pushes to a device and container.
  ///   - standardGroup: The app group of devices that name none.
  ///   - time: The time since a fixed moment, which never decreases.
  ///   - sent: Called when pushes were put into the outbox.
  init(
    _ parts: PushParts, ledger: Ledger, interval: Duration, standardGroup: String, logger: Logger,
    time: @escaping @Sendable () -> Duration, sent: @escaping @Sendable () -> Void
  ) {
    self.parts = parts
    self.ledger = ledger
    self.standardGroup = standardGroup
    self.logger = logger
    self.time = time
    self.sent = sent
    containers = LibraryPushPace(interval: interval)
  }

  /// Tells that the library may have changed.
  nonisolated func lookForChanges() { signal.wake() }

  /// Pushes changes until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      await look()
      // The sleep throws only when the service stops.
      guard (try? await Task.sleep(for: Self.pause)) != nil else { return }
      let next = [containers.nextMoment, backgrounds.nextMoment].compactMap(\.self).min()
      let wait = min(Self.longestPause, max(.zero, (next ?? .seconds(1 << 30)) - time()))
      await signal.wait(atMost: wait)
    }
  }

  /// Looks at the changes once, and puts the pushes whose time has come into the outbox.
  func look() async {
    do throws(LedgerError) {
      let now = time()
      if let news = try await ledger.libraryNews(after: position) {
        let changed = try await self.targets(of: news)
        unsent.formUnion(
          changed.filter { target in
            target.container == nil ? backgrounds.change(target, at: now) : containers.change(target, at: now)
          })
        position = news.position
      }
      // They are among the unsent ones before the ledger is asked again, because it may fail.
      let due = containers.due(at: now) + backgrounds.due(at: now)
      unsent.formUnion(due)
      for target in due where try await !isWanted(target) { unsent.remove(target) }
      try await push(unsent)
      unsent = []
      try await note()
    } catch {
      logger.warning(
        "Changes of the library could not be pushed. The service tries again.", metadata: ["error": "\(error)"])
    }
  }

  /// Records that all changes were pushed, so that they are not pushed again after a restart.
  private func note() async throws(LedgerError) {
    guard let position, position != pushedPosition, containers.nextMoment == nil, backgrounds.nextMoment == nil else {
      return
    }
    try await ledger.noteLibraryPushed(upTo: position)
    pushedPosition = position
  }

  // MARK: Devices

  /// Returns what is pushed to whom.
  private func targets(of news: Ledger.LibraryNews) async throws(LedgerError) -> [Target] {
    // Voice packs belong to all accounts.
    let accounts: [String?] = news.hasPacks ? [nil] : Set(news.clips.map(\.account)).sorted()
    var targets: [Target] = []
    for account in accounts {
      var last: Ledger.LibraryDevice?
      while true {
        let devices = try await ledger.libraryDevices(account: account, after: last)
        guard let end = devices.last else { break }
        for device in devices where isConfigured(device) { targets += self.targets(of: news, at: device) }
        last = end
      }
    }
    return targets
  }

  private func isConfigured(_ device: Ledger.LibraryDevice) -> Bool {
    parts.clients[PushSchedule.App(bundleID: device.app, environment: device.environment)] != nil
  }

  private func targets(of news: Ledger.LibraryNews, at device: Ledger.LibraryDevice) -> [Target] {
    let group = Ledger.LibraryNews.Group(account: device.account, group: device.appGroup ?? standardGroup)
    let hasClips = news.clips.contains(group)
    guard hasClips || news.hasPacks else { return [] }
    var targets: [Target] = []
    if device.hasFileProvider {
      let shown = device.containers.union([Self.workingSet]).filter {
        Self.isAffected($0, byClips: hasClips, byPacks: news.hasPacks)
      }
      targets = shown.sorted().map { Target(account: device.account, device: device.id, container: $0) }
    }
    if device.hasBackground, news.hasPacks {
      targets.append(Target(account: device.account, device: device.id, container: nil))
    }
    return targets
  }

  /// Returns whether a container shows something else after a change. `clips` and `packs` are the folders of the two
  /// kinds. The service does not know what other containers show.
  static func isAffected(_ container: String, byClips: Bool, byPacks: Bool) -> Bool {
    switch container {
    case "clips": byClips
    case "packs": byPacks
    default: byClips || byPacks
    }
  }

  /// Returns whether a push that was deferred is still wanted.
  private func isWanted(_ target: Target) async throws(LedgerError) -> Bool {
    guard let device = try await ledger.libraryDevice(account: target.account, id: target.device) else { return false }
    guard let container = target.container else { return device.hasBackground }
    return device.hasFileProvider && (container == Self.workingSet || device.containers.contains(container))
  }

  // MARK: Outbox

  private func push(_ targets: Set<Target>) async throws(LedgerError) {
    guard !targets.isEmpty else { return }
    let expiresAt = Date().addingTimeInterval(parts.lifetime)
    for (account, targets) in Dictionary(grouping: targets, by: \.account).sorted(by: { $0.key < $1.key }) {
      let pushes = targets.compactMap { Self.push($0, until: expiresAt) }
      for start in stride(from: 0, to: pushes.count, by: Self.pushesAtOnce) {
        try await ledger.accept(Array(pushes[start..<min(start + Self.pushesAtOnce, pushes.count)]), account: account)
      }
    }
    sent()
  }

  /// Returns the push of a target; nil for an identifier that cannot be pushed.
  private static func push(_ target: Target, until expiresAt: Date) -> NewPush? {
    let body: Data
    if let identifier = target.container {
      guard let container = try? FileProviderMessage.Container(identifier) else { return nil }
      body = FileProviderMessage(container: container).encoded()
    } else {
      body = BackgroundMessage(clips: []).encoded()
    }
    // A phone that was off needs only the latest push.
    let digest = SHA256.hash(data: Data((target.container ?? "").utf8)).hexadecimal.prefix(16)
    return NewPush(
      device: target.device, kind: target.container == nil ? .background : .fileProvider,
      priority: PushRequest.Priority.conserving.rawValue, collapseID: "library-\(digest)", expiresAt: expiresAt
    ) { _ in body }
  }
}
