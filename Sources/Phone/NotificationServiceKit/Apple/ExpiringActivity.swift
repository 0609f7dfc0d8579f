// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications)
  import Foundation
  // This file uses the module only for the condition above.
  import UserNotifications

  /// Work during which the system must not suspend the process.
  ///
  /// iOS ends a process that is suspended while it holds the lock of a file in a group container (observed, exception
  /// code 0xdead10cc). Use this type in the app and in its extensions for all work that changes files of the group.
  public enum ExpiringActivity {
    /// Runs work and asks iOS for time to finish it. If iOS gives no time, or if the time is over, the work's task is
    /// cancelled. On a Mac, the time is not limited, and the work runs to its end.
    ///
    /// - Parameter reason: A description of the work for the system's log.
    /// - Throws: The error of the work, or `CancellationError` if the work throws it when it is cancelled.
    public static func run<Result: Sendable>(
      _ reason: String, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
      let task = Task { try await work() }
      #if os(macOS)
        // macOS neither suspends the process nor limits its time. It may slow down or end an idle program, but not
        // during an activity.
        let activity = ProcessInfo.processInfo.beginActivity(
          options: .userInitiatedAllowingIdleSystemSleep, reason: reason)
        defer { ProcessInfo.processInfo.endActivity(activity) }
      #else
        let ended = DispatchSemaphore(value: 0)
        ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { isExpired in
          // iOS keeps the process running until this block returns. It calls the block a second time when the time is
          // over.
          if isExpired { task.cancel() } else { ended.wait() }
        }
        defer { ended.signal() }
      #endif
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }
#endif
