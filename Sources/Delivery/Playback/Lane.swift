// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import PlaybackOrder
import SoundOutputs
import Waveforms
import WeeklyTimes

/// The state of one lane while it is played. A single task runs ``run()``, and nothing else calls the actor. Each
/// message is handled completely before the next one, so no step sees a partial change.
actor Lane {
  /// A waiting announcement, or one whose summary is being made.
  struct Waiting {
    var category: PlaybackItem.Category
    var isReplay = false
    /// Whether the announcement ends without a sound if its turn comes in quiet hours.
    var endsQuietly = false
    /// Whether the announcement is the summary of quiet payments.
    var isQuietSummary = false
    /// Whether the announcement was accepted before the player began. It may have caused a crash, so each of its steps
    /// is written before the step begins.
    var isFromBefore = false
    /// Whether a crash interrupted the announcement.
    var isSuspect = false
    var sound: LaneSound?
    var isRendering = false
    /// Whether the clip was made. The sound is read from the clip shortly before the announcement's turn.
    var hasClip = false
    /// The version of the chimes with which the sound is rendered.
    var chimeVersion = 0
    var attempts = 0
    var retryAt: Int64 = .min
    /// The last failure of the rendering, with the time of the first failure in a row.
    var failure: LaneStatus.Fault?
  }

  /// The current announcement, from its turn to its end. It stays current while the device is lost and the player tries
  /// again.
  struct Current {
    enum StopReason { case skipped, interrupted, stopped }

    var item: PlaybackItem
    var sound: LaneSound
    var isReplay = false
    /// Whether the announcement ends without a sound if the device is lost and quiet hours begin.
    var endsQuietly = false
    /// The payments that the announcement summarises; empty if it is not a summary.
    var members: [Int64] = []
    /// The order's last sequence number when the announcement began. It is written to the ledger when the announcement
    /// ends.
    var lastSequence: Int64?
    var control = PlayControl()
    /// Whether the announcement is on the playback queue.
    var isSounding = false
    var retryAt: Int64 = .min
    var stopReason: StopReason?
    /// The replies to callers who asked to stop the sound and still wait.
    var replies: [Reply<Bool>] = []
  }

  /// A summary of several payments.
  struct Summary {
    var payments: [Int64]
    /// The number of the summary's own entry, once it is in the ledger.
    var number: Int64?
  }

  let name: String
  let ledger: any Ledger.Store
  let settings: Player.Settings
  let clock: any PlayerClock
  let renderer: any Rendering
  let summaryMaker: Player.SummaryMaker
  let mailbox: Mailbox<LaneMessage>
  let signals: LaneSignals
  let output: any SoundOutput
  private var seat: PlayerSeat?
  let startedAt: Date

  let queue: OperationQueue
  /// The dispatch queue that ``queue`` uses. It belongs to this lane alone, because a sound blocks its thread. It is
  /// stored here, because an operation queue does not retain it.
  private let thread: DispatchQueue

  var order: PlaybackOrder
  var waiting: [Int64: Waiting] = [:]
  /// The numbers of waiting announcements that have a sound. They are few, however many announcements wait.
  var ready: Set<Int64> = []
  var renders: [Int64: Task<Void, Never>] = [:]
  /// The announcements that are played later, one at a time and alone. Their moments are times of the player's clock,
  /// in ms.
  var setAside = SetAsideWork<SetAside, Int64>()
  /// The latest announcement that was set aside and waits again.
  var alone: Int64?
  var current: Current?
  var summary: Summary?
  /// Whether payments are announced individually until the player ends, because a crash interrupted a summary.
  var mayNotSummarise = false
  /// The volume that a person set.
  var volumeChoice: VolumeChoice
  /// The last result of the volume rules, with the time until which it holds.
  var volumeRule: VolumeRules.Setting?
  /// The last result of the quiet hours, with the time until which it holds.
  var quietSpan: WeeklyTimes.Span?
  /// Whether there may be quiet payments that no summary has named yet.
  var mayHaveQuietPayments = true
  var quietSummaryRetryAt: Int64 = .min
  /// The pause that somebody ordered. While it is set, the order is paused.
  var pausing: Ledger.Pause?
  /// The moment at which the pause ends by itself.
  var resumesAt: Int64?
  /// Whether the ledger has the latest pause or resumption.
  var isPauseKept = true
  var chimes: Chimes
  /// The number of changes of the chimes. A sound with an earlier chime is rendered again.
  var chimeVersion = 0
  /// The number of the last ledger entry that was read.
  var lastSeen: Int64 = 0
  var lastPlayed: Int64?
  /// The end of the last sound, with the length of the silence in its tail.
  var lastEnd: (at: Int64, quiet: Int64)?
  var isOutputInUse = false
  /// The loss of the device. It begins with a sound or a probe that fails, and ends when the device works again.
  var deviceLoss: LaneStatus.Fault?
  var isDeviceLost: Bool { deviceLoss != nil }
  var isProbing = false
  var nextProbe: Int64 = .min
  var devicePause: Int64 = 0
  /// The ledger's current errors.
  var ledgerFailures: [LedgerUse: LaneStatus.Fault] = [:]
  /// The reply to the caller whose change is being written.
  var asking: Reply<Bool>?
  var isStopping = false
  private var cancelledAtEnd: [Int64] = []
  /// The number of the last command that was sent before this player began.
  var lastOldCommand: Int64 = 0
  /// The messages received but not handled yet, while the ledger cannot be written.
  private var held: [LaneMessage] = []
  private var nextPoll: Int64 = .min
  private var wakeTime: Int64?

  init(
    name: String, ledger: any Ledger.Store, seat: PlayerSeat, output: any SoundOutput, renderer: any Rendering,
    settings: Player.Settings, clock: any PlayerClock, summary: @escaping Player.SummaryMaker,
    mailbox: Mailbox<LaneMessage>,
    signals: LaneSignals
  ) {
    self.name = name
    self.ledger = ledger
    self.seat = seat
    self.output = output
    self.renderer = renderer
    self.settings = settings
    self.clock = clock
    summaryMaker = summary
    chimes = settings.chimes
    self.mailbox = mailbox
    self.signals = signals
    startedAt = clock.date()
    order = PlaybackOrder(settings: settings.order)
    volumeChoice = settings.volumeChoice
    thread = DispatchQueue(label: "crier.lane.\(name)", qos: .userInitiated)
    queue = OperationQueue()
    queue.name = "crier.lane.\(name)"
    queue.underlyingQueue = thread
    queue.maxConcurrentOperationCount = 1
  }

  /// Opens the output on the playback thread.
  ///
  /// - Throws: `OutputError`.
  func openOutput(rate: Int) async throws {
    let result: Result<Void, OutputError> = await waitForAnswer { answer in
      queue.addOperation { [output] in
        answer.give(Result { () throws(OutputError) in try output.open(rate: rate) })
      }
    }
    try result.get()
    isOutputInUse = true
    // The lane is idle from now on, and the first sound needs no gap.
    lastEnd = (clock.now() - settings.gap, 0)
  }

  // MARK: The task

  func run() async {
    while true {
      held += mailbox.take()
      while !held.isEmpty { await handle(held.removeFirst()) }
      if isStopping, current == nil { break }
      await step()
      if held.isEmpty { await rest(until: wakeTime) }
    }
    await close()
  }

  private func handle(_ message: LaneMessage) async {
    if case .status = message, signals.takeArrivals() { await lookForArrivals() }
    switch message {
    case .pause(let name, let account, let reply):
      pause(by: name, account: account)
      await keepPause()
      reply(())
    case .resume(let reply):
      resume()
      await keepPause()
      reply(())
    case .volume(let percent, let reply):
      choose(volume: percent)
      reply(())
    case .chimes(let chimes, let reply):
      setChimes(chimes)
      reply(())
    case .status(let reply): reply(status)
    case .skip(let reply): await skip(reply)
    case .cancel(let number, let reply): await cancel(number, reply)
    case .restore(let number, let reply): reply.give(await restore(number))
    case .replay(let number, let requester, let reply): reply.give(await replay(number, for: requester))
    case .rendered(let number, let outcome): await rendered(number, outcome)
    case .ended(let ending): await ended(ending)
    case .probed(let result): await probed(result)
    case .summaryMade(let announcement): await made(announcement)
    case .stop(let finishing, let numbers):
      isStopping = true
      cancelledAtEnd += numbers
      await silence(finishing: finishing && !numbers.contains(current?.item.number ?? 0))
    }
    report()
  }

  /// Handles messages that do not need the ledger, and refuses commands that need it. The player keeps its own messages
  /// until the ledger can be written again.
  private func handleMessages(while fault: LedgerError) async {
    let messages = held + mailbox.take()
    held = []
    for message in messages {
      switch message {
      // The pause is stored when the ledger can be written again.
      case .pause(let name, let account, let reply):
        pause(by: name, account: account)
        reply(())
      case .resume(let reply):
        resume()
        reply(())
      case .volume, .chimes: await handle(message)
      case .status(let reply): reply(status)
      case .skip, .cancel, .restore, .replay: message.refuse(fault)
      case .rendered, .ended, .probed, .summaryMade, .stop: held.append(message)
      }
    }
  }

  /// Does everything that is due now, and determines when to continue.
  private func step() async {
    wakeTime = nil
    if signals.takeArrivals() { await lookForArrivals() }
    await poll()
    guard !isStopping, !signals.isStopAsked else { return }
    let now = clock.now()
    for item in order.removeExpired(at: now) {
      drop(item.number)
      await commit(item.number, .expired)
    }
    takeBackSetAside(at: now)
    await summariseQuietPayments(at: now)
    await resumeIfDue(at: now)
    renderAhead(at: now)
    await decide(at: now)
    probe(at: now)
    releaseWhenIdle(at: now)
  }

  /// Waits for a message or until the given moment; nil means without a time limit.
  private func rest(until moment: Int64?) async {
    let timer = moment.map { moment in
      Task { [clock, mailbox] in
        await clock.sleep(until: moment)
        if !Task.isCancelled { mailbox.nudge() }
      }
    }
    await mailbox.arrival()
    timer?.cancel()
  }

  func wake(at moment: Int64) { wakeTime = min(wakeTime ?? moment, moment) }

  /// Exchanges data with other processes: reads their commands and announcements, and reports this player's progress.
  private func poll() async {
    let now = clock.now()
    if now >= nextPoll {
      nextPoll = now + max(1, settings.pollInterval)
      await takeCommands()
      await keepPause()
      await lookForArrivals()
      await noteDevice()
      report()
      signals.happened()
    }
    wake(at: nextPoll)
  }

  private func close() async {
    for task in renders.values { task.cancel() }
    for task in renders.values { await task.value }
    // Both are written concurrently, so that the player waits for the disk only once.
    await withTaskGroup(of: Void.self) { group in
      for number in cancelledAtEnd { group.addTask { [ledger] in _ = try? await ledger.set(number, .cancelled) } }
    }
    for message in held + mailbox.close() { message.refuse(PlayerError(.notRunning, lane: name)) }
    await withCheckedContinuation { continuation in
      let output = output
      queue.addOperation {
        output.release()
        continuation.resume()
      }
    }
    report()
    await seat?.giveBack()
    seat = nil
    signals.end()
  }

  // MARK: The ledger

  /// Writes a change of state, with as many retries as necessary. Nothing else may happen before the change is written.
  ///
  /// - Returns: False if another process has ended the announcement, or if the player is stopping and the ledger fails.
  @discardableResult
  func commit(_ number: Int64, _ state: Ledger.State, _ change: Ledger.Change = Ledger.Change()) async -> Bool {
    await writing { () async throws(LedgerError) in
      do throws(LedgerError) {
        try await ledger.set(number, state, change)
      } catch  where error.code == .illegalTransition || error.code == .notFound {
        // Another process ended the announcement, and its result stands.
      }
    }
  }

  /// Writes an event, with as many retries as necessary.
  func record(_ kind: Ledger.Event.Kind, _ number: Int64?, _ detail: [String: String], passing: Int64? = nil) async {
    _ = await writing { () async throws(LedgerError) in
      try await ledger.record(kind, lane: name, number: number, detail: detail, passing: passing)
    }
  }

  private func writing(_ write: () async throws(LedgerError) -> Void) async -> Bool {
    var pause = settings.devicePauses.lowerBound
    while true {
      do throws(LedgerError) {
        try await write()
        noteLedger(nil, while: .writing)
        signals.happened()
        return true
      } catch {
        noteLedger(error.code.rawValue, while: .writing)
        refuseWaiting(error)
        // Another machine has the lane now, so nothing more may begin here.
        if error.code == .leaseLost { isStopping = true }
        guard ![.invalidValue, .leaseLost].contains(error.code), !signals.isStopAsked else { return false }
        await wait(until: clock.now() + pause, while: error)
        guard !signals.isStopAsked else { return false }
        pause = min(pause * 2, settings.devicePauses.upperBound)
      }
    }
  }

  /// Waits a moment within a step, because the ledger cannot be written.
  func waitForLedger(after fault: LedgerError) async {
    noteLedger(fault.code.rawValue, while: .writing)
    await wait(until: clock.now() + settings.devicePauses.upperBound, while: fault)
  }

  /// Replies to waiting callers that their change cannot be written. The player keeps trying to make the change, but
  /// the callers should not wait until the disk has space again.
  private func refuseWaiting(_ error: LedgerError) {
    asking?.fail(error)
    asking = nil
    for reply in current?.replies ?? [] { reply.fail(error) }
    current?.replies = []
  }

  /// Waits within a step while the ledger cannot be written.
  private func wait(until moment: Int64, while fault: LedgerError) async {
    while clock.now() < moment, !signals.isStopAsked {
      // Messages that arrived together with the one whose change cannot be written are already in ``held``.
      await handleMessages(while: fault)
      report()
      await rest(until: moment)
    }
  }

  // MARK: Status and events

  var status: LaneStatus {
    let next = order.upcoming(20, at: clock.now()).compactMap { item in
      waiting[item.number].map { one in
        LaneStatus.Waiting(
          number: item.number, category: one.category,
          state: one.hasClip || one.sound != nil ? .waiting : one.isRendering ? .rendering : .accepted,
          failure: one.failure?.code, isReplay: one.isReplay)
      }
    }
    let playing = current.map { current in
      LaneStatus.Playing(
        number: current.item.number, category: current.item.category,
        positionMilliseconds: current.control.position, lengthMilliseconds: current.sound.length,
        isHeard: current.isSounding, standsFor: current.members, isReplay: current.isReplay)
    }
    let volume = volume
    return LaneStatus(
      lane: name, pause: pausing, volume: volume.percent, isVolumeByTime: volume.isByTime,
      deviceLoss: deviceLoss, playing: playing, waitingCount: order.waitingCount + setAside.count,
      setAsideCount: setAside.count, next: next, blockage: blockage, quietUntil: quietUntil)
  }

  /// Reports the player's progress. If that fails, the next report follows soon.
  func report() {
    var report = PlayerReport(startedAt: startedAt, reportedAt: clock.date())
    report.isPaused = order.isPaused
    report.volume = volume.percent
    report.isDeviceLost = isDeviceLost
    (report.deviceLostSince, report.deviceCode) = (deviceLoss?.since, deviceLoss?.code)
    let blockage = blockage
    (report.blockedSince, report.blockedCode) = (blockage?.since, blockage?.code)
    if let current {
      report.number = current.item.number
      report.positionMilliseconds = current.control.position
      report.lengthMilliseconds = current.sound.length
    }
    try? seat?.report(report)
  }
}
