// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
import Foundation
import SoundLibrary
import Testing

@testable import LibraryCopies

/// A group container in a fresh folder, which is removed when the test is over, and a service.
final class TemporaryCopy: Sendable {
  let root: URL
  let container: GroupContainer
  let service = PlayedService()
  private let clock = Locked(Date())

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "library-copies-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    container = try GroupContainer(containers: root, group: "group.crier")
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  /// Lets a time in seconds pass for all processes.
  func pass(_ seconds: TimeInterval) { clock.withLock { $0 += seconds } }

  var now: @Sendable () -> Date {
    { [clock] in clock.withLock { $0 } }
  }

  /// A new copy, as a new process would have.
  func copy(
    budget: Int = LibraryPlan.standardBudget, largeFiles: (any LargeFileFetching)? = nil
  ) -> LibraryCopy {
    guard let url = URL(string: "https://crier.example") else { preconditionFailure("The text is a URL.") }
    let client = DeviceClient(
      access: DeviceAccess(service: url, device: "till-1", key: "crier_key"), fetcher: service, resolver: OneHost())
    return LibraryCopy(client: client, container: container, budget: budget, largeFiles: largeFiles, now: now)
  }

  /// Updates the copy and expects an update.
  @discardableResult
  func update(budget: Int = LibraryPlan.standardBudget) async throws -> LibraryUpdate {
    guard case .updated(let update) = try await copy(budget: budget).update() else { throw Busy() }
    return update
  }

  /// Updates the copy and returns the error. Another update that runs at the same time is a failed test.
  func failure() async -> LibraryCopyError? {
    do throws(LibraryCopyError) {
      if try await copy().update() == .busy { Issue.record("Another update of the same container is running.") }
      return nil
    } catch {
      return error
    }
  }

  struct Busy: Error {}

  var places: LibraryPlaces { LibraryPlaces(container) }

  /// The clips in `Library/Sounds`, hidden files too.
  var clips: [String: [UInt8]] { Self.files(in: container.soundsDirectory) }

  func pack(_ id: String) -> [String: [UInt8]] { Self.files(in: places.pack(id)) }

  /// The names in `Voices`, hidden ones too.
  var packs: [String] { LibraryPlaces.names(in: places.voices) }

  var left: [String] { LibraryPlaces.names(in: places.fetched) }

  static func files(in folder: URL) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in LibraryPlaces.names(in: folder) {
      files[name] = (try? Data(contentsOf: folder.appending(path: name))).map { [UInt8]($0) } ?? []
    }
    return files
  }
}

/// The name of a rendered clip.
func clip(_ number: Int) -> String { String(repeating: "a", count: 64 - "\(number)".count) + "\(number).wav" }
