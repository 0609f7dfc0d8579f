// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Ledger
import PostgreSQL

/// The highest numbers up to which the rows of some tables are settled: no row with such a number can appear any more.
///
/// Transactions take their numbers in one order, and commit in another. A reader that continues after the highest number
/// that it has seen would therefore miss rows. It gets only settled rows instead. They are found as follows:
///
/// 1. A transaction has its own id before it takes a number. The tables' defaults ensure this.
/// 2. The reader reads the last number that was taken, and takes a transaction id after that, as a ticket. The ids of
///    all transactions that took a number up to this one are lower than the ticket.
/// 3. When all transactions of the database with ids below the ticket have ended, the number is settled.
///
/// Writers do not wait for each other, and rows need no further column. This value remembers the numbers and tickets that
/// this process has seen.
final class SettledNumbers: Sendable {
  /// The numbers of a table.
  enum Numbers: String, Sendable, Hashable, CaseIterable {
    case administration = "administration_numbers"
    case libraryChanges = "library_anchors"
    case providerPayments = "provider_payment_numbers"
    case pushes = "push_numbers"
    case webhooks = "webhook_numbers"

    /// The name of the sequence.
    var sequence: String { rawValue }

    /// The query that tells whether the table has a row with a number above $1.
    ///
    /// It reads the last entry of the index. With `EXISTS (… WHERE number > $1)`, PostgreSQL expects that a third of all
    /// rows meet the condition, and reads the table from its start to find one.
    var queryForNewer: String {
      let (table, number) =
        switch self {
        case .administration: ("administration", "number")
        case .libraryChanges: ("library_changes", "anchor")
        case .providerPayments: ("provider_payments", "number")
        case .pushes: ("pushes", "number")
        case .webhooks: ("webhooks", "number")
        }
      return "SELECT coalesce((SELECT \(number) FROM \(table) ORDER BY \(number) DESC LIMIT 1) > $1, false) AS value"
    }
  }

  /// The knowledge of this process about the numbers of a table.
  struct Knowledge: Sendable, Hashable {
    struct Ticket: Sendable, Hashable {
      /// The last number that was taken before the ticket.
      var number: Int64
      /// The transaction id of the reader.
      var id: Int64
    }

    private(set) var settled: Int64 = 0
    /// The numbers that are not settled yet, in their order.
    private(set) var tickets: [Ticket] = []

    /// The most tickets to remember. If more are needed, the latest one is replaced.
    static let mostTickets = 16

    /// The highest number that is settled, or for which there is a ticket.
    var highest: Int64 { tickets.last?.number ?? settled }

    mutating func add(_ ticket: Ticket) {
      // Another call may have been faster.
      guard ticket.number > highest else { return }
      if tickets.count == Self.mostTickets { tickets.removeLast() }
      tickets.append(ticket)
    }

    /// Notes that all transactions with ids below a given id have ended.
    mutating func note(ended id: Int64) {
      while let first = tickets.first, first.id <= id {
        settled = first.number
        tickets.removeFirst()
      }
    }
  }

  /// The query for the lowest id of a transaction that is open in this database and has an id below $1; $1 if there is
  /// none.
  ///
  /// ``Schema/horizon`` also waits for the transactions of other databases of the server, which may take hours. This query
  /// leaves them out, but reads all locks of the server. Each transaction holds the lock of its own id, from before it takes
  /// a number until its changes are visible. Ids have 64 bits, and locks have the lower 32 of them.
  static let oldestOpen = """
    SELECT $1 - coalesce(max(distance), 0) AS value
    FROM (
      SELECT ($1 - transactionid::text::bigint) & 4294967295 AS distance
      FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted
        AND (datname IS NULL OR datname = current_database())) AS open
    WHERE distance BETWEEN 1 AND 2147483647
    """

  private let knowledge = Locked<[Numbers: Knowledge]>([:])

  /// Returns the last number that was taken.
  private static func last(_ numbers: Numbers, in session: borrowing PostgreSQLSession) throws -> Int64 {
    let last: Int64? = try session.value(
      "SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS value FROM \(numbers.sequence)")
    guard let last else { throw UnreadableRow() }
    return last
  }

  private func change<Value: Sendable>(_ numbers: Numbers, _ change: (inout Knowledge) -> Value) -> Value {
    knowledge.withLock { change(&$0[numbers, default: Knowledge()]) }
  }

  /// Finds out which numbers are settled now. The session must not be in a transaction, because each statement has to see
  /// what other transactions did before it.
  ///
  /// - Returns: The highest settled number, the last number that was taken, and whether the table has a row that is not
  ///   settled.
  func look(
    at numbers: Numbers, in session: borrowing PostgreSQLSession
  ) throws -> (settled: Int64, last: Int64, isWaiting: Bool) {
    let known = change(numbers) { $0.highest }
    let last = try Self.last(numbers, in: session)
    if last < known {
      // Sequences only go forward. The database was replaced by one with fewer numbers, for example by a failover to a
      // standby that was behind.
      knowledge.withLock { $0[numbers] = Knowledge() }
    }
    if last > change(numbers, { $0.highest }) {
      let ticket: Int64? = try session.value("SELECT \(Schema.thisTransaction) AS value")
      guard let ticket else { throw UnreadableRow() }
      change(numbers) { $0.add(Knowledge.Ticket(number: last, id: ticket)) }
    }
    let settled = change(numbers) { $0.settled }
    if settled >= last { return (settled, last, false) }
    let highest = change(numbers) { $0.tickets.last?.id }
    guard let highest else { return (settled, last, false) }
    var ended: Int64? = try session.value("SELECT \(Schema.horizon) AS value")
    if let horizon = ended, horizon < highest { ended = try session.value(Self.oldestOpen, [.int64(highest)]) }
    guard let ended else { throw UnreadableRow() }
    let newlySettled = change(numbers) { knowledge in
      knowledge.note(ended: ended)
      return knowledge.settled
    }
    if newlySettled >= last { return (newlySettled, last, false) }
    let isWaiting: Bool? = try session.value(numbers.queryForNewer, [.int64(newlySettled)])
    return (newlySettled, last, isWaiting == true)
  }
}

extension PostgreSQLLedger {
  /// Returns the highest settled number of a table: no row with this or a lower number can appear any more; see
  /// ``SettledNumbers``.
  ///
  /// If the table has rows that are not settled yet, the call waits for the transactions that may add rows before them:
  /// usually for a few milliseconds, and at most for ``PostgreSQLLedger/Options/patienceForOrder``. If such a transaction
  /// hangs for longer, the rows are not returned before it has ended.
  ///
  /// - Returns: The number, and the last number that was taken.
  func settledNumber(
    of numbers: SettledNumbers.Numbers, isLong: Bool = false
  ) async throws(LedgerError) -> (settled: Int64, last: Int64) {
    let end = ContinuousClock.now + options.patienceForOrder
    var pause = Duration.milliseconds(1)
    while true {
      let look = try await read(isLong: isLong) { [settledNumbers] session in
        try settledNumbers.look(at: numbers, in: session)
      }
      // PostgreSQL reports the end of another transaction to nobody, so the query is repeated until the limit.
      guard look.isWaiting, .now < end, (try? await Task.sleep(for: pause)) != nil else {
        return (look.settled, look.last)
      }
      pause = min(pause * 2, .milliseconds(100))
    }
  }
}
