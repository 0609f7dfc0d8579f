// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation

/// The turn of one update of a copy. Another update, in this process or another one, can begin when this update has
/// ended or makes no progress.
///
/// iOS ends a process that is suspended while it holds the lock of a shared file, and an update can take minutes. The
/// turn is therefore recorded in a small file, which names the update and the time when its turn ends. The lock is held
/// only while this file or the copy is changed.
struct LibraryTurn: Sendable {
  /// The longest wait for the lock, in seconds. Another process holds the lock while it puts one file into place.
  static let lockPatience: TimeInterval = 5

  private struct Holder: Codable {
    var id: String
    /// The end of the turn, in seconds since 1970. Each change of the copy extends it.
    var end: Double
  }

  let places: LibraryPlaces
  /// The time in seconds that an update may take without progress. It is longer than each call of the update.
  let length: TimeInterval
  let now: @Sendable () -> Date
  private let id = UUID().uuidString

  /// Begins the turn.
  ///
  /// - Returns: False if another update has its turn.
  func begin() async throws(LibraryCopyError) -> Bool {
    try await onWaitingThread { () throws(LibraryCopyError) in
      try onDisk { () throws(SystemError) in
        try DurableFolder.make(places.voices, .readableByAll)
        try DurableFolder.make(places.fetched, .ownerOnly)
        try DurableFolder.make(places.asked, .ownerOnly)
        // If the lock is held, another update is putting a file into place.
        guard let lock = try LockedFile(places.lock, patience: 0) else { return false }
        return try withExtendedLifetime(lock) { () throws(SystemError) in
          if holder.map({ isValid($0) && $0.id != id }) ?? false { return false }
          try write()
          return true
        }
      }
    }
  }

  /// Changes the copy under the lock, and extends the turn.
  ///
  /// - Throws: The error of the closure; ``LibraryCopyError`` with the code `overtaken` if another update has its turn
  ///   by now. Nothing was changed then.
  func change<Value: Sendable>(
    _ body: @Sendable () throws(LibraryCopyError) -> Value
  ) async throws(LibraryCopyError) -> Value {
    try await onWaitingThread { () throws(LibraryCopyError) in
      let lock = try onDisk { () throws(SystemError) in
        guard let lock = try LockedFile(places.lock, patience: Self.lockPatience) else { throw .busy }
        return lock
      }
      defer { withExtendedLifetime(lock) {} }
      guard holder?.id == id else { throw LibraryCopyError(.overtaken) }
      try onDisk { () throws(SystemError) in if isShort { try write() } }
      return try body()
    }
  }

  /// Extends the turn before a call of the service.
  func renew() async throws(LibraryCopyError) { try await change {} }

  /// Ends the turn. An error is ignored, because the turn ends by itself later.
  func end() async {
    try? await change { () throws(LibraryCopyError) in try? FileManager.default.removeItem(at: places.turn) }
  }

  private var holder: Holder? {
    LibraryPlaces.contents(of: places.turn, atMost: 1_000).flatMap { try? JSONDecoder().decode(Holder.self, from: $0) }
  }

  /// Whether a turn has not ended. An end that is too far in the future means that the clock was set back.
  private func isValid(_ holder: Holder) -> Bool {
    let now = now().timeIntervalSince1970
    return (now...now + length).contains(holder.end)
  }

  /// Whether the turn ends so soon that it must be extended. Otherwise, a change need not write the file of the turn.
  private var isShort: Bool { (holder?.end ?? 0) < now().timeIntervalSince1970 + 0.75 * length }

  private func write() throws(SystemError) {
    let holder = Holder(id: id, end: now().timeIntervalSince1970 + length)
    guard let data = try? JSONEncoder().encode(holder) else { throw .inputOutput }
    // The file need not survive a loss of power, because no update is running afterwards. This call therefore does not
    // wait for the disk.
    _ = try DurableFile.replace(data, at: places.turn) { true }
  }

  private func onDisk<Value>(_ work: () throws(SystemError) -> Value) throws(LibraryCopyError) -> Value {
    do throws(SystemError) { return try work() } catch { throw LibraryCopyError(error) }
  }
}
