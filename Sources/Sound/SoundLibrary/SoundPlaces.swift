// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A place in which iOS looks for the sound that a notification names.
public enum SoundPlace: Sendable, Hashable, CustomStringConvertible {
  /// `Library/Sounds` of the app's own container. Extensions of the app cannot access it.
  case appContainer
  /// `Library/Sounds` of the container of a group, such as `group.crier`.
  case groupContainer(String)
  /// The folder of the app's bundle.
  case bundle

  /// The name of the place, for programs.
  public var code: String {
    switch self {
    case .appContainer: "app_container"
    case .groupContainer: "group_container"
    case .bundle: "bundle"
    }
  }

  /// The place as a part of a sentence, such as `the bundle`.
  public var description: String {
    switch self {
    case .appContainer: "the app container"
    case .groupContainer(let group): "the group container \(group)"
    case .bundle: "the bundle"
    }
  }
}

/// The folders in which iOS looks for an app's notification sounds.
///
/// The order of the search comes from Apple's documentation of `UNNotificationSound`: the app's container, then the
/// group containers, then the bundle. The documentation does not say in which order iOS searches the groups, so the
/// order of ``groupContainers`` is an assumption of the caller.
public struct SoundPlaces: Sendable, Hashable {
  /// The container of a group, and the group's name.
  public struct Group: Sendable, Hashable {
    public var name: String
    public var container: GroupContainer

    public init(name: String, container: GroupContainer) {
      (self.name, self.container) = (name, container)
    }
  }

  /// The app's own container, which has the folder `Library/Sounds`; nil to leave it out.
  public var appContainer: URL?

  /// The group containers, in the order of the search.
  public var groupContainers: [Group]

  /// The app's bundle, which has the sounds at its top; nil to leave it out.
  public var bundle: URL?

  public init(appContainer: URL? = nil, groupContainers: [Group] = [], bundle: URL? = nil) {
    (self.appContainer, self.groupContainers, self.bundle) = (appContainer, groupContainers, bundle)
  }
}
