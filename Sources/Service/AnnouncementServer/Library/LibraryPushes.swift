// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Crypto
import Foundation
import Ledger
import Logging
import PushDelivery
import PushMessages
import TextFormats

/// Pushes the changes of the library to phones: file-provider pushes for the working set and the containers that the
/// phone's extension shows, and a background push if tones or voice packs have changed. The pushes are put into the
/// outbox.
///
/// A phone gets at most one file-provider push in an interval, however many containers it shows: they take turns, and
/// the working set is first. The number of pushes therefore depends on the number of phones, and not on the number of
/// containers.
///
/// Only the service that sends the pushes of a ledger runs this actor. After a restart, changes whose pushes may be
/// missing are pushed again.
actor LibraryPushes {
  struct Device: Hashable, Sendable {
    var account: String
    var id: String
  }

  /// A push to a device.
  struct Target: Hashable, Sendable {
    var device: Device
    /// The identifier of a container; nil for the background push.
    var container: String?
  }

  /// The item of background pushes. There is only one, because a device needs one background push for all changes.
  private struct Background: Hashable, Sendable {}

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
  private let ledger: any Ledger.Store
  private let standardGroup: String
  private let logger: Logger
  private let time: @Sendable () -> Duration
  private let sent: @Sendable () -> Void
  private var containers: LibraryPushPace<Device, String>
  private var backgrounds = LibraryPushPace<Device, Background>(interval: LibraryPushes.backgroundInterval)
  /// The position of the latest change that was looked at; nil before the first look.
  private var position: Int64?
  /// The position up to which all pushes are in the outbox.
  private var pushedPosition: Int64?
  /// The pushes that are to be put into the outbox.
  private var unsent: Set<Target> = []
  private let signal = WorkSignal()
  /// The seat of the sender whose pushes these are; nil if no other sender can exist.
  private var seat: DeliverySeat?

  /// - Parameters:
  ///   - interval: The time between two file-provider pushes to a device.
  ///   - standardGroup: The app group of devices that name no group.
  ///   - time: The time since a fixed moment, which never decreases.
  ///   - sent: Called when pushes were put into the outbox.
  init(
    _ parts: PushParts, ledger: any Ledger.Store, interval: Duration, standardGroup: String, logger: Logger,
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

  /// Wakes the task that looks for changes, because the library may have changed.
  nonisolated func lookForChanges() { signal.wake() }

  /// Pushes changes until the task is cancelled. The call can be repeated, and begins with the changes that no node has
  /// pushed then.
  ///
  /// - Parameter seat: The seat of the sender of pushes.
  func run(under seat: DeliverySeat) async {
    (self.seat, position, pushedPosition, unsent) = (seat, nil, nil, [])
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
        for (device, change) in try await changes(of: news) {
          if let container = containers.change(change.containers, of: device, at: now) {
            unsent.insert(Target(device: device, container: container))
          }
          if change.isBackground, backgrounds.change([Background()], of: device, at: now) != nil {
            unsent.insert(Target(device: device, container: nil))
          }
        }
        position = news.position
      }
      // The due pushes are added to `unsent` before the ledger is read again, because reading may fail.
      let due =
        containers.due(at: now).map { Target(device: $0.key, container: $0.item) }
        + backgrounds.due(at: now).map { Target(device: $0.key, container: nil) }
      unsent.formUnion(due)
      for target in due { try await replaceIfUnwanted(target) }
      try await push(unsent)
      unsent = []
      try await note()
    } catch {
      // Whoever gave the seat knows that it is lost.
      if error.code == .leaseLost { return }
      logger.warning(
        "Changes of the library could not be pushed. The service tries again.", metadata: ["error": "\(error)"])
    }
  }

  /// Records that all changes were pushed, so that they are not pushed again after a restart.
  private func note() async throws(LedgerError) {
    guard let position, position != pushedPosition, containers.nextMoment == nil, backgrounds.nextMoment == nil else {
      return
    }
    try await ledger.noteLibraryPushed(upTo: position, under: seat)
    pushedPosition = position
  }

  // MARK: Devices

  /// The changes for a device: the changed containers, beginning with the working set, and whether a background push is
  /// needed.
  private struct Changes {
    var containers: [String] = []
    var isBackground = false
  }

  /// Returns the changes for each device.
  private func changes(of news: Ledger.LibraryNews) async throws(LedgerError) -> [(Device, Changes)] {
    // Tones and voice packs belong to all accounts.
    let accounts: [String?] = news.hasPacks || !news.tones.isEmpty ? [nil] : Set(news.clips.map(\.account)).sorted()
    var all: [(Device, Changes)] = []
    for account in accounts {
      var last: Ledger.LibraryDevice?
      while true {
        let devices = try await ledger.libraryDevices(account: account, after: last, limit: 500)
        guard let end = devices.last else { break }
        for device in devices where isConfigured(device) {
          all.append((Device(account: device.account, id: device.id), changes(of: news, at: device)))
        }
        last = end
      }
    }
    return all
  }

  private func isConfigured(_ device: Ledger.LibraryDevice) -> Bool {
    parts.clients[PushSchedule.App(bundleID: device.app, environment: device.environment)] != nil
  }

  private func changes(of news: Ledger.LibraryNews, at device: Ledger.LibraryDevice) -> Changes {
    let group = Ledger.LibraryNews.Group(account: device.account, group: device.appGroup ?? standardGroup)
    let hasClips = news.clips.contains(group)
    let hasTones = news.tones.contains(group.group)
    guard hasClips || hasTones || news.hasPacks else { return Changes() }
    var changes = Changes(isBackground: device.hasBackground && (hasTones || news.hasPacks))
    if device.hasFileProvider {
      let shown = device.containers.subtracting([Self.workingSet]).sorted()
      changes.containers = ([Self.workingSet] + shown).filter {
        Self.isAffected($0, byClips: hasClips, byTones: hasTones, byPacks: news.hasPacks)
      }
    }
    return changes
  }

  /// Returns whether a container shows something else after a change. The containers `clips`, `tones` and `packs` show
  /// the three kinds of items. The service does not know what other containers show.
  static func isAffected(_ container: String, byClips: Bool, byTones: Bool, byPacks: Bool) -> Bool {
    switch container {
    case "clips": byClips
    case "tones": byTones
    case "packs": byPacks
    default: byClips || byTones || byPacks
    }
  }

  /// Replaces a waiting push that its device no longer wants with the next push that the device wants.
  private func replaceIfUnwanted(_ target: Target) async throws(LedgerError) {
    let known = try await ledger.libraryDevice(account: target.device.account, id: target.device.id)
    guard var container = target.container else {
      if known?.hasBackground != true { unsent.remove(target) }
      return
    }
    unsent.remove(target)
    while true {
      if let known, known.hasFileProvider, container == Self.workingSet || known.containers.contains(container) {
        unsent.insert(Target(device: target.device, container: container))
        return
      }
      guard let next = containers.next(of: target.device) else { return }
      container = next
    }
  }

  // MARK: Outbox

  private func push(_ targets: Set<Target>) async throws(LedgerError) {
    guard !targets.isEmpty else { return }
    let expiresAt = Date().addingTimeInterval(parts.lifetime)
    for (account, targets) in Dictionary(grouping: targets, by: \.device.account).sorted(by: { $0.key < $1.key }) {
      let pushes = targets.compactMap { Self.push($0, until: expiresAt) }
      for start in stride(from: 0, to: pushes.count, by: Self.pushesAtOnce) {
        let some = pushes[start..<min(start + Self.pushesAtOnce, pushes.count)]
        try await ledger.accept(Array(some), account: account, under: seat)
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
    // A phone that was off needs only the latest push, so the pushes for a container share a collapse id.
    let digest = SHA256.hash(data: Data((target.container ?? "").utf8)).hexadecimal.prefix(16)
    return NewPush(
      device: target.device.id, kind: target.container == nil ? .background : .fileProvider,
      priority: PushRequest.Priority.conserving.rawValue, collapseID: "library-\(digest)", expiresAt: expiresAt,
      body: NewPush.Body(body))
  }
}
