// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// A piece of work for a connection.
struct Job: Sendable {
  let control: JobControl
  /// Does the work, and returns a closure that answers the caller.
  let perform: @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> @Sendable () -> Void
  let fail: @Sendable (PostgreSQLError) -> Void
  /// Called once, when the thread is done with the job, even if the job was never begun.
  let finished: @Sendable () -> Void
}

/// The state that the thread of a connection shares with all other threads.
final class Mailbox: Sendable {
  private struct State {
    var jobs: [Job] = []
    var state = PostgreSQLConnection.State.notConnected
    /// The error of the last attempt to connect; nil after a successful attempt.
    var failure: PostgreSQLError?
    var hasThread = false
    var current: JobControl?
    var closing: [AwaitedAnswer<Void>] = []
  }

  let wake: WakeUp
  private let state = Locked(State())

  init(wake: WakeUp) { self.wake = wake }

  /// - Returns: Nil if the connection is closed; otherwise whether the thread must be started.
  func add(_ job: Job) -> Bool? {
    let mustStart: Bool? = state.withLock { state in
      guard state.state != .closed else { return nil }
      state.jobs.append(job)
      defer { state.hasThread = true }
      return !state.hasThread
    }
    if mustStart != nil { wake.signal() }
    return mustStart
  }

  var connectionState: PostgreSQLConnection.State {
    get { state.withLock { $0.state } }
    set { state.withLock { if $0.state != .closed { $0.state = newValue } } }
  }

  /// Notes why an attempt to connect failed, or that the attempt succeeded.
  func connected(_ failure: PostgreSQLError?) {
    state.withLock { state in
      state.failure = failure
      if state.state != .closed { state.state = failure == nil ? .connected : .waiting }
    }
  }

  /// Returns why there is no connection; nil unless the thread is looking for a connection.
  func obstacle(server: String) -> PostgreSQLError? {
    state.withLock { state in
      guard state.state == .connecting || state.state == .waiting else { return nil }
      return state.failure ?? PostgreSQLError(.cannotConnect, while: .connecting, server: server)
    }
  }

  var isClosed: Bool { connectionState == .closed }

  /// Takes all jobs, in their order.
  func takeJobs() -> [Job] {
    state.withLock { state in
      defer { state.jobs = [] }
      return state.jobs
    }
  }

  /// Notes which job the thread works on.
  ///
  /// - Returns: False if the connection is closed.
  func works(on control: JobControl?) -> Bool {
    state.withLock { state in
      state.current = control
      return state.state != .closed
    }
  }

  func close(server: String) {
    let current = state.withLock { state in
      state.state = .closed
      return state.current
    }
    _ = current?.end(.closed, server: server)
    wake.signal()
  }

  /// Waits until the thread has ended.
  func waitForEnd() async {
    let _: Void = await waitForAnswer { answer in
      let isOver = state.withLock { state in
        guard state.hasThread else { return true }
        state.closing.append(answer)
        return false
      }
      if isOver { answer.give(()) }
    }
  }

  func threadEnded() {
    let closing = state.withLock { state in
      state.hasThread = false
      defer { state.closing = [] }
      return state.closing
    }
    for answer in closing { answer.give(()) }
  }
}

/// The work of the thread that owns a connection. All of it runs on this thread.
final class ConnectionThread {
  private let mailbox: Mailbox
  private let address: PostgreSQLAddress
  private let options: PostgreSQLConnection.Options
  private var wire: Wire?
  private var jobs: ArraySlice<Job> = []
  private var backOff: PostgreSQLBackOff
  private var nextAttempt = ContinuousClock.now
  private var lastFailure: PostgreSQLError?
  private var generator = SystemRandomNumberGenerator()

  private init(_ mailbox: Mailbox, _ address: PostgreSQLAddress, _ options: PostgreSQLConnection.Options) {
    self.mailbox = mailbox
    self.address = address
    self.options = options
    backOff = options.reconnecting
  }

  static func start(_ mailbox: Mailbox, _ address: PostgreSQLAddress, _ options: PostgreSQLConnection.Options) {
    let thread = Thread { ConnectionThread(mailbox, address, options).run() }
    thread.name = "postgresql"
    thread.start()
  }

  private func run() {
    while let job = next() {
      let answer = perform(job)
      // The connection is free before the caller goes on, so the caller's next call finds it free.
      job.finished()
      answer()
    }
    let error = PostgreSQLError(.closed, while: .waiting, server: address.description)
    for job in jobs + mailbox.takeJobs() {
      job.fail(error)
      job.finished()
    }
    wire = nil
    mailbox.threadEnded()
  }

  /// Waits for a job.
  ///
  /// - Returns: Nil if the connection is closed.
  private func next() -> Job? {
    while !mailbox.isClosed {
      if let job = jobs.popFirst() { return job }
      jobs = mailbox.takeJobs()[...]
      if jobs.isEmpty, mailbox.wake.wait(for: wire?.socket, until: nil).canRead { readIdle() }
    }
    return nil
  }

  /// Reads what the server sent without being asked, such as the end of the connection.
  private func readIdle() {
    wire?.readIdle()
    if wire?.isUsable == false { drop() }
  }

  private func drop() {
    wire = nil
    mailbox.connectionState = .notConnected
  }

  /// Does a job, and prepares the connection for the next one.
  ///
  /// - Returns: A closure that answers the caller.
  private func perform(_ job: Job) -> @Sendable () -> Void {
    defer { _ = mailbox.works(on: nil) }
    defer { tidy() }
    do throws(PostgreSQLError) {
      guard mailbox.works(on: job.control) else { throw error(.closed) }
      let wire = try connected(for: job.control)
      guard job.control.runs() else { throw error((job.control.ended ?? .cancelled).code) }
      let answer = try job.perform(PostgreSQLSession(wire: wire, control: job.control, patience: options.patience))
      guard !wire.isInTransaction else {
        throw PostgreSQLError(
          .invalidUse, while: .runningStatement, server: wire.server, subject: "the work left a transaction open")
      }
      return answer
    } catch {
      // The server may have become a standby. The next job looks for the one that accepts changes.
      if error.code == .readOnly { wire?.close() }
      return { job.fail(error) }
    }
  }

  /// Prepares the connection for the next job.
  private func tidy() {
    guard let wire else { return }
    wire.rollBack(within: options.patience)
    if wire.isUsable, wire.statements.mustBeEmptied {
      let purpose = Wire.Purpose(control: nil, mayCommit: false, patience: options.patience)
      do {
        try wire.runScript("DEALLOCATE ALL", for: purpose)
        wire.statements.empty()
      } catch {
        wire.close()
      }
    }
    if !wire.isUsable { drop() }
  }

  /// Returns the connection, and makes one if there is none. While no server can be reached, it tries again until the
  /// job's deadline.
  private func connected(for control: JobControl) throws(PostgreSQLError) -> Wire {
    // A connection that the server has closed meanwhile is replaced before anything is sent.
    if let wire, mailbox.wake.wait(for: wire.socket, until: .now).canRead { readIdle() }
    while true {
      if let wire, wire.isUsable { return wire }
      if let end = control.ended {
        throw end == .deadlinePassed ? lastFailure ?? error(.cannotConnect) : error(end.code)
      }
      if let lastFailure, nextAttempt > .now {
        guard nextAttempt < control.deadline else { throw lastFailure }
        _ = mailbox.wake.wait(for: nil, until: nextAttempt)
        continue
      }
      mailbox.connectionState = .connecting
      do {
        wire = try Wire.connect(
          to: address, mostStatements: options.mostStatements, wake: mailbox.wake, isStopped: { mailbox.isClosed })
        backOff.succeeded()
        lastFailure = nil
        mailbox.connected(nil)
      } catch {
        mailbox.connected(error)
        lastFailure = error
        nextAttempt = .now + backOff.failed(using: &generator)
        if error.isPermanent || error.code == .closed { throw error }
      }
    }
  }

  private func error(_ code: PostgreSQLError.Code) -> PostgreSQLError {
    PostgreSQLError(code, while: .connecting, server: address.description)
  }
}
