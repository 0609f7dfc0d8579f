// SPDX-License-Identifier: Apache-2.0

import CPQ
import ConcurrencySupport
import Foundation

/// A connection of libpq. Only the thread that made it uses it.
///
/// It never blocks in libpq, except while a host name is looked up and while a cancellation is sent: it waits in
/// `poll`, where its thread can be woken. The class is safe, because only this class frees the memory of its pointers.
@safe final class Wire {
  private(set) var pointer: OpaquePointer?
  private let cancellation: OpaquePointer?
  let server: String
  let wake: WakeUp
  var statements: StatementCache
  /// The first error of the transaction that is open.
  var failure: PostgreSQLError?

  /// - Parameter pointer: A connection that the server accepted. This object closes it.
  init(_ pointer: OpaquePointer, server: String, wake: WakeUp, mostStatements: Int) {
    unsafe self.pointer = unsafe pointer
    unsafe cancellation = unsafe PQgetCancel(pointer)
    self.server = server
    self.wake = wake
    statements = StatementCache(most: mostStatements)
  }

  deinit {
    unsafe PQfreeCancel(cancellation)
    close()
  }

  /// Closes the connection at once. The server rolls back a transaction that is open.
  func close() {
    unsafe PQfinish(pointer)
    unsafe pointer = nil
  }

  var isUsable: Bool { unsafe pointer != nil && PQstatus(pointer) == CONNECTION_OK }
  var socket: Int32? { unsafe pointer == nil ? nil : PQsocket(pointer) }

  /// Whether a transaction is open. A broken connection has no open transaction.
  var isInTransaction: Bool {
    guard isUsable else { return false }
    return unsafe PQtransactionStatus(pointer) != PQTRANS_IDLE
  }

  /// Whether the open transaction has failed and can only be rolled back.
  var hasFailed: Bool { unsafe isUsable && PQtransactionStatus(pointer) == PQTRANS_INERROR }

  /// Asks the server to cancel the statement that runs. The call blocks until the server has passed the request on, so
  /// the request never cancels a later statement. libpq before version 17 sends the request without TLS. It contains
  /// only a number, which is of no other use to anybody.
  func cancelStatement() {
    guard unsafe cancellation != nil else { return }
    var text = [CChar](repeating: 0, count: 256)
    // Safe: no more is written than the array holds. If the call fails, the caller closes the connection after a while.
    _ = unsafe PQcancel(cancellation, &text, Int32(text.count))
  }

  /// Reads what a server sent without being asked, such as the end of the connection.
  func readIdle() {
    guard isUsable, unsafe PQconsumeInput(pointer) == 1 else { return close() }
    // This parses what came. There is no result, because nothing was asked.
    _ = unsafe PQisBusy(pointer)
    while let notice = unsafe PQnotifies(pointer) { unsafe PQfreemem(notice) }
    if !isUsable { close() }
  }
}
