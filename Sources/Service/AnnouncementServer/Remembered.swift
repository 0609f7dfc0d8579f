// SPDX-License-Identifier: Apache-2.0

/// A value that is determined at most once in an interval. All callers share it, including those that arrive while it
/// is being determined.
actor Remembered<Value: Sendable> {
  private let interval: Duration
  private let time: @Sendable () -> Duration
  private let find: @Sendable () async -> Value
  private var last: (at: Duration, value: Value)?
  private var finding: Task<Value, Never>?

  /// - Parameter time: The time since a fixed moment, which never decreases.
  init(
    for interval: Duration, time: @escaping @Sendable () -> Duration, _ find: @escaping @Sendable () async -> Value
  ) {
    self.interval = interval
    self.time = time
    self.find = find
  }

  var value: Value {
    get async {
      if let last, time() - last.at < interval { return last.value }
      if let finding { return await finding.value }
      let task = Task { await findAgain() }
      finding = task
      return await task.value
    }
  }

  private func findAgain() async -> Value {
    let value = await find()
    (last, finding) = ((time(), value), nil)
    return value
  }
}
