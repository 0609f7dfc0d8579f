// SPDX-License-Identifier: Apache-2.0

private import Foundation

/// A value that several threads use in turn.
///
/// Not `Synchronization.Mutex`: the thread sanitizer does not see its order, and takes what it guards for a race (Swift 6.3
/// on Linux).
public final class Locked<Value>: @unchecked Sendable {  // The value is used under the lock.
  private let lock = NSLock()
  private var value: Value

  public init(_ value: sending Value) { self.value = value }

  /// - Throws: what the body throws.
  public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}
