// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import DeviceClient
import FileSystem
import Foundation
public import SoundLibrary

/// The changes that an update made. An earlier update that did not finish may have put other files into place.
public struct LibraryUpdate: Sendable, Hashable {
  /// The file names of new and changed clips.
  public var changedClips: [String] = []
  /// The file names of removed clips.
  public var removedClips: [String] = []
  /// The ids of new and changed voice packs.
  public var changedPacks: [String] = []
  /// The ids of removed voice packs.
  public var removedPacks: [String] = []
  /// The file names of new and changed tones.
  public var changedTones: [String] = []
  /// The file names of removed tones.
  public var removedTones: [String] = []
  /// The number of large files that were requested in the background and have not arrived. The first update after their
  /// arrival puts them into place. Until then, the anchor does not change.
  public var awaited = 0
  /// The number of files that were fetched from the service.
  public var fetchedFiles = 0
  /// The number of listed clips, tones and voice packs that the service no longer had. A later change lists their
  /// removal.
  public var missing = 0
  /// The number of listed names that were left out; see ``LibraryPlan/refused``. A tone is also left out if the app or
  /// its user has another file with the name of the tone.
  public var refused = 0
  /// The anchor of the library that is now in place; empty if the first list is not complete yet.
  public var anchor: String

  /// Whether a clip, a tone or a voice pack was put into place or removed.
  public var hasChanges: Bool {
    ![changedClips, removedClips, changedPacks, removedPacks, changedTones, removedTones].allSatisfy(\.isEmpty)
  }
}

/// A copy of the account's library in the group container, for the file-provider extension.
///
/// Clips and tones are in `Library/Sounds`, and voice packs in `Library/Crier/Voices/<id>`. The file
/// `Library/Crier/library.json` lists what is there. If a process is ended during an update, everything stays usable:
/// old files stay until the new ones are complete. The next update continues, and fetches no complete file twice.
///
/// A file is locked only for the moments in which something is put into place, and never while the service is called.
/// iOS can therefore suspend a process during a call.
public final class LibraryCopy: Sendable {
  /// The result of ``LibraryCopy/update()``.
  public enum Outcome: Sendable, Hashable {
    case updated(LibraryUpdate)
    /// Another update of the same container is running, in this process or another one. Nothing was done. If the
    /// process of the other update was ended, this result is returned for about a minute.
    case busy
  }

  /// The number of pages after which a list counts as endless. At 1,000 changes per page, this is far more than a
  /// service stores.
  static let maximumPages = 1_000

  /// The shortest time in seconds without progress after which an update counts as ended.
  static let shortestTurn: TimeInterval = 60

  private let client: DeviceClient
  private let library: SoundLibrary
  private let budget: Int
  private let places: LibraryPlaces
  private let largeFiles: (any LargeFileFetching)?
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - container: The container of the app group.
  ///   - budget: The maximum size of all clips in bytes. The newest clips are kept. Voice packs and tones do not count.
  ///   - largeFiles: The client for clips and tones of at least 500,000 bytes; nil to fetch them during the update,
  ///     like all others.
  public convenience init(
    client: DeviceClient, container: GroupContainer, budget: Int = LibraryPlan.standardBudget,
    largeFiles: (any LargeFileFetching)? = nil
  ) {
    self.init(client: client, container: container, budget: budget, largeFiles: largeFiles) { Date() }
  }

  init(
    client: DeviceClient, container: GroupContainer, budget: Int, largeFiles: (any LargeFileFetching)?,
    now: @escaping @Sendable () -> Date
  ) {
    self.largeFiles = largeFiles
    self.now = now
    self.client = client
    library = SoundLibrary(container: container)
    self.budget = budget
    places = LibraryPlaces(container)
  }

  /// Returns the contents of the copy. They are empty if there is no copy, or if its file is damaged. The call reads a
  /// file and takes no lock.
  public func manifest() -> LibraryManifest { places.currentManifest }

  /// Asks the service for the changes of the library, and applies them to the copy.
  ///
  /// No file is locked when this method returns or throws. Files of the container are locked for the moments in which
  /// something is put into place. Therefore, tell the system about the work while it runs
  /// (`ProcessInfo.performExpiringActivity`), and cancel the task when the system's time is over.
  ///
  /// - Throws: ``LibraryCopyError``.
  public func update() async throws(LibraryCopyError) -> Outcome {
    let turn = LibraryTurn(
      places: places, length: max(Self.shortestTurn, 2 * TimeInterval(client.longestCall.components.seconds)), now: now)
    guard try await turn.begin() else { return .busy }
    do throws(LibraryCopyError) {
      let update = try await update(turn)
      await turn.end()
      return .updated(update)
    } catch {
      await turn.end()
      throw error
    }
  }

  private func update(_ turn: LibraryTurn) async throws(LibraryCopyError) -> LibraryUpdate {
    let current = try await turn.change { [places] in places.currentManifest }
    let (plan, isWholeList) = try await plan(current, turn)
    var work = LibraryUpdating(
      client: client, library: library, turn: turn, largeFiles: largeFiles, current: current)
    return try await work.carryOut(plan, isWholeList: isWholeList)
  }

  /// Makes a plan from the changes after the anchor, or from the whole list if there is no anchor or it has expired.
  private func plan(
    _ current: LibraryManifest, _ turn: LibraryTurn
  ) async throws(LibraryCopyError) -> (plan: LibraryPlan, isWholeList: Bool) {
    if let anchor = current.anchor {
      do throws(LibraryCopyError) {
        return (try await plan(current, after: anchor, turn), false)
      } catch {
        guard error.service?.code == .anchorExpired else { throw error }
      }
    }
    return (try await plan(current, after: nil, turn), true)
  }

  private func plan(
    _ current: LibraryManifest, after anchor: String?, _ turn: LibraryTurn
  ) async throws(LibraryCopyError) -> LibraryPlan {
    var plan = LibraryPlan(from: current, isWholeList: anchor == nil, budget: budget)
    var next = anchor
    for _ in 0..<Self.maximumPages {
      try await turn.renew()
      let page: LibraryChanges
      do throws(DeviceClientError) {
        page = try await client.changes(after: next)
      } catch {
        throw LibraryCopyError(error)
      }
      plan.add(page.changes)
      if let anchor = page.anchor {
        plan.end(at: anchor)
        return plan
      }
      // A page that names itself as the next one would repeat forever.
      guard page.next != next, !page.changes.isEmpty else { break }
      next = page.next
    }
    throw LibraryCopyError(
      DeviceClientError(.unreadableAnswer, .readingLibrary, host: client.access.service.host(percentEncoded: true)))
  }
}
