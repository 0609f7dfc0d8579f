// SPDX-License-Identifier: Apache-2.0

/// Processes items, several at a time, and delivers each output as it completes.
///
/// An item is only requested when it can be processed at once, so memory does not grow with the number of items. The
/// function returns when all items are done. If one of the three closures throws or the task is cancelled, it cancels
/// the work in progress, waits for it to end, and delivers no more outputs.
///
/// - Parameters:
///   - limit: The number of items processed at once, at least 1.
///   - next: Returns the next item, or `nil` at the end. It is never called concurrently.
///   - work: Processes an item, concurrently with others.
///   - each: Receives an output, in the order of completion and in the caller's isolation, one at a time.
/// - Throws: The first error of the three closures, or `CancellationError` if the task is cancelled.
public func concurrently<Item: Sendable, Output: Sendable>(
  limit: Int, next: @escaping @Sendable () async throws -> Item?,
  work: @escaping @Sendable (Item) async throws -> Output, each: (Output) async throws -> Void
) async throws {
  precondition(limit > 0, "The limit must be at least 1.")
  try await withThrowingTaskGroup(of: Step<Item, Output>.self) { group in
    var (underWay, isAsking, hasEnded) = (0, false, false)
    func ask() {
      guard !isAsking, !hasEnded, underWay < limit else { return }
      isAsking = true
      group.addTask { .item(try await next()) }
    }
    ask()
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
        try await each(output)
      }
      ask()
    }
  }
}

/// Processes the items of a sequence in the same way. The sequence is only iterated as far as needed.
public func concurrently<Items: Sequence & Sendable, Output: Sendable>(
  _ items: Items, limit: Int, work: @escaping @Sendable (Items.Element) async throws -> Output,
  each: (Output) async throws -> Void
) async throws where Items.Element: Sendable {
  let source = Source(items)
  try await concurrently(limit: limit, next: { await source.next() }, work: work, each: each)
}

private enum Step<Item: Sendable, Output: Sendable> {
  case item(Item?)
  case output(Output)
}

/// Isolates an iterator that is used by several tasks in turn.
private actor Source<Items: Sequence & Sendable> where Items.Element: Sendable {
  private var iterator: Items.Iterator

  init(_ items: Items) { iterator = items.makeIterator() }

  func next() -> Items.Element? { iterator.next() }
}
