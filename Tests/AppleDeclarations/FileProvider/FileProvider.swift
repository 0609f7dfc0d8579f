// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import UniformTypeIdentifiers

public struct NSFileProviderItemIdentifier: Hashable, RawRepresentable, Sendable {
  public var rawValue: String
  public init(_ rawValue: String) { fatalError() }
  public init(rawValue: String) { fatalError() }
  public static let rootContainer = NSFileProviderItemIdentifier("")
  public static let workingSet = NSFileProviderItemIdentifier("")
  public static let trashContainer = NSFileProviderItemIdentifier("")
}

public struct NSFileProviderSyncAnchor: Hashable, RawRepresentable, Sendable {
  public var rawValue: Data
  public init(_ rawValue: Data) { fatalError() }
  public init(rawValue: Data) { fatalError() }
}

public struct NSFileProviderPage: Hashable, RawRepresentable, Sendable {
  public var rawValue: Data
  public init(_ rawValue: Data) { fatalError() }
  public init(rawValue: Data) { fatalError() }
}

public struct NSFileProviderItemCapabilities: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { fatalError() }
  public static var allowsReading: NSFileProviderItemCapabilities { fatalError() }
  public static var allowsContentEnumerating: NSFileProviderItemCapabilities { fatalError() }
}

public struct NSFileProviderError: Error, Sendable {
  public enum Code: Int, Sendable {
    case notAuthenticated, syncAnchorExpired, noSuchItem, serverUnreachable
  }

  public init(_ code: Code) { fatalError() }
}

public protocol NSFileProviderItem: NSObjectProtocol {
  var itemIdentifier: NSFileProviderItemIdentifier { get }
  var parentItemIdentifier: NSFileProviderItemIdentifier { get }
  var filename: String { get }

  // These properties are optional in Objective-C. Here, they are required, so that a wrong name is an error.
  var contentType: UTType { get }
  var capabilities: NSFileProviderItemCapabilities { get }
  var documentSize: NSNumber? { get }
  var versionIdentifier: Data? { get }
}

public protocol NSFileProviderEnumerationObserver: NSObjectProtocol {
  func didEnumerate(_ updatedItems: [any NSFileProviderItem])
  func finishEnumerating(upTo nextPage: NSFileProviderPage?)
  func finishEnumeratingWithError(_ error: any Error)
}

public protocol NSFileProviderChangeObserver: NSObjectProtocol {
  func didUpdate(_ updatedItems: [any NSFileProviderItem])
  func didDeleteItems(withIdentifiers deletedItemIdentifiers: [NSFileProviderItemIdentifier])
  func finishEnumeratingChanges(upTo anchor: NSFileProviderSyncAnchor, moreComing: Bool)
  func finishEnumeratingWithError(_ error: any Error)
}

public protocol NSFileProviderEnumerator: NSObjectProtocol {
  func invalidate()
  func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage)

  // These methods are optional in Objective-C. Here, they are required, so that a wrong name is an error.
  func enumerateChanges(for observer: any NSFileProviderChangeObserver, from syncAnchor: NSFileProviderSyncAnchor)
  func currentSyncAnchor(completionHandler: @escaping (NSFileProviderSyncAnchor?) -> Void)
}

open class NSFileProviderManager: NSObject {
  open class var `default`: NSFileProviderManager { fatalError() }
  open var documentStorageURL: URL { fatalError() }
  open class func placeholderURL(for url: URL) -> URL { fatalError() }
  open class func writePlaceholder(at placeholderURL: URL, withMetadata metadata: any NSFileProviderItem) throws {
    fatalError()
  }
  open func signalEnumerator(for containerItemIdentifier: NSFileProviderItemIdentifier) async throws { fatalError() }
}

open class NSFileProviderExtension: NSObject {
  open func item(for identifier: NSFileProviderItemIdentifier) throws -> any NSFileProviderItem { fatalError() }
  open func urlForItem(withPersistentIdentifier identifier: NSFileProviderItemIdentifier) -> URL? { fatalError() }
  open func persistentIdentifierForItem(at url: URL) -> NSFileProviderItemIdentifier? { fatalError() }
  open func providePlaceholder(at url: URL, completionHandler: @escaping ((any Error)?) -> Void) { fatalError() }
  open func startProvidingItem(at url: URL, completionHandler: @escaping ((any Error)?) -> Void) { fatalError() }
  open func stopProvidingItem(at url: URL) { fatalError() }
  open func itemChanged(at url: URL) { fatalError() }
  open func enumerator(
    for containerItemIdentifier: NSFileProviderItemIdentifier
  ) throws -> any NSFileProviderEnumerator { fatalError() }
}
