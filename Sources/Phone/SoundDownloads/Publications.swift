// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The sounds that this process is publishing in the library.
///
/// A publication holds the lock of a file in the group container. iOS ends a process that is suspended while it holds
/// such a lock (observed, exception code 0xdead10cc). A process that may be suspended soon therefore calls
/// ``finish(within:)``.
public final class Publications: Sendable {
  private let running = DispatchGroup()

  public init() {}

  /// Publishes a sound. The closure must first check whether the sound is still wanted.
  ///
  /// - Throws: The error of the closure.
  package func run<Result, Failure: Error>(_ publish: () throws(Failure) -> Result) throws(Failure) -> Result {
    running.enter()
    defer { running.leave() }
    return try publish()
  }

  /// Waits until no publication is running. The call blocks the thread.
  ///
  /// - Parameter seconds: The longest time in seconds that this call takes.
  /// - Returns: False if a publication is still running.
  @discardableResult
  public func finish(within seconds: TimeInterval) -> Bool { running.wait(timeout: .now() + seconds) == .success }
}
