// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import SoundLibrary

/// An app container, two group containers and a bundle in a fresh folder, which is removed when the test is over.
final class TemporaryPlaces: Sendable {
  let root: URL
  let places: SoundPlaces

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "sound-places-\(UUID().uuidString)")
    let containers = root.appending(path: "groups")
    let groups = try ["group.crier", "group.shop"].map {
      SoundPlaces.Group(name: $0, container: try GroupContainer(containers: containers, group: $0))
    }
    places = SoundPlaces(
      appContainer: root.appending(path: "app", directoryHint: .isDirectory), groupContainers: groups,
      bundle: root.appending(path: "Shop.app", directoryHint: .isDirectory))
    for place in Self.all {
      try FileManager.default.createDirectory(at: folder(place), withIntermediateDirectories: true)
    }
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  static let all: [SoundPlace] = [
    .appContainer, .groupContainer("group.crier"), .groupContainer("group.shop"), .bundle,
  ]

  func folder(_ place: SoundPlace) -> URL {
    switch place {
    case .appContainer: root.appending(path: "app/Library/Sounds")
    case .groupContainer(let group): root.appending(path: "groups/\(group)/Library/Sounds")
    case .bundle: root.appending(path: "Shop.app")
    }
  }

  /// Writes a file whose name has exactly the given bytes.
  func put(_ name: String, in place: SoundPlace, _ bytes: [UInt8] = [1, 2, 3]) throws {
    try Data(bytes).write(to: folder(place).appending(path: name))
  }

  func resolve(_ name: String) throws -> SoundResolution {
    try SoundLookup(places.listings(of: SoundLookup.relevance(to: [name]))).resolve(name)
  }
}

extension SoundListing {
  /// A listing of a folder that does not exist on this machine.
  init(_ place: SoundPlace, _ entries: [(String, Kind)]) {
    let folder =
      switch place {
      case .appContainer: "/app/Library/Sounds"
      case .groupContainer(let group): "/groups/\(group)/Library/Sounds"
      case .bundle: "/Shop.app"
      }
    self.init(
      place: place, folder: URL(filePath: folder, directoryHint: .isDirectory),
      entries: entries.map { Entry(name: $0.0, kind: $0.1) })
  }
}
