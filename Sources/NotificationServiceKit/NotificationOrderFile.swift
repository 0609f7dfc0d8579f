// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
public import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Darwin
#endif

/// The ``NotificationOrder`` of a group, in a file of the group container that all extension processes share.
///
/// The file is `Library/Crier/order.json`. It is replaced as a whole while a lock on `order.lock` is held, so a process
/// that is ended at any moment leaves either the old order or the new one. A damaged file counts as a new order. The
/// lock is held for a few system calls, and never while a notification is handed over: iOS ends a process that is
/// suspended with the lock of a shared file (observed, exception code 0xdead10cc).
public struct NotificationOrderFile: Sendable {
  /// The longest time for which a process waits for the lock, in seconds.
  static let lockTimeout: TimeInterval = 2

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

  /// Changes the order, and waits until the new one is on the disk. The call blocks the thread.
  ///
  /// - Returns: The result of the closure.
  /// - Throws: ``NotificationServiceError`` if the order cannot be locked, read or written. It is then unchanged, or
  ///   changed completely.
  func update<Result>(
    timeout: TimeInterval = lockTimeout, _ body: (inout NotificationOrder) -> Result
  ) throws(NotificationServiceError) -> Result {
    do throws(SystemError) {
      guard let held = try openLock(timeout) else {
        throw .busy
      }
      return try withExtendedLifetime(held) { () throws(SystemError) -> Result in
        let old = try read()
        var order = old ?? NotificationOrder()
        let result = body(&order)
        if order != old { try write(order) }
        return result
      }
    } catch {
      throw NotificationServiceError(
        error.kind == .busy ? .orderBusy : .orderUnavailable, folder: folder, reason: error.description)
    }
  }

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
    let look = Locked<(at: Int64, version: Version?)?>(nil)
  }

  /// Returns the order as it is now; nil if there is none, or if it is damaged. No lock is needed to look at it.
  ///
  /// - Throws: ``SystemError`` if there is a file that cannot be read.
  func read() throws(SystemError) -> NotificationOrder? {
    let data: Data
    do {
      data = try Data(contentsOf: file)
    } catch {
      guard (error as? CocoaError)?.code == .fileReadNoSuchFile else { throw .inputOutput }
      return nil
    }
    return memory.last.withLock { last in
      if let last, last.bytes == data { return last.order }
      guard let order = try? JSONDecoder().decode(NotificationOrder.self, from: data) else { return nil }
      last = (data, order)
      return order
    }
  }

  private func write(_ order: NotificationOrder) throws(SystemError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let data = try? encoder.encode(order) else { throw .inputOutput }
    try DurableFile.write(data, to: file)
  }

  /// A mark of the file's present version. It differs after each change.
  struct Version: Hashable, Sendable {
    fileprivate var file: UInt64
    /// The time of the last change, in ns.
    fileprivate var changedAt: Int64
  }

  /// The time in ms for which the works of a process share one look at the file.
  static let lookTime: Int64 = 80

  /// Returns the mark of the file's present version; nil if there is none. No lock is needed.
  ///
  /// - Parameter now: The time in ms. A look that is not older than ``lookTime`` is not repeated.
  func version(at now: Int64) -> Version? {
    memory.look.withLock { look in
      if let look, (look.at...look.at.plus(Self.lookTime)).contains(now) { return look.version }
      let version = self.version
      look = (now, version)
      return version
    }
  }

  private var version: Version? {
    var status = stat()
    // Safe: the text lives as long as the call, and the system fills in a local variable.
    guard unsafe stat(path, &status) == 0 else { return nil }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return Version(
      file: UInt64(truncatingIfNeeded: status.st_ino),
      changedAt: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
