// SPDX-License-Identifier: Apache-2.0

/// The streams to which every value of one kind is sent. The owner's lock protects them, so all streams get the values
/// in the same order.
struct Listeners<Value: Sendable> {
  private var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
  private var count = 0

  /// Adds a stream.
  ///
  /// - Returns: The stream, its continuation, and the number with which it is removed.
  mutating func add() -> (stream: AsyncStream<Value>, continuation: AsyncStream<Value>.Continuation, number: Int) {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
    count += 1
    continuations[count] = continuation
    return (stream, continuation, count)
  }

  mutating func remove(_ number: Int) { continuations[number] = nil }

  func send(_ value: @autoclosure () -> Value) {
    guard !continuations.isEmpty else { return }
    let value = value()
    for continuation in continuations.values { continuation.yield(value) }
  }

  /// Ends all streams.
  mutating func finish() {
    for continuation in continuations.values { continuation.finish() }
    continuations = [:]
  }
}
