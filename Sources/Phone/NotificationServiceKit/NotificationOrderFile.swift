// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
public import Foundation

/// The ``NotificationOrder`` of a group, in a file of the group container that all extension processes share.
///
/// The file is `Library/Crier/order.json`. A process replaces it as a whole while it holds a lock on `order.lock`. If
/// the process is ended at any moment, the file is therefore either the old order or the new one. A damaged file counts
/// as a new order.
///
/// No process holds the lock while it hands over a notification, because iOS ends a process that is suspended while it
/// holds the lock of a shared file (observed, exception code 0xdead10cc).
public struct NotificationOrderFile: Sendable {
  /// The longest time in seconds for which a process waits for the lock. Afterwards, its work tries again.
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

  /// Changes the order. The call blocks the thread, and returns when all processes see the new order. Until
  /// ``synchronize()`` returns, a loss of power may bring back an older order.
  ///
  /// - Parameters:
  ///   - timeout: The longest time to wait for the lock, in seconds.
  ///   - isLate: Whether the result is out of date because writing the order took too long. The change is then repeated
  ///     from the old order.
  ///   - body: Changes the order. It may be called more than once; only the last change counts.
  /// - Returns: The last result of the closure.
  /// - Throws: ``NotificationServiceError`` if the order cannot be locked, read or written. The order is then
  ///   unchanged.
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

  /// The maximum number of times that a change is made if the disk is slow.
  private static let mostAttempts = 3

  /// Waits until the order is on the disk. The caller must not hold the lock. An error is ignored, because the next
  /// change is synchronized too.
  func synchronize() { try? DurableFolder.synchronize(folder) }

  // MARK: Hand-overs without the order

  private var unwritten: URL { folder.appending(path: "handed-over", directoryHint: .isDirectory) }

  /// Records a hand-over that is made although another process holds the lock of the order. This method needs no lock.
  /// The next change of the order includes the record.
  func note(_ handOver: UnwrittenHandOver) {
    guard let data = try? JSONEncoder().encode(handOver),
      (try? FileManager.default.createDirectory(at: unwritten, withIntermediateDirectories: true)) != nil
    else { return }
    let file = unwritten.appending(path: "\(UUID().uuidString).json", directoryHint: .notDirectory)
    // If this fails, the announcement may be heard twice, which is better than not at all. There is no wait for the
    // disk, because the record matters only to processes that run now, and none of them survives a loss of power.
    try? data.write(to: file, options: .atomic)
  }

  /// Returns the recorded hand-overs that the order does not include yet, with their files. Damaged files are removed.
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

  /// The order that was read last. It spares a process from decoding the same bytes for each of its notifications.
  private final class Memory: Sendable {
    let last = Locked<(bytes: Data, order: NotificationOrder)?>(nil)
    let look = Locked<(at: Int64, version: FileStatus?)?>(nil)
  }

  /// Returns the current order; nil if there is no file, or if it is damaged. Reading needs no lock.
  ///
  /// - Throws: ``SystemError`` if the file exists but cannot be read.
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

  /// The time in ms for which all notifications of a process use the same ``version(at:)``.
  static let lookTime: Int64 = 80

  /// Returns the status of the file, which differs after each change; nil if there is no file. This method needs no
  /// lock.
  ///
  /// - Parameter now: The time in ms. If the last status is not older than ``lookTime``, it is returned again.
  func version(at now: Int64) -> FileStatus? {
    memory.look.withLock { look in
      if let look, (look.at...look.at.plus(Self.lookTime)).contains(now) { return look.version }
      let version = try? FileStatus.status(at: path)
      look = (now, version)
      return version
    }
  }
}

/// A hand-over that is not in the order yet, because another process held the lock for too long.
struct UnwrittenHandOver: Sendable, Hashable, Codable {
  /// The announcement's id.
  var id: String
  var sequence: Int64?
  /// The time of the hand-over, in ms.
  var at: Int64
  /// The moment at which the next sound may begin, in ms.
  var until: Int64
  /// Whether the sound said everything that it should.
  var isExact: Bool
}
