// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import DeviceClient
import FileSystem
import Foundation
public import SoundLibrary

/// What an update did. An earlier update that was ended may have put other files into place.
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
  /// The number of large files that were asked for in the background and have not come. An update after their arrival
  /// puts them into place; until then, the anchor stays.
  public var awaited = 0
  /// The number of files that were fetched from the service.
  public var fetchedFiles = 0
  /// The number of listed clips, tones and voice packs that the service no longer had. A later change tells of them.
  public var missing = 0
  /// The number of listed names that were left out; see ``LibraryPlan/refused``. A tone is left out, too, if the app or
  /// its user has another file of this name.
  public var refused = 0
  /// The anchor of the library that is now in place; empty if a first list is not complete yet.
  public var anchor: String

  /// Whether a clip, a tone or a voice pack was put into place or removed.
  public var hasChanges: Bool {
    ![changedClips, removedClips, changedPacks, removedPacks, changedTones, removedTones].allSatisfy(\.isEmpty)
  }
}

/// A copy of the account's library in the group container, for the file-provider extension.
///
/// Clips and tones are in `Library/Sounds`, voice packs in `Library/Crier/Voices/<id>`, and what is there is written in
/// `Library/Crier/library.json`. A process that is ended during an update leaves everything usable: old files stay
/// until the new ones are whole, and the next update continues without fetching a whole file twice.
///
/// No file is locked while the service is called, so iOS can suspend a process then. Only the moments that put something
/// into place lock a file.
public final class LibraryCopy: Sendable {
  /// The result of ``LibraryCopy/update()``.
  public enum Outcome: Sendable, Hashable {
    case updated(LibraryUpdate)
    /// Another update of the same container is running, in this process or another one. Nothing was done. After a
    /// process that was ended, this lasts for about a minute.
    case busy
  }

  /// The number of pages after which a list counts as endless. At 1,000 changes a page, this is far beyond what a
  /// service keeps.
  static let maximumPages = 1_000

  /// The shortest time in seconds after which an update that makes no progress counts as ended.
  static let shortestTurn: TimeInterval = 60

  private let client: DeviceClient
  private let library: SoundLibrary
  private let budget: Int
  private let places: LibraryPlaces
  private let largeFiles: (any LargeFileFetching)?
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - container: The container of the app group.
  ///   - budget: The maximum size of all clips in bytes. The newest clips are kept. Voice packs and tones do not
  ///     count.
  ///   - largeFiles: The client for clips and tones of at least 500,000 bytes; nil to fetch them within the update, too.
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

  /// Returns what the copy has. It is empty if there is none, or if its file is damaged. The call reads a file and
  /// takes no lock.
  public func manifest() -> LibraryManifest { places.currentManifest }

  /// Asks the service for the changes of the library, and applies them to the copy.
  ///
  /// No file is locked when this returns or throws. Let the system know of the work while it runs
  /// (`ProcessInfo.performExpiringActivity`), and cancel the task when the time is over: a file of the container is locked
  /// in the moments in which something is put into place.
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

  /// Plans by the changes after the anchor; by everything if there is none or if it has expired.
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
      // A page that leads to itself would never end.
      guard page.next != next, !page.changes.isEmpty else { break }
      next = page.next
    }
    throw LibraryCopyError(
      DeviceClientError(.unreadableAnswer, .readingLibrary, host: client.access.service.host(percentEncoded: true)))
  }
}
