// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder
import SoundOutputs
import Waveforms

extension Lane {
  /// Handles the commands of other processes. Of the commands that were sent before the player began, only `cancel` is
  /// carried out: the announcement to skip no longer plays, and a new player gets its volume and its pause from other
  /// places.
  func takeCommands() async {
    let commands: [Ledger.SentCommand]
    do {
      commands = try await ledger.takeCommands(lane: name)
      noteLedger(nil, while: .takingCommands)
    } catch {
      noteLedger(error.code.rawValue, while: .takingCommands)
      return
    }
    for sent in commands {
      if case .cancel(let number) = sent.command {
        await cancel(number, Reply { _ in })
        continue
      }
      guard sent.number > lastOldCommand else { continue }
      switch sent.command {
      case .pause: pause(by: Self.command, account: nil)
      case .resume: resume()
      case .volume(let percent):
        if let keepVolume = settings.keepVolume {
          keepVolume(percent)
        } else {
          choose(volume: percent)
        }
      case .skip(let number):
        // The announcement to skip may have ended meanwhile. The command must not end the announcement that plays now.
        if number == nil || number == current?.item.number { await skip(Reply { _ in }) }
      case .replay(let number): _ = await replay(number, for: nil)
      case .cancel: break
      }
    }
  }

  /// Sets the chimes of the announcements that begin from now on. A summary keeps the chime with which it was made.
  func setChimes(_ chimes: Chimes) {
    self.chimes = chimes
    chimeVersion += 1
    for number in ready where number != summary?.number {
      waiting[number]?.sound = nil
      ready.remove(number)
    }
  }

  func skip(_ reply: Reply<Bool>) async {
    guard current != nil else { return reply(false) }
    current?.replies.append(reply)
    await silence(.skipped)
  }

  func cancel(_ number: Int64, _ reply: Reply<Bool>) async {
    if current?.item.number == number { return await skip(reply) }
    if let summary, summary.number == number {
      return await answer(reply) { await cancel(summary, number) }
    }
    // The announcement may have been accepted a moment ago.
    if waiting[number] == nil { await lookForArrivals() }
    let wasSetAside = !setAside.remove { $0.item.number == number }.isEmpty
    guard order.remove(number) != nil || wasSetAside else { return reply(false) }
    drop(number)
    await answer(reply) { await commit(number, .cancelled) }
  }

  /// Replies with the result once the change is written, or with an error as soon as the change cannot be written.
  private func answer(_ reply: Reply<Bool>, with change: () async -> Bool) async {
    asking = reply
    let isDone = await change()
    asking?(isDone)
    asking = nil
  }

  /// Cancels a waiting summary and the payments that it covers.
  private func cancel(_ summary: Summary, _ number: Int64) async -> Bool {
    self.summary = nil
    for payment in summary.payments + [number] {
      _ = order.remove(payment)
      drop(payment)
    }
    var change = Ledger.Change()
    change.endsMembers = true
    return await commit(number, .cancelled, change)
  }

  /// Restores an announcement that was cancelled while it waited. The announcement gets its old place.
  ///
  /// - Returns: Whether the announcement waits again.
  func restore(_ number: Int64) async -> Result<Bool, any Error> {
    // The lane must have read all lower numbers, so that this announcement is not read a second time.
    await lookForArrivals()
    do {
      guard let entry = try await ledger.restore(number) else { return .success(false) }
      if number > lastSeen {
        await lookForArrivals()
      } else {
        waiting[number] = Waiting(
          category: entry.category, isReplay: entry.isReplay, endsQuietly: entry.endsQuietly,
          isQuietSummary: entry.isQuietSummary, hasClip: entry.state == .waiting)
        order.restore(item(entry))
      }
      signals.happened()
      return .success(true)
    } catch {
      return .failure(error)
    }
  }

  /// - Parameter requester: The account that requests the replay, or nil for a person at this machine.
  func replay(_ number: Int64?, for requester: String?) async -> Result<Int64, any Error> {
    do {
      guard let entry = try await finished(number) else { throw PlayerError(.nothingToReplay, lane: name) }
      var replay = entry.announcement.replay(
        id: "\(entry.number)-\(UUID().uuidString)", expiresAt: clock.date() + Double(settings.replayLifetime) / 1000)
      // The replay is played on this lane, even if the original was played on another output.
      replay.lane = name
      let acceptance = try await ledger.accept(replay, again: entry.number, for: requester)
      await lookForArrivals()
      signals.happened()
      return .success(acceptance.number)
    } catch let error as LedgerError where error.code == .notFound {
      // The announcement was removed after it was looked up.
      return .failure(PlayerError(.nothingToReplay, lane: name))
    } catch {
      return .failure(error)
    }
  }

  private func finished(_ number: Int64?) async throws -> Ledger.Entry? {
    if let number = number ?? lastPlayed {
      let entry = try await ledger.entry(number)
      return entry.flatMap { $0.state.isFinal ? $0 : nil }
    }
    // Payments in a summary were not played individually, so they are not candidates.
    return try await ledger.recent(200, lane: name).filter { $0.state == .played && $0.summarisedBy == nil }
      .max { ($0.finishedAt ?? .distantPast, $0.number) < ($1.finishedAt ?? .distantPast, $1.number) }
  }
}
