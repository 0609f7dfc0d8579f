// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
public import Playback
public import SoundOutputTestSupport
private import SoundOutputs

/// A player as people have it, with a ledger of its own, whose sound card is a sound server that is recorded.
public final class RecordedLane: Sendable {
  public let server: PulseServer
  public let player: Player
  public let tones: TellingTones
  private let ledger: Ledger
  private let folder: URL

  /// With the settings that a player has if nothing is set; nothing is started.
  ///
  /// - Parameter place: where the ledger's folder is made, which goes with this object.
  public init(
    server: PulseServer, tones: TellingTones = TellingTones(), in place: URL = FileManager.default.temporaryDirectory
  ) throws {
    self.server = server
    self.tones = tones
    folder = place.appending(path: "lane-\(UUID().uuidString)")
    ledger = try Ledger(at: folder.appending(path: "ledger.sqlite"))
    player = Player(lane: "counter", ledger: ledger, output: ALSAOutput(device: server.pcm), render: tones)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Accepts payments from so many threads at once, each of which waits for its acceptance before it offers the next.
  ///
  /// - Returns: the ids in the order of acceptance, and the time from the first call to the last return.
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

  /// Blocks the thread, which must not be one of the tasks', until the work is done.
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

  /// Returns when something has happened so often, be it long ago.
  @discardableResult
  public func happens(_ kind: Ledger.Event.Kind, times: Int = 1) async throws -> Ledger.Event? {
    var left = times
    for try await event in player.events(after: 0) where event.kind == kind {
      left -= 1
      if left == 0 { return event }
    }
    return nil
  }

  /// What has happened, oldest first.
  public func events() async throws -> [Ledger.Event] { try await ledger.events(limit: 1000) }

  /// Returns in the middle of a sound, counted from 1, as it is heard.
  public func middle(of count: Int, in recording: Recording) async throws {
    // On a thread of its own: the player needs those that run tasks.
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

private final class Answer<Value: Sendable>: @unchecked Sendable {  // Written before the semaphore, read behind it.
  var value: Result<Value, any Error>?
}

private final class Answers: @unchecked Sendable {  // The list is used under the lock.
  typealias One = (id: Int, number: Int64, begin: ContinuousClock.Instant, end: ContinuousClock.Instant)

  private let lock = NSLock()
  private var list: [Result<One, any Error>] = []

  func add(_ one: Result<One, any Error>) { lock.withLock { list.append(one) } }
  var all: [Result<One, any Error>] { lock.withLock { list } }
}

/// Lets threads pass when all of them are there.
private final class Gate: @unchecked Sendable {  // The count is used under the condition.
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
