// SPDX-License-Identifier: Apache-2.0

import FileProvider
import Foundation
import NotificationServiceKit
import PhoneRegistration
import PushMessages
import UniformTypeIdentifiers

/// A file provider without files. It exists for its pushes: iOS runs it when the library of the service has changed,
/// and it copies the changes into the group container, where iOS finds the sounds of notifications.
///
/// It is not a replicated extension. Those need a domain, and a push for a domain must name it (Apple's header of
/// `NSFileProviderManager`), which the pushes of Crier do not.
nonisolated final class FileProviderExtension: NSFileProviderExtension {
  private let tokens = PushTokens { _, token in
    Task { await Shop.registration?.changed(.fileProviderExtension, to: token) }
  }

  override func enumerator(
    for containerItemIdentifier: NSFileProviderItemIdentifier
  ) throws -> any NSFileProviderEnumerator {
    guard containerItemIdentifier == .workingSet || containerItemIdentifier == .rootContainer else {
      throw NSFileProviderError(.noSuchItem)
    }
    return LibraryEnumerator(isRoot: containerItemIdentifier == .rootContainer)
  }

  override func item(for identifier: NSFileProviderItemIdentifier) throws -> any NSFileProviderItem {
    guard identifier == .rootContainer else { throw NSFileProviderError(.noSuchItem) }
    return RootFolder()
  }

  // MARK: There are no files. Apple's documentation asks to override these methods all the same

  override func urlForItem(withPersistentIdentifier identifier: NSFileProviderItemIdentifier) -> URL? { nil }

  override func persistentIdentifierForItem(at url: URL) -> NSFileProviderItemIdentifier? { nil }

  override func providePlaceholder(at url: URL, completionHandler: @escaping ((any Error)?) -> Void) {
    completionHandler(NSFileProviderError(.noSuchItem))
  }

  override func startProvidingItem(at url: URL, completionHandler: @escaping ((any Error)?) -> Void) {
    completionHandler(NSFileProviderError(.noSuchItem))
  }

  override func stopProvidingItem(at url: URL) {}

  override func itemChanged(at url: URL) {}
}

/// The only item: the folder that the Files app shows.
nonisolated private final class RootFolder: NSObject, NSFileProviderItem {
  var itemIdentifier: NSFileProviderItemIdentifier { .rootContainer }
  var parentItemIdentifier: NSFileProviderItemIdentifier { .rootContainer }
  var filename: String { "Sounds" }
  var contentType: UTType { .folder }
  var capabilities: NSFileProviderItemCapabilities { [.allowsReading, .allowsContentEnumerating] }
}
