// SPDX-License-Identifier: Apache-2.0

import LedgerTestSupport
import Testing

/// Removes the ledgers of each test case when it ends.
struct RemovesLedgers: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await LedgerPlaces.removed(after: function)
  }
}

extension Trait where Self == RemovesLedgers {
  /// The test case may make places of ledgers, which are removed when it ends.
  static var removesLedgers: Self { Self() }
}
