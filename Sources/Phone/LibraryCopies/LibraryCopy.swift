// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import DeviceClient
import FileSystem
import Foundation
public import SoundLibrary

/// What an update did. An earlier update that was ended may have put other files into place; see
/// ``LibraryManifest/difference(from:)``.
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
  /// The number of files that were fetched from the service.
  public var fetchedFiles = 0
  /// The number of listed clips, tones and voice packs that the service no longer had. A later change tells of them.
  public var missing = 0
  /// The number of listed names that were left out; see ``LibraryPlan/refused``. A tone is left out, too, if the app or
  /// its user has another file of this name.
  public var refused = 0
  /// The anchor of the library that is now in place, for `NSFileProviderSyncAnchor`.
  public var anchor: String

  /// Whether a clip, a tone or a voice pack was put into place or removed.
  public var hasChanges: Bool {
    ![changedClips, removedClips, changedPacks, removedPacks, changedTones, removedTones].allSatisfy(\.isEmpty)
  }

  public init(anchor: String) { self.anchor = anchor }
}

/// A copy of the account's library in the group container, for the file-provider extension.
///
/// Clips and tones are in `Library/Sounds`, voice packs in `Library/Crier/Voices/<id>`, and what is there is written in
/// `Library/Crier/library.json`. A process that is ended during an update leaves everything usable: old files stay
/// until the new ones are whole, and the next update continues without fetching a whole file twice.
public final class LibraryCopy: Sendable {
  /// The result of ``LibraryCopy/update()``.
  public enum Outcome: Sendable, Hashable {
    case updated(LibraryUpdate)
    /// Another update of the same container is running, in this process or another one. Nothing was done.
    case busy
  }

  /// The number of pages after which a list counts as endless. At 1,000 changes a page, this is far beyond what a
  /// service keeps.
  static let maximumPages = 1_000

  private let client: DeviceClient
  private let library: SoundLibrary
  private let budget: Int
  private let places: LibraryPlaces

  /// - Parameters:
  ///   - container: The container of the app group.
  ///   - budget: The maximum size of all clips in bytes. The newest clips are kept. Voice packs and tones do not
  ///     count.
  public init(client: DeviceClient, container: GroupContainer, budget: Int = LibraryPlan.standardBudget) {
    self.client = client
    library = SoundLibrary(container: container)
    self.budget = budget
    places = LibraryPlaces(container)
  }

  /// Returns what the copy has. It is empty if there is none, or if its file is damaged. The call reads a file and
  /// takes no lock.
  public func manifest() -> LibraryManifest {
    guard let data = try? Data(contentsOf: places.manifest),
      let manifest = try? JSONDecoder().decode(LibraryManifest.self, from: data)
    else { return LibraryManifest() }
    return manifest
  }

  /// Asks the service for the changes of the library, and applies them to the copy.
  ///
  /// The lock of the copy is released before this returns or throws, so hand the result to the system afterwards: iOS
  /// ends a process that it suspends while the process holds a lock in a shared container. Let the system know of the
  /// work while it runs (`ProcessInfo.performExpiringActivity`), and cancel the task when the time is over.
  ///
  /// - Throws: ``LibraryCopyError``.
  public func update() async throws(LibraryCopyError) -> Outcome {
    let places = places
    let lock = try await onWaitingThread { () throws(LibraryCopyError) -> LockedFile? in
      do throws(SystemError) {
        try DurableFolder.make(places.voices, .readableByAll)
        try DurableFolder.make(places.fetched, .ownerOnly)
        return try LockedFile(places.lock, patience: 0)
      } catch {
        throw LibraryCopyError(error)
      }
    }
    guard let lock else { return .busy }
    defer { withExtendedLifetime(lock) {} }
    var work = LibraryUpdating(client: client, library: library, places: places, current: manifest())
    let (plan, isWholeList) = try await plan(work.current)
    return .updated(try await work.carryOut(plan, isWholeList: isWholeList))
  }

  /// Plans by the changes after the anchor; by everything if there is none or if it has expired.
  private func plan(
    _ current: LibraryManifest
  ) async throws(LibraryCopyError) -> (plan: LibraryPlan, isWholeList: Bool) {
    do throws(DeviceClientError) {
      if let anchor = current.anchor {
        do throws(DeviceClientError) {
          return (try await plan(current, after: anchor), false)
        } catch {
          guard error.code == .anchorExpired else { throw error }
        }
      }
      return (try await plan(current, after: nil), true)
    } catch {
      throw LibraryCopyError(error)
    }
  }

  private func plan(
    _ current: LibraryManifest, after anchor: String?
  ) async throws(DeviceClientError) -> LibraryPlan {
    var plan = LibraryPlan(from: current, isWholeList: anchor == nil, budget: budget)
    var next = anchor
    for _ in 0..<Self.maximumPages {
      let page = try await client.changes(after: next)
      plan.add(page.changes)
      if let anchor = page.anchor {
        plan.end(at: anchor)
        return plan
      }
      // A page that leads to itself would never end.
      guard page.next != next, !page.changes.isEmpty else { break }
      next = page.next
    }
    throw DeviceClientError(
      .unreadableAnswer, .readingLibrary, host: client.access.service.host(percentEncoded: true))
  }
}
