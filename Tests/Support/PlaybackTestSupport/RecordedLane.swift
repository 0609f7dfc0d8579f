// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
public import Playback
public import SoundOutputTestSupport
private import SoundOutputs

/// A player as in production, with its own ledger and a sound server whose sound is recorded.
public final class RecordedLane: Sendable {
  public let server: PulseServer
  public let player: Player
  public let tones: DistinctTones
  private let ledger: Ledger
  private let folder: URL

  /// Creates a player with the default settings without starting it.
  ///
  /// - Parameter place: The place for the ledger's folder, which is removed with this object.
  public init(
    server: PulseServer, tones: DistinctTones = DistinctTones(), in place: URL = FileManager.default.temporaryDirectory
  ) throws {
    self.server = server
    self.tones = tones
    folder = place.appending(path: "lane-\(UUID().uuidString)")
    ledger = try Ledger(at: folder.appending(path: "ledger.sqlite"))
    player = Player(lane: "counter", ledger: ledger, output: ALSAOutput(device: server.pcm), render: tones)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Accepts payments from several threads at once. Each thread waits for the acceptance of a payment before it offers
  /// the next.
  ///
  /// - Returns: The ids in the order of acceptance, and the time from the first call to the last return.
  public func accept(
    _ payments: [(id: Int, sequence: Int64?)], threads: Int
  ) async throws -> (ids: [Int], span: Duration) {
    let answers = Answers()
    let start = Gate(threads)
    await withCheckedContinuation { continuation in
      let group = DispatchGroup()
      for thread in 0..<threads {
        let own = stride(from: thread, to: payments.count, by: threads).map { payments[$0] }
        group.enter()
        Thread.detachNewThread { [player] in
          start.pass()
          for payment in own {
            let begin = ContinuousClock.now
            let result = Self.wait {
              try await player.accept(
                StoredAnnouncement(
                  id: String(payment.id), category: .payment, sequence: payment.sequence,
                  payload: Data(#"{"id":"\#(payment.id)"}"#.utf8)))
            }
            answers.add(result.map { (payment.id, $0.number, begin, .now) })
          }
          group.leave()
        }
      }
      group.notify(queue: .global()) { continuation.resume() }
    }
    let all = try answers.all.map { try $0.get() }
    guard let first = all.map(\.begin).min(), let last = all.map(\.end).max() else { return ([], .zero) }
    return (all.sorted { $0.number < $1.number }.map(\.id), first.duration(to: last))
  }

  /// Blocks the thread until the work is done. Do not call it on a thread that runs tasks.
  private static func wait<Value: Sendable>(
    for work: @escaping @Sendable () async throws -> Value
  ) -> Result<Value, any Error> {
    let answer = Answer<Value>()
    let isDone = DispatchSemaphore(value: 0)
    Task {
      do { answer.value = .success(try await work()) } catch { answer.value = .failure(error) }
      isDone.signal()
    }
    isDone.wait()
    return answer.value ?? .failure(CancellationError())
  }

  /// Waits until an event has happened so many times, counting earlier events too.
  @discardableResult
  public func happens(_ kind: Ledger.Event.Kind, times: Int = 1) async throws -> Ledger.Event? {
    var left = times
    for try await event in player.events(after: 0) where event.kind == kind {
      left -= 1
      if left == 0 { return event }
    }
    return nil
  }

  /// The events so far, oldest first.
  public func events() async throws -> [Ledger.Event] { try await ledger.events(limit: 1000) }

  /// Waits until the middle of a sound is heard; sounds are counted from 1.
  public func middle(of count: Int, in recording: Recording) async throws {
    // Reads on a separate thread, because the player needs the threads that run tasks.
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { [self] in
        continuation.resume(with: Result { while !(try isPastMiddle(of: count, in: recording)) {} })
      }
    }
  }

  private func isPastMiddle(of count: Int, in recording: Recording) throws -> Bool {
    let sounds = tones.heard(in: try recording.samples(andMilliseconds: 10), rate: server.rate)
    guard sounds.count >= count, let fullLength = sounds[count - 1].fullLength else { return false }
    return sounds[count - 1].length > Double(fullLength / 2)
  }
}

private final class Answer<Value: Sendable>: @unchecked Sendable {  // Written before the signal, read after it.
  var value: Result<Value, any Error>?
}

private final class Answers: @unchecked Sendable {  // The list is only used while the lock is held.
  typealias One = (id: Int, number: Int64, begin: ContinuousClock.Instant, end: ContinuousClock.Instant)

  private let lock = NSLock()
  private var list: [Result<One, any Error>] = []

  func add(_ one: Result<One, any Error>) { lock.withLock { list.append(one) } }
  var all: [Result<One, any Error>] { lock.withLock { list } }
}

/// A gate that lets all threads pass when the last one has arrived.
private final class Gate: @unchecked Sendable {  // The count is only used while the condition's lock is held.
  private let condition = NSCondition()
  private var missing: Int

  init(_ count: Int) { missing = count }

  func pass() {
    condition.withLock {
      missing -= 1
      condition.broadcast()
      while missing > 0 { condition.wait() }
    }
  }
}
