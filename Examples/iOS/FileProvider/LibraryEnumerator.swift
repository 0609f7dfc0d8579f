// SPDX-License-Identifier: Apache-2.0

import DeviceClient
import FileProvider
import Foundation
import LibraryCopies
import PhoneRegistration

/// The enumerator of a container without items. When iOS asks it for changes, it copies the changes of the library.
nonisolated final class LibraryEnumerator: NSObject, NSFileProviderEnumerator {
  private let isRoot: Bool

  /// - Parameter isRoot: Whether the root is enumerated, and not the working set.
  init(isRoot: Bool) {
    self.isRoot = isRoot
    super.init()
    // The service pushes the working set's changes always, and those of others while they are enumerated.
    if isRoot { Task { try? await Shop.phone?.client()?.beginEnumerating("root") } }
  }

  func invalidate() {
    if isRoot { Task { try? await Shop.phone?.client()?.endEnumerating("root") } }
  }

  func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage) {
    observer.finishEnumerating(upTo: nil)
  }

  func enumerateChanges(for observer: any NSFileProviderChangeObserver, from syncAnchor: NSFileProviderSyncAnchor) {
    let answer = Answer(Observer(observer: observer))
    Task {
      do {
        try await Shop.phone?.updateLibrary()
        let isInTime = await answer.finish(upTo: LibraryEnumerator.anchor())
        // iOS asks again, and gets the new anchor.
        if !isInTime { try? await NSFileProviderManager.default.signalEnumerator(for: .workingSet) }
      } catch {
        // iOS asks again later.
        await answer.finish(NSFileProviderError(.serverUnreachable))
      }
    }
    // iOS expects an answer within a few seconds (NSFileProviderEnumerating.h), and an update of the whole library takes
    // longer. Until it has ended, the anchor is the former one.
    Task {
      try? await Task.sleep(for: .seconds(5))
      _ = await answer.finish(upTo: LibraryEnumerator.anchor())
    }
  }

  func currentSyncAnchor(completionHandler: @escaping (NSFileProviderSyncAnchor?) -> Void) {
    completionHandler(Self.anchor())
  }

  /// Returns the change of the library up to which the copy on the phone is complete.
  private static func anchor() -> NSFileProviderSyncAnchor {
    NSFileProviderSyncAnchor(Data(((try? Shop.phone?.library())?.manifest().anchor ?? "none").utf8))
  }

  /// It crosses to the actor that answers, which alone calls it.
  private struct Observer: @unchecked Sendable {  // Only the actor uses it.
    let observer: any NSFileProviderChangeObserver
  }

  /// The one answer to a question for changes.
  private actor Answer {
    private var waiting: Observer?

    init(_ observer: Observer) { waiting = observer }

    /// - Returns: Whether this was the answer; false if iOS had one before.
    func finish(upTo anchor: NSFileProviderSyncAnchor) -> Bool {
      guard let observer = waiting?.observer else { return false }
      waiting = nil
      observer.finishEnumeratingChanges(upTo: anchor, moreComing: false)
      return true
    }

    func finish(_ error: any Error) {
      waiting?.observer.finishEnumeratingWithError(error)
      waiting = nil
    }
  }
}
