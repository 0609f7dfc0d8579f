// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
public import Foundation

/// The ``NotificationOrder`` of a group, in a file of the group container that all extension processes share.
///
/// The file is `Library/Crier/order.json`. It is replaced as a whole while a lock on `order.lock` is held, so a process
/// that is ended at any moment leaves either the old order or the new one. A damaged file counts as a new order. The
/// lock is held while the file is replaced, and never while a notification is handed over: iOS ends a process that is
/// suspended with the lock of a shared file (observed, exception code 0xdead10cc).
public struct NotificationOrderFile: Sendable {
  /// The longest time for which a process waits for the lock, in seconds. Work that does not get the lock in this time
  /// tries again.
  static let lockTimeout: TimeInterval = 0.25

  /// The folder of the group container in which Crier keeps its files.
  public let folder: URL

  private let path: String
  private let memory = Memory()

  /// - Parameter container: The directory of the group container.
  public init(container: URL) {
    folder = container.appending(path: "Library/Crier", directoryHint: .isDirectory)
    path = folder.appending(path: "order.json", directoryHint: .notDirectory).path(percentEncoded: false)
  }

  var file: URL { folder.appending(path: "order.json", directoryHint: .notDirectory) }
  private var lock: URL { folder.appending(path: "order.lock", directoryHint: .notDirectory) }

  /// Changes the order. The call blocks the thread, and returns when all processes see the new order. After a loss of
  /// power, the order may be an older one for as long as ``synchronize()`` has not returned.
  ///
  /// - Parameters:
  ///   - timeout: The longest time to wait for the lock, in seconds.
  ///   - isLate: Whether the result is out of date, because it took long to write the order. The order is then changed
  ///     anew, beginning with the old one.
  ///   - body: Changes the order. It may be called more than once; only the last change counts.
  /// - Returns: The last result of the closure.
  /// - Throws: ``NotificationServiceError`` if the order cannot be locked, read or written. It is then unchanged.
  func update<Result>(
    timeout: TimeInterval = lockTimeout, isLate: (Result) -> Bool = { _ in false },
    _ body: (inout NotificationOrder) -> Result
  ) throws(NotificationServiceError) -> Result {
    do throws(SystemError) {
      guard let held = try openLock(timeout) else {
        throw .busy
      }
      return try withExtendedLifetime(held) { () throws(SystemError) -> Result in
        let old = try read()
        let unwritten = unwrittenHandOvers()
        var attempt = 0
        while true {
          attempt += 1
          var order = old ?? NotificationOrder()
          for (_, handOver) in unwritten { order.note(handOver) }
          let result = body(&order)
          let isLast = attempt == Self.mostAttempts
          if order != old, !(try write(order, isCurrent: { isLast || !isLate(result) })) { continue }
          for (file, _) in unwritten { try? FileManager.default.removeItem(at: file) }
          return result
        }
      }
    } catch {
      throw NotificationServiceError(
        error.kind == .busy ? .orderBusy : .orderUnavailable, folder: folder, reason: error.description)
    }
  }

  /// How often a change is made anew because the disk is slow.
  private static let mostAttempts = 3

  /// Waits until the order is on the disk. No lock is held meanwhile. An error is ignored, because the next change waits
  /// for the same.
  func synchronize() { try? DurableFolder.synchronize(folder) }

  // MARK: Hand-overs without the order

  private var unwritten: URL { folder.appending(path: "handed-over", directoryHint: .isDirectory) }

  /// Notes a hand-over that is made although the order is locked by another process. It needs no lock. The next change
  /// of the order takes it over.
  func note(_ handOver: UnwrittenHandOver) {
    guard let data = try? JSONEncoder().encode(handOver),
      (try? FileManager.default.createDirectory(at: unwritten, withIntermediateDirectories: true)) != nil
    else { return }
    let file = unwritten.appending(path: "\(UUID().uuidString).json", directoryHint: .notDirectory)
    // Without this note, the announcement may be heard again, which is better than not at all. No process works after a
    // loss of power, so the disk is not waited for.
    try? data.write(to: file, options: .atomic)
  }

  /// Returns the hand-overs that the order does not know, with their files. Damaged files are removed.
  private func unwrittenHandOvers() -> [(file: URL, handOver: UnwrittenHandOver)] {
    let files = (try? FileManager.default.contentsOfDirectory(at: unwritten, includingPropertiesForKeys: nil)) ?? []
    return files.filter { $0.pathExtension == "json" }.compactMap { file in
      guard let data = try? Data(contentsOf: file) else { return nil }
      if let handOver = try? JSONDecoder().decode(UnwrittenHandOver.self, from: data) { return (file, handOver) }
      try? FileManager.default.removeItem(at: file)
      return nil
    }
  }

  // MARK: Reading and writing

  private func openLock(_ timeout: TimeInterval) throws(SystemError) -> LockedFile? {
    do throws(SystemError) {
      return try LockedFile(lock, patience: timeout)
    } catch {
      guard error.kind == .missing else { throw error }
      _ = try OpenDescriptor.folder(folder, making: .readableByAll, calls: .system)
      return try LockedFile(lock, patience: timeout)
    }
  }

  /// The order that was read last, so that the works of a process do not all decode the same bytes.
  private final class Memory: Sendable {
    let last = Locked<(bytes: Data, order: NotificationOrder)?>(nil)
    let look = Locked<(at: Int64, version: FileStatus?)?>(nil)
  }

  /// Returns the order as it is now; nil if there is none, or if it is damaged. No lock is needed to look at it.
  ///
  /// - Throws: ``SystemError`` if there is a file that cannot be read.
  func read() throws(SystemError) -> NotificationOrder? {
    guard let data = try DurableFile.contents(of: file) else { return nil }
    return memory.last.withLock { last in
      if let last, last.bytes == data { return last.order }
      guard let order = try? JSONDecoder().decode(NotificationOrder.self, from: data) else { return nil }
      last = (data, order)
      return order
    }
  }

  private func write(_ order: NotificationOrder, isCurrent: () -> Bool) throws(SystemError) -> Bool {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let data = try? encoder.encode(order) else { throw .inputOutput }
    return try DurableFile.replace(data, at: file, isCurrent: isCurrent)
  }

  /// The time in ms for which the works of a process share one look at the file.
  static let lookTime: Int64 = 80

  /// Returns a mark of the file's present version, which differs after each change; nil if there is none. No lock is
  /// needed.
  ///
  /// - Parameter now: The time in ms. A look that is not older than ``lookTime`` is not repeated.
  func version(at now: Int64) -> FileStatus? {
    memory.look.withLock { look in
      if let look, (look.at...look.at.plus(Self.lookTime)).contains(now) { return look.version }
      let version = try? FileStatus.status(at: path)
      look = (now, version)
      return version
    }
  }
}

/// A hand-over that was made without the order, because another process held its lock for too long.
struct UnwrittenHandOver: Sendable, Hashable, Codable {
  /// The announcement's id.
  var id: String
  var sequence: Int64?
  /// The time of the hand-over, in ms.
  var at: Int64
  /// The moment at which the next sound may begin, in ms.
  var until: Int64
  /// Whether the sound said all that it should.
  var isExact: Bool
}
