// SPDX-License-Identifier: Apache-2.0

/// Works on items, several at a time, and takes in each output as it comes.
///
/// An item is asked for only when there is room to work on it at once, and while others are worked on; so nothing grows
/// with the number of items. Ends when all is done; earlier when one of the three throws or the task is cancelled:
/// what is under way is then cancelled and waited for, and no more is taken in.
///
/// - Parameters:
///   - limit: how many items are worked on at once, 1 or more.
///   - next: the next item, `nil` at the end; never called twice at once.
///   - work: what is done with one; runs beside the others.
///   - each: takes in an output, in the order of completion; runs where the caller does, one call after the other.
/// - Throws: the first error of the three; `CancellationError` when the task is cancelled.
public func concurrently<Item: Sendable, Output: Sendable>(
  limit: Int, next: @escaping @Sendable () async throws -> Item?,
  work: @escaping @Sendable (Item) async throws -> Output, each: (Output) async throws -> Void
) async throws {
  precondition(limit > 0, "Nothing is done by nobody.")
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

/// The same, with the items of a sequence, which is iterated as far as there is work.
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

/// Keeps an iterator to itself, since it is asked from one task after another.
private actor Source<Items: Sequence & Sendable> where Items.Element: Sendable {
  private var iterator: Items.Iterator

  init(_ items: Items) { iterator = items.makeIterator() }

  func next() -> Items.Element? { iterator.next() }
}
