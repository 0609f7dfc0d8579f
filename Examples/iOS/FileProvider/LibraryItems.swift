// SPDX-License-Identifier: Apache-2.0

import DeviceClient
import FileProvider
import Foundation
import LibraryCopies
import UniformTypeIdentifiers

/// The folder that the Files app shows.
nonisolated final class RootFolder: NSObject, NSFileProviderItem {
  var itemIdentifier: NSFileProviderItemIdentifier { .rootContainer }
  var parentItemIdentifier: NSFileProviderItemIdentifier { .rootContainer }
  var filename: String { "Sounds" }
  var contentType: UTType { .folder }
  var capabilities: NSFileProviderItemCapabilities { [.allowsReading, .allowsContentEnumerating] }
  var documentSize: NSNumber? { nil }
  var versionIdentifier: Data? { nil }
}

/// A clip or a tone.
nonisolated final class SoundItem: NSObject, NSFileProviderItem {
  private let item: LibraryListing.Item

  init(_ item: LibraryListing.Item) { self.item = item }

  var itemIdentifier: NSFileProviderItemIdentifier { NSFileProviderItemIdentifier(item.name) }
  var parentItemIdentifier: NSFileProviderItemIdentifier { .rootContainer }
  var filename: String { item.name }
  var contentType: UTType { UTType(filenameExtension: (item.name as NSString).pathExtension) ?? .audio }
  var capabilities: NSFileProviderItemCapabilities { [.allowsReading] }
  var documentSize: NSNumber? { NSNumber(value: item.file.byteCount) }
  var versionIdentifier: Data? { Data(item.file.sha256.utf8) }
}
