// SPDX-License-Identifier: Apache-2.0

import FileProvider
import Foundation
import LibraryCopies
import NotificationServiceKit
import PhoneRegistration
import PushMessages

/// The clips and tones of the service as files that other apps can open and not change. iOS also runs it when a push says
/// that the library has changed, and it then copies the changes to the phone.
///
/// It is not a replicated extension. Those need a domain, and a push for a domain must name it (Apple's header of
/// `NSFileProviderManager`), which the pushes of Crier do not.
nonisolated final class FileProviderExtension: NSFileProviderExtension {
  private let tokens = PushTokens { _, token in
    Task { await Shop.registration?.changed(.fileProviderExtension, to: token) }
  }

  private var documents: LibraryDocuments? {
    Shop.phone.map {
      LibraryDocuments(container: $0.container, storage: NSFileProviderManager.default.documentStorageURL)
    }
  }

  override func enumerator(
    for containerItemIdentifier: NSFileProviderItemIdentifier
  ) throws -> any NSFileProviderEnumerator {
    guard containerItemIdentifier == .workingSet || containerItemIdentifier == .rootContainer else {
      throw NSFileProviderError(.noSuchItem)
    }
    return LibraryEnumerator(containerItemIdentifier)
  }

  override func item(for identifier: NSFileProviderItemIdentifier) throws -> any NSFileProviderItem {
    if identifier == .rootContainer { return RootFolder() }
    guard let container = Shop.phone?.container,
      let item = LibraryListing(container: container).item(named: identifier.rawValue)
    else { throw NSFileProviderError(.noSuchItem) }
    return SoundItem(item)
  }

  override func urlForItem(withPersistentIdentifier identifier: NSFileProviderItemIdentifier) -> URL? {
    documents?.url(of: identifier.rawValue)
  }

  override func persistentIdentifierForItem(at url: URL) -> NSFileProviderItemIdentifier? {
    documents?.name(at: url).map { NSFileProviderItemIdentifier($0) }
  }

  /// Writes what the Files app shows of a file before somebody opens it.
  override func providePlaceholder(at url: URL, completionHandler: @escaping ((any Error)?) -> Void) {
    do {
      guard let identifier = persistentIdentifierForItem(at: url) else { throw NSFileProviderError(.noSuchItem) }
      let placeholder = NSFileProviderManager.placeholderURL(for: url)
      try FileManager.default.createDirectory(
        at: placeholder.deletingLastPathComponent(), withIntermediateDirectories: true)
      try NSFileProviderManager.writePlaceholder(at: placeholder, withMetadata: item(for: identifier))
      completionHandler(nil)
    } catch {
      completionHandler(error)
    }
  }

  /// Somebody opens a file. The clips and tones are on the phone already, so it is copied at once.
  override func startProvidingItem(at url: URL, completionHandler: @escaping ((any Error)?) -> Void) {
    do {
      let isThere = try documents?.provide(at: url) ?? false
      completionHandler(isThere ? nil : NSFileProviderError(.noSuchItem))
    } catch {
      completionHandler(error)
    }
  }

  /// iOS needs the space of the copy, or nobody uses it any more.
  override func stopProvidingItem(at url: URL) {
    documents?.remove(at: url)
    providePlaceholder(at: url) { _ in }
  }

  /// Nobody can change a file.
  override func itemChanged(at url: URL) {}
}
