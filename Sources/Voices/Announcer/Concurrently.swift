// SPDX-License-Identifier: Apache-2.0

/// Processes items, several at a time. Each output is delivered as soon as it is complete.
///
/// An item is requested only when it can be processed at once, so memory use does not grow with the number of items.
/// The function returns when all items have been processed. If one of the three closures throws, or if the task is
/// cancelled, the function cancels the work in progress and waits for it to end. It then delivers no more outputs.
///
/// - Parameters:
///   - limit: The number of items processed at the same time, at least 1.
///   - next: Returns the next item, or `nil` at the end. It is never called concurrently.
///   - work: Processes an item. It is called concurrently for several items.
///   - each: Receives one output at a time, in the order of completion. It runs in the caller's isolation.
/// - Throws: The first error that one of the three closures throws, or `CancellationError` if the task is cancelled.
public func concurrently<Item: Sendable, Output: Sendable>(
  limit: Int, next: @escaping @Sendable () async throws -> Item?,
  work: @escaping @Sendable (Item) async throws -> Output, each: (Output) async throws -> Void
) async throws {
  // Not from outside: the limit follows from the number of processors, or the command line has checked it.
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

/// Processes the items of a sequence in the same way. The sequence is iterated only as far as necessary.
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
