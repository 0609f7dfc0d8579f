// SPDX-License-Identifier: Apache-2.0

/// An event for which a test waited in vain.
public struct NotHappened: Error, CustomStringConvertible {
  public let description: String
}

/// Waits until a condition holds. It is for events that nothing announces, such as a file in a folder.
///
/// - Parameters:
///   - rule: What should happen, as a sentence without a period. If it is left out, the error names the line of the
///     call, where the condition stands.
///   - deadline: The time after which the test fails. It decides nothing else, so it is long enough for a busy machine.
/// - Throws: ``NotHappened`` with the sentence; the error of the condition; `CancellationError`.
public func eventually(
  _ rule: String? = nil, within deadline: Duration = .seconds(120), fileID: String = #fileID, line: Int = #line,
  _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + deadline
  while try await !condition() {
    guard ContinuousClock.now < end else {
      let what = rule ?? "the condition in line \(line) of \(fileID)"
      throw NotHappened(description: "This did not happen within \(deadline): \(what).")
    }
    // The time between two looks. A loop without it would keep a processor from the work that the test waits for.
    try await Task.sleep(for: .milliseconds(2))
  }
}
