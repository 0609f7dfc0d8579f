// SPDX-License-Identifier: Apache-2.0

import Announcer
import ConcurrencySupport
import Logging

/// Logs which voice packs were added, replaced and removed, which are broken, and which choices have no effect. It also
/// records the packs in the library of which phones keep a copy, and forgets the values that were computed from packs
/// that have changed.
///
/// The announcer looks at the packs itself, but only when it makes a new clip. The watch reports changes even if all
/// clips are in memory or no announcement arrives.
final class PackWatch: Sendable {
  /// The time between two looks.
  static let interval: Duration = .seconds(1)

  private let announcer: Announcer
  private let library: Library
  private let logger: Logger
  private let forget: @Sendable (_ allBut: [PackState]) -> Void
  private let known = Locked<[PackState]?>(nil)
  /// The faults of choices that were logged and still exist.
  private let knownFaults = Locked<Set<String>>([])

  /// - Parameter forget: Called with the installed packs. Forgets the values that were computed from other packs, or
  ///   from other versions of the installed packs.
  init(
    announcer: Announcer, library: Library, logger: Logger,
    forget: @escaping @Sendable (_ allBut: [PackState]) -> Void
  ) {
    self.announcer = announcer
    self.library = library
    self.logger = logger
    self.forget = forget
  }

  /// Looks at the packs until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      await look()
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Looks once and logs what changed since the last look. The first look logs only broken packs.
  func look() async {
    let states = await announcer.packStates()
    let earlier = known.withLock { known in
      defer { known = states }
      return known
    }
    forget(states)
    await library.setPacks(states)
    for change in PackChange.changes(from: earlier ?? states.filter { $0.fault == nil }, to: states) { log(change) }
    let faults = await announcer.packChoiceFaults()
    let new = knownFaults.withLock { known in
      defer { known = Set(faults) }
      return faults.filter { !known.contains($0) }
    }
    for fault in new {
      logger.warning("A choice of a voice pack has no effect.", metadata: ["problem": "\(fault)"])
    }
  }

  private func log(_ change: PackChange) {
    switch change {
    case .added(let id): logger.info("A voice pack was added.", metadata: ["pack": "\(id)"])
    case .replaced(let id): logger.info("A voice pack was replaced.", metadata: ["pack": "\(id)"])
    case .removed(let id): logger.info("A voice pack was removed.", metadata: ["pack": "\(id)"])
    case .mended(let id): logger.info("A broken voice pack was repaired.", metadata: ["pack": "\(id)"])
    case .broken(let state):
      logger.warning(
        state.speaksEarlierVersion
          ? "A voice pack is broken. Its last good version goes on speaking."
          : "A voice pack is broken, so it does not speak.",
        metadata: ["pack": "\(state.id)", "problem": "\(state.fault?.message ?? "")"])
    }
  }
}
