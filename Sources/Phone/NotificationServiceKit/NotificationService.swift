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
  /// The settings of a service and the objects that it uses.
  public struct Configuration: Sendable {
    /// The group container, in which iOS looks for sounds.
    public var container: GroupContainer
    /// The app's bundle, in which iOS looks for sounds that the container does not have; nil if there is none. Only the
    /// lengths of its sounds are read.
    public var bundle: URL?
    /// The tone that the user chose in the app.
    public var tone: any TonePreference
    /// The folder of the phrase books, such as `Templates` in the app's bundle; nil if there are none. Without a phrase
    /// book for a language, no summary can be made in that language.
    public var phraseBooks: URL?
    /// The folder of the readers of amounts, such as `Readers` in the app's bundle; nil for `Readers` beside
    /// ``phraseBooks``. Without a reader for a language, the phone itself says nothing in that language: it makes no
    /// summaries and joins no clips from a voice pack.
    public var readers: URL?
    /// The folder of the voice packs, in which each pack has a folder of its own. The default is
    /// `Library/Crier/Voices` of the container.
    public var voices: URL
    /// The client for clips; nil to download nothing.
    public var downloader: SoundDownloader?
    /// The source of announcements whose pushes were lost; nil if the phone asks no service for them.
    public var missed: (any MissedAnnouncements)?
    /// The service that receives a receipt for each hand-over to iOS; nil to send none. Receipts are sent after the
    /// hand-over, so they do not delay it.
    public var receipts: (any ReceiptSending)?
    /// Adds the notifications that the phone makes itself; nil to add none. Without a notifier, announcements whose
    /// pushes were lost are not heard, and a sound whose turn would come too late overlaps another sound.
    public var notifier: (any LocalNotifying)?
    /// The client for attachments and for the pictures of payers; nil to attach nothing. A file that has not arrived
    /// when the notification is handed over is left out.
    public var attachments: AttachmentDownloader?
    /// The rule that decides which clips are removed from the container; nil to remove none. By default, if the clips
    /// take more than 300 MB, those that were unused for the longest time are removed. The copy of the library may take
    /// 200 MB of this; the rest is for the clips of pushes.
    public var keeping: SoundKeeping? = SoundKeeping(mostBytes: 300_000_000)
    /// Runs work of the app that locks files of the container, such as the search for lost pushes. The system must not
    /// suspend the process during this work. When the system is about to do so, the function must cancel the work's
    /// task. On iOS, the default is `ExpiringActivity`. On other systems, the work simply runs.
    public var uninterrupted: @Sendable (_ work: @escaping @Sendable () async -> Void) async -> Void = { await $0() }
    public var settings = NotificationOrder.Settings()
    /// The longest time in ms for which a sound is prepared. Afterwards, the best sound so far is used.
    public var preparationLimit: Int64 = 20_000
    /// The longest time in ms for which a notification waits for attachments. It is counted from the beginning of the
    /// work on the notification.
    public var attachmentLimit: Int64 = 3_000
    /// The limits of blocking calls. Only tests change them, because a thread may pause for longer on a busy machine
    /// than on a phone.
    var blocking = BlockingLimits()
    /// Receives the errors of the work, for example to log them. These errors contain no amounts, names or URLs.
    public var report: @Sendable (NotificationServiceError) -> Void = { _ in }
    /// The time in ms of a clock that all processes share and that does not stop while the phone sleeps.
    public var now: @Sendable () -> Int64 = NotificationService.systemTime
    /// The time in receipts. Only tests change it.
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
  ///     gets the same identifier, so that it replaces the silent notification in Notification Center. Two pushes with
  ///     the same collapse id have the same identifier, so only one of them has a later sound; Crier's alerts have no
  ///     collapse id. Without an identifier, the local notification gets the announcement's id.
  ///   - handOver: Called exactly once, on any thread. If no other notification of the process is open at that time,
  ///     the process does not hold the lock of the order.
  /// - Returns: The work, which ends early with ``NotificationWork/expire()``.
  public func receive(
    _ payload: Data, identifier: String? = nil, handOver: @escaping @Sendable (HandOver) -> Void
  ) -> NotificationWork {
    let work = NotificationWork(payload, identifier: identifier, service: self)
    work.begin(handOver: handOver)
    return work
  }

  /// Closes a request. If it is the last one, this method first gives lost pushes their local notifications, or gives
  /// them up. It then waits until no sound is being published. The call blocks the thread.
  ///
  /// - Parameter seconds: The longest time in seconds for each of these two steps.
  func endRequest(within seconds: TimeInterval) {
    requests.end {
      lost.finish(within: seconds)
      releaseLost()
    } whenClosed: {
      sounds.publications.finish(within: seconds)
    }
  }

  /// Ends the work on lost pushes, so that other processes need not wait for them. The call blocks the thread.
  func releaseLost() {
    let (process, now) = (process, configuration.now())
    guard let order = try? file.read(), order.entries.contains(where: { $0.isMissed && $0.process == process }) else {
      return
    }
    // If the order is busy, these entries count as abandoned after a few seconds, so the error can be ignored.
    let settings = configuration.settings
    try? file.update(timeout: configuration.blocking.backgroundLock) {
      $0.releaseMissed(of: process, at: now, settings)
    }
  }

  /// Removes the clips that the rule does not keep, once in a process. An error is ignored, because the next process
  /// tries again. Only the app calls this method: it locks files, and the extension may be suspended at any time. If
  /// the task is cancelled, no more files are removed, and the next call continues.
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
  /// Then this method removes clips that were unused for a long time. Call it when the app is opened. The method
  /// returns when all of this is done.
  ///
  /// If the task is cancelled, the method ends early. Announcements that have no local notification by then are asked
  /// for again later. The method locks files of the container, so it runs within ``Configuration/uninterrupted``.
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
      // Announcements that wait for their turn would delay the end.
      lost.finish(within: 0)
    }
  }

  private func askForLost() async {
    guard configuration.missed != nil else { return }
    requests.begin()
    var postponed: [Int64]?
    for _ in 0..<Self.mostRounds where !Task.isCancelled {
      // Without a sequence number, it is not known which announcements came before; see ``restart(after:known:)``.
      guard let last = await readOrder()?.lastHeard, let missed = await missed(after: last, upTo: .max) else { break }
      // Work that began after the cancellation must not delay the end either.
      if Task.isCancelled { await onWaitingThread { [lost] in lost.finish(within: 0) } }
      await lost.finished()
      guard missed.hasBegun else { break }
      // The system may accept fewer local notifications than there are announcements. The loop ends after a round in
      // which none of them was heard.
      guard let order = await readOrder(), !order.postponed.isEmpty, order.postponed != postponed else { break }
      postponed = order.postponed
    }
    // Other work of this process may have found lost pushes in the meantime.
    await onWaitingThread { [self] in
      endRequest(within: 1)
    }
  }

  /// The maximum number of rounds in a search for lost pushes. Each round takes as long as a notification may wait.
  private static let mostRounds = 50

  private func readOrder() async -> NotificationOrder? {
    await onWaitingThread { [file] in try? file.read() }
  }

  /// Returns the highest sequence number that was heard or skipped; nil before the first. The call blocks the thread,
  /// but needs no lock.
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
  ///   - known: The value of ``lastSequence()`` before the device was registered.
  /// - Throws: ``NotificationServiceError`` with `orderUnavailable` or `orderBusy`.
  public func restart(after sequence: Int64, known: Int64? = nil) throws(NotificationServiceError) {
    try file.update(timeout: Self.appLockTimeout) { $0.restart(after: sequence, known: known) }
    file.synchronize()
  }

  /// The longest time in seconds for which the app waits for the lock of the order.
  private static let appLockTimeout: TimeInterval = 2

  /// Asks the service for lost pushes and begins the work on them.
  ///
  /// - Returns: Whether work on at least one push began; and whether the service named all announcements and the order
  ///   knows all of them. Nil if the service could not be asked.
  func missed(after sequence: Int64, upTo last: Int64) async -> (hasBegun: Bool, isComplete: Bool)? {
    guard let missed = configuration.missed, configuration.notifier != nil else { return nil }
    do {
      let (payloads, isComplete) = try await missed.announcements(after: sequence)
      let read = payloads.map { payload in
        (try? NotificationPayload(readable: payload)).flatMap { read in read.arrival.map { (read, $0) } }
      }
      // The sequence number of an unreadable payload is not known, so the gap cannot count as filled.
      let areReadable = !read.contains { $0 == nil }
      if !areReadable {
        configuration.report(
          NotificationServiceError(.payloadUnreadable, reason: "a lost push has neither an id nor a number"))
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

  /// Adds lost pushes to the order, all in one change. The call blocks the thread.
  ///
  /// - Returns: The pushes whose announcements were not heard and do not wait yet; nil if all requests of the process
  ///   are closed.
  private func arrive(_ works: [NotificationWork]) throws(NotificationServiceError) -> [NotificationWork]? {
    let (clock, settings, process, library) = (configuration.now, configuration.settings, process, sounds.library)
    let numbers = try requests.whileOpen { () throws(NotificationServiceError) in
      try file.update { order -> [Int64?] in
        let now = clock()
        order.notice(now)
        // The process that received one of these pushes may have ended.
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
    // Safe: the call writes only to a local variable.
    _ = unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
