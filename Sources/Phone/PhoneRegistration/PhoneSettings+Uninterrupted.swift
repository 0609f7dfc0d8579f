// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

extension PhoneSettings {
  /// Runs work within ``uninterrupted``.
  ///
  /// - Throws: The error of the work; `CancellationError` if the system gave no time for it.
  func withoutInterruption<Value: Sendable>(
    _ reason: String, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let result = Locked<Result<Value, any Error>?>(nil)
    await uninterrupted(reason) {
      do {
        let value = try await work()
        result.withLock { $0 = .success(value) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
    }
    guard let result = result.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
  }
}
