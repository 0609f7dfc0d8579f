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
    let observer = Observer(observer: observer)
    Task {
      do {
        try await Shop.phone?.updateLibrary()
        observer.finish(upTo: LibraryEnumerator.anchor())
      } catch {
        // iOS asks again later.
        observer.finish(NSFileProviderError(.serverUnreachable))
      }
    }
  }

  func currentSyncAnchor(completionHandler: @escaping (NSFileProviderSyncAnchor?) -> Void) {
    completionHandler(Self.anchor())
  }

  /// Returns the change of the library up to which the copy on the phone is complete.
  private static func anchor() -> NSFileProviderSyncAnchor {
    NSFileProviderSyncAnchor(Data(((try? Shop.phone?.library())?.manifest().anchor ?? "none").utf8))
  }

  /// It crosses to the task that updates the library, which alone calls it, and once.
  private struct Observer: @unchecked Sendable {  // Only one task uses it.
    let observer: any NSFileProviderChangeObserver

    func finish(upTo anchor: NSFileProviderSyncAnchor) {
      observer.finishEnumeratingChanges(upTo: anchor, moreComing: false)
    }

    func finish(_ error: any Error) { observer.finishEnumeratingWithError(error) }
  }
}
