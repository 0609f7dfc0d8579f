// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import ConcurrencySupport
import FileSystem
public import Foundation
public import NotificationAttachments
import PushMessages
public import SoundDownloads
public import SoundLibrary
import VoicePacks

/// The work of a notification service extension: it gives each notification its sound, and hands the notifications of
/// an app group over in their order, one sound after the other.
///
/// One service can work on any number of notifications at the same time. The extension processes of a group share the
/// order through the group container.
public final class NotificationService: Sendable {
  /// What a service uses.
  public struct Configuration: Sendable {
    /// The group container, in which iOS looks for sounds.
    public var container: GroupContainer
    /// The app's bundle, in which iOS looks for sounds that the container does not have; nil if it has none. Only the
    /// lengths of its sounds are read.
    public var bundle: URL?
    /// The tone that the user chose in the app.
    public var tone: any TonePreference
    /// The folder of the phrase books, such as `Templates` in the app's bundle; nil if there are none. Without the book
    /// of a language, no summary can be made in it.
    public var phraseBooks: URL?
    /// The folder of the readers of amounts, such as `Readers` in the app's bundle; nil for `Readers` beside
    /// ``phraseBooks``. A language without a reader is not spoken by the phone itself: neither its summaries nor clips
    /// joined from a voice pack.
    public var readers: URL?
    /// The folder of the voice packs, in which each pack has a folder of its own. The default is
    /// `Library/Crier/Voices` of the container.
    public var voices: URL
    /// The client for clips; nil to download nothing.
    public var downloader: SoundDownloader?
    /// The source of announcements whose pushes were lost; nil to ask nobody.
    public var missed: (any MissedAnnouncements)?
    /// The place that learns what was handed over to iOS; nil to tell nobody. It is told after the hand-over, which it
    /// does not delay.
    public var receipts: (any ReceiptSending)?
    /// The notifications that the phone adds itself; nil to add none. Announcements whose pushes were lost are then not
    /// heard, and a sound whose turn would come too late overlaps another one.
    public var notifier: (any LocalNotifying)?
    /// The client for attachments and for the pictures of payers; nil to attach nothing. A file that is not there when
    /// the notification is handed over is given up.
    public var attachments: AttachmentDownloader?
    /// The rule that says which clips of the container are removed; nil to remove none. By default, the clips that were
    /// unused for the longest time are removed beyond 300 MB: those of a copy of the library, 200 MB, and what pushes
    /// have brought.
    public var keeping: SoundKeeping? = SoundKeeping(mostBytes: 300_000_000)
    /// Runs work of the app that locks files of the container, such as the search for lost pushes. The system must not
    /// suspend the process meanwhile; when it is about to, the work's task must be cancelled. On iOS, the default is
    /// `ExpiringActivity`; elsewhere, the work just runs.
    public var uninterrupted: @Sendable (_ work: @escaping @Sendable () async -> Void) async -> Void = { await $0() }
    public var settings = NotificationOrder.Settings()
    /// The longest time in ms for which a sound is prepared before the best one so far is used.
    public var preparationLimit: Int64 = 20_000
    /// The longest time in ms, from the beginning of the work, for which a notification waits for attachments.
    public var attachmentLimit: Int64 = 3_000
    /// Only tests change them: on a busy machine, a thread may stand still for longer than on a phone.
    var blocking = BlockingLimits()
    /// Receives the errors of the work, such as for a log. They contain no amounts, names or URLs.
    public var report: @Sendable (NotificationServiceError) -> Void = { _ in }
    /// The time in ms of a clock that all processes share and that does not stop while the phone sleeps.
    public var now: @Sendable () -> Int64 = NotificationService.systemTime
    /// The time of receipts. Only tests change it.
    var date: @Sendable () -> Date = { Date() }
    /// Waits for a duration in ms.
    public var pause: @Sendable (Int64) async -> Void = { try? await Task.sleep(for: .milliseconds($0)) }

    public init(container: GroupContainer, tone: any TonePreference) {
      self.container = container
      self.tone = tone
      voices = container.directory.appending(path: "Library/Crier/Voices", directoryHint: .isDirectory)
    }
  }

  let configuration: Configuration
  let sounds: AnnouncementSounds
  let file: NotificationOrderFile
  let requests = OpenRequests()
  let lost = LostPushes()
  let receipts: HandOverReceipts
  private let isPruned = Locked(false)
  /// The name of this process in the order.
  let process = UUID().uuidString

  public init(_ configuration: Configuration) {
    self.configuration = configuration
    let library = SoundLibrary(container: configuration.container)
    sounds = AnnouncementSounds(
      library: library, tones: ToneDurations(folders: [library.soundsDirectory, configuration.bundle]),
      tone: configuration.tone,
      downloader: configuration.downloader, voices: VoicePackShelf(folders: [configuration.voices]),
      phrases: PhraseBookCache(directory: configuration.phraseBooks),
      readers: AmountReaders(directory: configuration.readers ?? Self.readers(beside: configuration.phraseBooks)),
      publications: configuration.downloader?.publications ?? Publications(),
      mayPublish: { [requests] in requests.isOpen })
    file = NotificationOrderFile(container: configuration.container.directory)
    receipts = HandOverReceipts(
      container: configuration.container, service: configuration.receipts, now: configuration.date)
  }

  private static func readers(beside phraseBooks: URL?) -> URL? {
    phraseBooks?.deletingLastPathComponent().appending(path: "Readers", directoryHint: .isDirectory)
  }

  /// Begins the work on a notification.
  ///
  /// - Parameters:
  ///   - payload: The payload of the push as JSON, the `userInfo` of the notification.
  ///   - identifier: The identifier of the notification's request. If the sound must come later, the local notification
  ///     gets it too, so that it takes the place of the silent one in Notification Center. Two notifications with one
  ///     identifier, from pushes with the same collapse id, therefore have one later sound; Crier's alerts have no collapse
  ///     id. Without an identifier, the local notification gets the announcement's id.
  ///   - handOver: Called exactly once, on any thread. If no other notification is open, this process holds no lock of
  ///     the order then.
  /// - Returns: The work, which ends early with ``NotificationWork/expire()``.
  public func receive(
    _ payload: Data, identifier: String? = nil, handOver: @escaping @Sendable (HandOver) -> Void
  ) -> NotificationWork {
    let work = NotificationWork(payload, identifier: identifier, service: self)
    work.begin(handOver: handOver)
    return work
  }

  /// Closes a request. After the last one, lost pushes have their local notifications or are given up, and no sound is
  /// being published, unless this would take too long. The call blocks the thread.
  ///
  /// - Parameter seconds: The longest time that each of the two takes.
  func endRequest(within seconds: TimeInterval) {
    requests.end {
      lost.finish(within: seconds)
      releaseLost()
    } whenClosed: {
      sounds.publications.finish(within: seconds)
    }
  }

  /// Ends the work on lost pushes, so that others need not wait for it. The call blocks the thread.
  func releaseLost() {
    let (process, now) = (process, configuration.now())
    guard let order = try? file.read(), order.entries.contains(where: { $0.isMissed && $0.process == process }) else {
      return
    }
    // If the order is busy, it counts the works as ended after a few seconds.
    let settings = configuration.settings
    try? file.update(timeout: configuration.blocking.backgroundLock) {
      $0.releaseMissed(of: process, at: now, settings)
    }
  }

  /// Removes what the rule does not keep, once in a process. An error is ignored, because the next process tries again.
  /// Only the app does so: the extension may be suspended at any time, and files are locked meanwhile. A cancelled task
  /// removes no more files, and the next call goes on.
  private func prune() async {
    guard let keeping = configuration.keeping,
      isPruned.withLock({ isPruned in
        defer { isPruned = true }
        return !isPruned
      })
    else { return }
    let needed = Set([(try? configuration.tone.tone()) ?? nil].compactMap(\.self))
    let library = sounds.library
    guard let removals = await onWaitingThread({ try? library.excess(keeping, needed: needed, tidies: true) }) else {
      return
    }
    for group in SoundKeeping.groups(of: removals) {
      guard !Task.isCancelled else { return isPruned.withLock { $0 = false } }
      await onWaitingThread { _ = try? library.remove(group) }
    }
  }

  /// Asks the service for all announcements after the last one that was heard, and adds local notifications for them.
  /// Then this method removes clips that were unused for long. Call it when the app is opened. The method returns when
  /// all of this is done.
  ///
  /// If the task is cancelled, the method ends early: announcements that have no local notification by then are asked
  /// for again later. Files of the container are locked meanwhile, so the work runs within
  /// ``Configuration/uninterrupted``.
  public func catchUp() async {
    let work = Task { await configuration.uninterrupted { [self] in await catchUpNow() } }
    await withTaskCancellationHandler {
      await work.value
    } onCancel: {
      work.cancel()
    }
  }

  private func catchUpNow() async {
    await withTaskCancellationHandler {
      await askForLost()
      await receipts.send()
      await prune()
    } onCancel: {
      // What waits for its turn would hold up the end.
      lost.finish(within: 0)
    }
  }

  private func askForLost() async {
    guard configuration.missed != nil else { return }
    requests.begin()
    var postponed: [Int64]?
    for _ in 0..<Self.mostRounds where !Task.isCancelled {
      // Without a number, nobody knows what was announced before; see ``restart(after:known:)``.
      guard let last = await readOrder()?.lastHeard, let missed = await missed(after: last, upTo: .max) else { break }
      // What began after the cancellation must not hold up the end either.
      if Task.isCancelled { await onWaitingThread { [lost] in lost.finish(within: 0) } }
      await lost.finished()
      guard missed.hasBegun else { break }
      // There may be more announcements than the system accepts local notifications. A round in which none of them was
      // heard is the last one.
      guard let order = await readOrder(), !order.postponed.isEmpty, order.postponed != postponed else { break }
      postponed = order.postponed
    }
    // Others may have found lost pushes meanwhile.
    await onWaitingThread { [self] in
      endRequest(within: 1)
    }
  }

  /// How often a search for lost pushes begins again. Each round takes as long as a notification may wait.
  private static let mostRounds = 50

  private func readOrder() async -> NotificationOrder? {
    await onWaitingThread { [file] in try? file.read() }
  }

  /// Returns the highest sequence number that was heard or passed over; nil before the first. The call blocks the
  /// thread, and needs no lock.
  ///
  /// - Throws: ``NotificationServiceError`` with `orderUnavailable`.
  public func lastSequence() throws(NotificationServiceError) -> Int64? {
    do throws(SystemError) {
      return try file.read()?.lastSequence
    } catch {
      throw NotificationServiceError(.orderUnavailable, reason: error.description)
    }
  }

  /// Continues after a sequence number that the service named when the device registered; see
  /// ``NotificationOrder/restart(after:known:)``. The call blocks the thread.
  ///
  /// - Parameters:
  ///   - sequence: The number that the service named.
  ///   - known: ``lastSequence()`` before the device was registered.
  /// - Throws: ``NotificationServiceError`` with `orderUnavailable` or `orderBusy`.
  public func restart(after sequence: Int64, known: Int64? = nil) throws(NotificationServiceError) {
    try file.update(timeout: Self.appLockTimeout) { $0.restart(after: sequence, known: known) }
    file.synchronize()
  }

  /// The longest time in seconds for which the app waits for the lock of the order.
  private static let appLockTimeout: TimeInterval = 2

  /// Begins the work on the announcements whose pushes were lost.
  ///
  /// - Returns: Whether works began, and whether the service named all announcements and all of them are known to the
  ///   order; nil if the service could not be asked.
  func missed(after sequence: Int64, upTo last: Int64) async -> (hasBegun: Bool, isComplete: Bool)? {
    guard let missed = configuration.missed, configuration.notifier != nil else { return nil }
    do {
      let (payloads, isComplete) = try await missed.announcements(after: sequence)
      let read = payloads.map { payload in
        (try? NotificationPayload(readable: payload)).flatMap { read in read.arrival.map { (read, $0) } }
      }
      // The number of such a payload is not known, so the gap cannot count as filled.
      let areReadable = !read.contains { $0 == nil }
      if !areReadable {
        configuration.report(NotificationServiceError(.payloadUnreadable, reason: "a lost push has no id and number"))
      }
      let works = zip(payloads, read).compactMap { payload, read -> NotificationWork? in
        guard let (read, arrival) = read, arrival.sequence ?? .min <= last else { return nil }
        return NotificationWork(lost: payload, read, service: self)
      }
      guard let new = try await onWaitingThread({ [self] () throws(NotificationServiceError) in try arrive(works) })
      else { return (false, false) }
      lost.begin(new)
      return (!new.isEmpty, isComplete && areReadable)
    } catch let error as NotificationServiceError {
      configuration.report(error)
      return (false, false)
    } catch {
      configuration.report(NotificationServiceError(.catchUpFailed))
      return nil
    }
  }

  /// Enters lost pushes into the order, all at once. The call blocks the thread.
  ///
  /// - Returns: The works whose announcements were not heard and do not wait yet; nil if all requests of the process are
  ///   closed.
  private func arrive(_ works: [NotificationWork]) throws(NotificationServiceError) -> [NotificationWork]? {
    let (clock, settings, process, library) = (configuration.now, configuration.settings, process, sounds.library)
    let numbers = try requests.whileOpen { () throws(NotificationServiceError) in
      try file.update { order -> [Int64?] in
        let now = clock()
        order.notice(now)
        // The pushes may have come to a process that has ended.
        _ = order.removeAbandoned(at: now, settings) { library.hasSound($0) }
        return works.map { order.arrive($0.arrival, isMissed: true, process: process, at: now, settings) }
      }
    }
    return numbers.map { numbers in
      zip(works, numbers).compactMap { work, number in
        guard let number else { return nil }
        work.enter(number)
        return work
      }
    }
  }

  /// The time in ms since the phone started, including the time in which it slept.
  public static func systemTime() -> Int64 {
    var time = timespec()
    #if os(Linux)
      let clock = CLOCK_BOOTTIME
    #else
      let clock = CLOCK_MONOTONIC
    #endif
    // Safe: the system fills in a local variable.
    _ = unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
