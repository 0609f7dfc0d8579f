// SPDX-License-Identifier: Apache-2.0

private import Foundation

/// A value that several threads use in turn.
///
/// `Synchronization.Mutex` is not used: the thread sanitizer does not recognize that it orders accesses, and reports
/// accesses to the protected value as races (Swift 6.3 on Linux).
public final class Locked<Value> {
  private let lock = NSLock()
  private var value: Value

  public init(_ value: sending Value) { self.value = value }

  /// Calls a closure with exclusive access to the value and returns its result.
  ///
  /// - Throws: The error that the closure throws.
  public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}

/// The value may leave the lock if it is itself sendable.
extension Locked: @unchecked Sendable where Value: Sendable {}  // The lock protects the value.
