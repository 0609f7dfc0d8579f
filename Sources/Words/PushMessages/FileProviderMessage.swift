// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The payload of a file-provider push, which makes the system ask the app's file-provider extension for changes.
public struct FileProviderMessage: Sendable, Hashable {
  /// The container that the extension enumerates.
  public enum Container: Sendable, Hashable {
    case root
    /// Everything that the extension keeps current.
    case workingSet
    /// A folder, by the extension's own identifier.
    case item(String)

    /// The maximum size of an identifier, in bytes of UTF-8.
    public static let largestIdentifier = 1_024

    /// Reads a container: `root`, `working-set`, one of Apple's constants, or the identifier of a folder.
    ///
    /// - Throws: ``PushMessageError`` with `containerInvalid` if the text is empty, too long, or has a control
    ///   character.
    public init(_ text: String) throws(PushMessageError) {
      switch text {
      case "root", Self.root.identifier: self = .root
      case "working-set", Self.workingSet.identifier: self = .workingSet
      default:
        let hasControl = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard (1...Self.largestIdentifier).contains(text.utf8.count), !hasControl else {
          throw PushMessageError(
            .containerInvalid,
            "must be root, working-set, or an identifier of 1 to \(Self.largestIdentifier) bytes without control "
              + "characters")
        }
        self = .item(text)
      }
    }

    /// The identifier in the payload. The identifiers of the root and of the working set are the values of Apple's
    /// constants with the same names.
    public var identifier: String {
      switch self {
      case .root: "NSFileProviderRootContainerItemIdentifier"
      case .workingSet: "NSFileProviderWorkingSetContainerItemIdentifier"
      case .item(let identifier): identifier
      }
    }
  }

  public var container: Container

  public init(container: Container) { self.container = container }

  /// Returns the payload: `{"container-identifier":"…"}`.
  public func encoded() -> Data { payloadData(["container-identifier": container.identifier]) }
}
