// SPDX-License-Identifier: Apache-2.0

import DeviceClient
import FileProvider
import Foundation
import LibraryCopies
import PhoneRegistration

/// The enumerator of the root and of the working set, which both have all clips and tones. When iOS asks it for changes,
/// it copies the changes of the library.
nonisolated final class LibraryEnumerator: NSObject, NSFileProviderEnumerator {
  private let container: NSFileProviderItemIdentifier

  init(_ container: NSFileProviderItemIdentifier) {
    self.container = container
    super.init()
    // The service pushes the working set's changes always, and those of others while they are enumerated.
    if container == .rootContainer { Task { try? await Shop.phone?.client()?.beginEnumerating("root") } }
  }

  func invalidate() {
    if container == .rootContainer { Task { try? await Shop.phone?.client()?.endEnumerating("root") } }
  }

  func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage) {
    guard let container = Shop.phone?.container else { return observer.finishEnumerating(upTo: nil) }
    let (items, next) = LibraryListing(container: container).page(page.rawValue)
    observer.didEnumerate(items.map { SoundItem($0) })
    observer.finishEnumerating(upTo: next.map { NSFileProviderPage($0) })
  }

  func enumerateChanges(for observer: any NSFileProviderChangeObserver, from syncAnchor: NSFileProviderSyncAnchor) {
    let answer = Answer(Observer(observer: observer), since: syncAnchor)
    let container = container
    Task {
      do {
        try await Shop.phone?.updateLibrary()
        let isInTime = await answer.finish(at: LibraryEnumerator.anchor())
        let manager = NSFileProviderManager.default
        // iOS asks again, and gets the new list. An open folder need not wait for its own push.
        if !isInTime { try? await manager.signalEnumerator(for: container) }
        if container == .workingSet { try? await manager.signalEnumerator(for: .rootContainer) }
      } catch {
        // iOS asks again later.
        await answer.finish(NSFileProviderError(.serverUnreachable))
      }
    }
    // iOS expects an answer within a few seconds (NSFileProviderEnumerating.h), and an update of the whole library takes
    // longer. It goes on afterwards, as long as iOS lets the process run.
    Task {
      try? await Task.sleep(for: .seconds(5))
      _ = await answer.finish(at: LibraryEnumerator.anchor())
    }
  }

  func currentSyncAnchor(completionHandler: @escaping (NSFileProviderSyncAnchor?) -> Void) {
    completionHandler(Self.anchor())
  }

  /// Returns the anchor of what is on the phone now.
  private static func anchor() -> NSFileProviderSyncAnchor? {
    Shop.phone.map { NSFileProviderSyncAnchor(Data(LibraryListing(container: $0.container).anchor.utf8)) }
  }

  /// It crosses to the actor that answers, which alone calls it.
  private struct Observer: @unchecked Sendable {  // Only the actor uses it.
    let observer: any NSFileProviderChangeObserver
  }

  /// The one answer to a question for changes.
  private actor Answer {
    private var waiting: Observer?
    private let since: NSFileProviderSyncAnchor

    init(_ observer: Observer, since: NSFileProviderSyncAnchor) {
      waiting = observer
      self.since = since
    }

    /// Answers with what is on the phone. If it has changed, the anchor that iOS knows has expired, and iOS lists everything
    /// again (NSFileProviderEnumerating.h). That takes no network, and nothing has to know what iOS listed before.
    ///
    /// - Returns: Whether this was the answer; false if iOS had one before.
    func finish(at anchor: NSFileProviderSyncAnchor?) -> Bool {
      guard let observer = waiting?.observer else { return false }
      waiting = nil
      if anchor == since {
        observer.finishEnumeratingChanges(upTo: since, moreComing: false)
      } else {
        observer.finishEnumeratingWithError(NSFileProviderError(.syncAnchorExpired))
      }
      return true
    }

    func finish(_ error: any Error) {
      waiting?.observer.finishEnumeratingWithError(error)
      waiting = nil
    }
  }
}
