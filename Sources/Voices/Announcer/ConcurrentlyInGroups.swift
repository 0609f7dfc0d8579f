// SPDX-License-Identifier: Apache-2.0

/// Processes items, several at a time, and completes their outputs in groups.
///
/// While one group is being completed, further items are processed, and their outputs form the next group. A group thus
/// has one output if completing is faster than processing, and more outputs if it is slower. A group never waits for
/// outputs that are not there yet.
///
/// An item is requested only when it can be processed at once. Memory use does not grow with the number of items: at
/// most `largestGroup` items are processed or wait for completion, and at most `largestGroup` more are being completed.
/// The function returns when all items have been processed. If one of the closures throws, or if the task is cancelled,
/// the function discards the waiting outputs, cancels the work in progress and waits for it to end. It then delivers no
/// more results.
///
/// - Parameters:
///   - limit: The number of items processed at the same time, at least 1.
///   - largestGroup: The largest number of outputs in a group, at least `limit`.
///   - next: Returns the next item, or `nil` at the end. It is never called concurrently.
///   - work: Processes an item. It is called concurrently for several items.
///   - complete: Completes the outputs of a group, which are in the order in which they were processed. It returns the
///     results in the order in which they are delivered. It is never called concurrently.
///   - each: Receives one result at a time. It runs in the caller's isolation.
/// - Throws: The first error that one of the closures throws, or `CancellationError` if the task is cancelled.
func concurrentlyInGroups<Item: Sendable, Output: Sendable, Result: Sendable>(
  limit: Int, largestGroup: Int, next: @escaping @Sendable () async throws -> Item?,
  work: @escaping @Sendable (Item) async throws -> Output,
  complete: @escaping @Sendable ([Output]) async throws -> [Result], each: (Result) async throws -> Void
) async throws {
  // Not from outside: the command line has checked the limit, and the group is at least as large.
  precondition(limit > 0 && largestGroup >= limit, "The limit must be at least 1, and largestGroup at least the limit.")
  try await withThrowingTaskGroup(of: Step<Item, Output, Result>.self) { group in
    var (underWay, isAsking, hasEnded, isCompleting) = (0, false, false, false)
    var waiting: [Output] = []
    func proceed() {
      if !isCompleting, !waiting.isEmpty {
        isCompleting = true
        let outputs = waiting
        waiting = []
        group.addTask { .results(try await complete(outputs)) }
      }
      guard !isAsking, !hasEnded, underWay < limit, underWay + waiting.count < largestGroup else { return }
      isAsking = true
      group.addTask { .item(try await next()) }
    }
    proceed()
    while let step = try await group.next() {
      try Task.checkCancellation()
      switch step {
      case .item(nil):
        (isAsking, hasEnded) = (false, true)
      case .item(let item?):
        isAsking = false
        underWay += 1
        group.addTask { .output(try await work(item)) }
      case .output(let output):
        underWay -= 1
        waiting.append(output)
      case .results(let results):
        isCompleting = false
        // The next group is completed while these results are delivered.
        proceed()
        for result in results { try await each(result) }
      }
      proceed()
    }
  }
}

private enum Step<Item: Sendable, Output: Sendable, Result: Sendable> {
  case item(Item?)
  case output(Output)
  case results([Result])
}
