// SPDX-License-Identifier: Apache-2.0

private import ConcurrencySupport
public import Foundation
public import Ledger
public import Playback
import PlaybackOrder
public import SoundOutputTestSupport
public import SoundOutputs
import SQLiteLedger

/// A player as in production, with its own ledger and a sound server whose sound is recorded.
public final class RecordedLane: Sendable {
  /// An acceptance of a payment, with the times at which it was asked for and confirmed.
  private typealias Acceptance = (
    id: Int, number: Int64, begin: ContinuousClock.Instant, end: ContinuousClock.Instant
  )

  public let server: PulseServer
  public let player: Player
  public let tones: DistinctTones
  private let ledger: any Ledger.Store
  private let folder: URL

  /// Creates a player without starting it.
  ///
  /// - Parameter place: The place for the ledger's folder, which is removed with this object.
  public init(
    server: PulseServer, tones: DistinctTones = DistinctTones(), settings: Player.Settings = Player.Settings(),
    waking: Waking = Waking(), in place: URL = FileManager.default.temporaryDirectory
  ) throws {
    self.server = server
    self.tones = tones
    folder = place.appending(path: "lane-\(UUID().uuidString)")
    ledger = try SQLiteLedger(at: folder.appending(path: "ledger.sqlite"))
    player = Player(
      lane: "counter", ledger: ledger, output: ALSAOutput(device: server.pcm, waking: waking), render: tones,
      settings: settings)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Accepts payments from several threads at once. Each thread waits for the acceptance of a payment before it offers
  /// the next.
  ///
  /// - Returns: The ids in the order of acceptance, and the time from the first call to the last return.
  public func accept(
    _ payments: [(id: Int, sequence: Int64?)], threads: Int
  ) async throws -> (ids: [Int], span: Duration) {
    let answers = Locked<[Result<Acceptance, any Error>]>([])
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
            let end = ContinuousClock.now
            answers.withLock { $0.append(result.map { (payment.id, $0.number, begin, end) }) }
          }
          group.leave()
        }
      }
      group.notify(queue: .global()) { continuation.resume() }
    }
    let all = try answers.withLock { $0 }.map { try $0.get() }
    guard let first = all.map(\.begin).min(), let last = all.map(\.end).max() else { return ([], .zero) }
    return (all.sorted { $0.number < $1.number }.map(\.id), first.duration(to: last))
  }

  /// Blocks the thread until the work is done. Do not call it on a thread that runs tasks.
  private static func wait<Value: Sendable>(
    for work: @escaping @Sendable () async throws -> Value
  ) -> Result<Value, any Error> {
    let result = Locked<Result<Value, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Task {
      let value: Result<Value, any Error>
      do { value = .success(try await work()) } catch { value = .failure(error) }
      result.withLock { $0 = value }
      isDone.signal()
    }
    isDone.wait()
    return result.withLock { $0 } ?? .failure(CancellationError())
  }

  /// Waits until an event has happened a number of times. Earlier events count too.
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

  /// An error for a sound whose middle was not heard in time.
  private struct NotHeard: Error, CustomStringConvertible {
    let description: String
  }

  /// Waits until the middle of a sound is heard, for at most 30 s; sounds are counted from 1.
  public func middle(of count: Int, in recording: Recording) async throws {
    let deadline = ContinuousClock.now + .seconds(30)
    // Reads on a separate thread, because the player needs the threads that run tasks.
    let result: Result<Void, any Error> = await waitForAnswer { answer in
      Thread.detachNewThread { [self] in
        answer.give(
          Result {
            while !(try isPastMiddle(of: count, in: recording)) {
              guard ContinuousClock.now < deadline else {
                throw NotHeard(description: "The middle of sound \(count) was not heard within 30 s")
              }
            }
          })
      }
    }
    try result.get()
  }

  private func isPastMiddle(of count: Int, in recording: Recording) throws -> Bool {
    // A busy machine plays with gaps, which must not count as the end of a sound.
    let sounds = tones.heard(in: try recording.samples(andMilliseconds: 10), rate: server.rate, hole: 100)
    guard sounds.count >= count, let fullLength = sounds[count - 1].fullLength else { return false }
    return sounds[count - 1].length > Double(fullLength / 2)
  }
}

/// A gate that lets all threads pass when the last one has arrived.
///
/// The lock is a condition variable, and not a `Locked`, because the threads wait for the last one.
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
