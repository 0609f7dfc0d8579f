// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import NotificationAttachments
import PushMessages
import SoundDownloads

/// The preparation of one notification's sound and attachments, while the notification waits for its turn.
final class SoundPreparation: Sendable {
  /// The parts of the payload that were read; nil if it is not a JSON object.
  private let read: NotificationPayload?
  private let service: NotificationService
  private let progress: Locked<Progress>

  private struct Progress {
    /// The time in ms at which the work on the notification began.
    var beganAt: Int64
    var search: SoundSearch
    /// Whether the work on attachments has ended, or there is none.
    var isAttached: Bool
    var attachment: DownloadedAttachment?
    /// The file with the picture of the payer; nil if there is none yet.
    var picture: URL?
    /// Whether the attachment was handed over. iOS then moves its file.
    var isAttachmentGiven = false
    var tasks: [Task<Void, Never>] = []
  }

  init(_ read: NotificationPayload?, service: NotificationService) {
    self.read = read
    self.service = service
    let content = read?.content
    let isSpoken = content?.clip != nil || content?.spoken != nil
    progress = Locked(
      Progress(
        beganAt: service.configuration.now(),
        search: SoundSearch(
          hasClip: content?.clip != nil, hasTokens: content?.spoken != nil, hasKind: content?.kind != nil,
          hasSoundURL: read?.soundURL != nil && !isSpoken),
        isAttached: service.configuration.attachments == nil || !(read?.hasFiles ?? false)))
  }

  /// Removes the downloaded files that were not handed over. The picture of the payer is always removed, because it is
  /// read during the hand-over, and iOS does not need its file.
  deinit {
    let (attachment, picture) = progress.withLock { ($0.isAttachmentGiven ? nil : $0.attachment?.file, $0.picture) }
    for file in [attachment, picture].compactMap(\.self) { try? FileManager.default.removeItem(at: file) }
  }

  func begin() {
    let search = Task { await self.search() }
    var tasks = [search]
    if let client = service.configuration.attachments, let read, read.hasFiles {
      tasks.append(Task { await self.attach(read, client) })
    }
    let (all, now) = (tasks, service.configuration.now())
    progress.withLock { progress in
      progress.tasks = all
      progress.beganAt = now
    }
  }

  /// The time in ms at which the work on the notification began.
  var beganAt: Int64 { progress.withLock { $0.beganAt } }

  /// Cancels the work that has not ended: the search for a sound, and the downloads of attachments.
  func end() {
    for task in progress.withLock({ $0.tasks }) { task.cancel() }
  }

  /// Whether the notification can be handed over. For this, the best sound must be known and the attachments must have
  /// arrived, or the time for them must be over.
  func isReady(at now: Int64) -> Bool { look(at: now).isReady }

  /// Returns the best sound so far, and whether the notification can be handed over with it.
  ///
  /// Both are read together. If they were read one after the other, the search could end in between, and the
  /// notification would be handed over with a worse sound than the search found.
  func look(at now: Int64) -> (best: PreparedSound?, isReady: Bool) {
    let configuration = service.configuration
    return progress.withLock { progress in
      let isFound = progress.search.next == nil || now >= progress.beganAt.plus(configuration.preparationLimit)
      let isReady = isFound && (progress.isAttached || now >= progress.beganAt.plus(configuration.attachmentLimit))
      return (progress.search.best, isReady)
    }
  }

  /// Whether the attachment and the picture of the payer have arrived.
  var files: (hasAttachment: Bool, hasPicture: Bool) {
    progress.withLock { ($0.attachment != nil, $0.picture != nil) }
  }

  /// Whether the push has an announcement. If it has one, only a sound with the announcement is complete.
  var shouldBeExact: Bool { read?.content?.clip != nil || read?.content?.spoken != nil }

  /// Whether the push asks for no sound and has no announcement that can be read.
  var isSilent: Bool {
    guard let read else { return false }
    return read.content == nil && read.sound == nil
  }

  /// The best sound so far; nil before the first sound is found.
  var best: PreparedSound? { progress.withLock { $0.search.best } }

  /// The sound to use if the search has found none in time.
  var fallback: PreparedSound { service.sounds.tone(payload: read?.sound) }

  /// Returns the changes to hand over together with a sound. A summary stands for several payments, so it has no
  /// attachment and no sender.
  func handOver(_ sound: HandOver.Sound, summary: HandOver.Summary?) -> HandOver {
    var handOver = HandOver(sound: sound, summary: summary)
    handOver.criticalVolume = read?.criticalVolume
    guard summary == nil else { return handOver }
    let (attachment, picture) = progress.withLock { progress in
      progress.isAttachmentGiven = progress.attachment != nil
      return (progress.attachment, progress.picture)
    }
    handOver.attachments = [attachment].compactMap(\.self)
    if let payer = read?.content?.payer { handOver.sender = HandOver.Sender(name: payer.name, picture: picture) }
    return handOver
  }

  // MARK: Attachments

  private func attach(_ read: NotificationPayload, _ client: AttachmentDownloader) async {
    async let picture: Void = attachPicture(read.content?.payer?.avatarURL, client)
    if let request = read.attachment, let file = await file(request, client, .attachment) {
      progress.withLock { $0.attachment = file }
    }
    await picture
    progress.withLock { $0.isAttached = true }
  }

  private func attachPicture(_ url: URL?, _ client: AttachmentDownloader) async {
    guard let url, let picture = await file(AttachmentRequest(url: url), client, .portrait) else { return }
    progress.withLock { $0.picture = picture.file }
  }

  private func file(
    _ request: AttachmentRequest, _ client: AttachmentDownloader, _ limits: AttachmentLimits
  ) async -> DownloadedAttachment? {
    do throws(DownloadError) {
      return try await client.download(request, limits: limits)
    } catch {
      if error.code != .cancelled {
        service.configuration.report(NotificationServiceError(.attachmentFailed, reason: error.description))
      }
      return nil
    }
  }

  // MARK: The search

  private func search() async {
    while let step = progress.withLock({ $0.search.next }), !Task.isCancelled {
      let sound: PreparedSound?
      do throws(NotificationServiceError) {
        sound = try await find(step)
      } catch {
        sound = nil
        // After the hand-over, the search is cancelled, and its error is not reported.
        if !Task.isCancelled { service.configuration.report(error) }
      }
      progress.withLock { $0.search.end(step, with: sound) }
    }
  }

  private func find(_ step: SoundSearch.Step) async throws(NotificationServiceError) -> PreparedSound? {
    let sounds = service.sounds
    guard let content = read?.content else {
      switch step {
      case .soundURL: return try await soundFromElsewhere()
      default: return await onWaitingThread { sounds.own(self.read?.sound) ?? sounds.tone(payload: self.read?.sound) }
      }
    }
    switch step {
    case .tone: return await onWaitingThread { sounds.tone(payload: self.read?.sound) }
    case .fixedPhrase: return await onWaitingThread { sounds.fixedPhrase(content) }
    case .stored:
      guard let clip = content.clip else { return nil }
      return await sounds.memory.hold(clip.bytes) { await onWaitingThread { sounds.stored(clip) } } ?? nil
    case .stitched:
      return try await onWaitingThread { () throws(NotificationServiceError) in try sounds.stitched(content) }
    case .downloaded:
      guard let clip = content.clip else { return nil }
      guard clip.bytes <= AnnouncementSounds.mostClipBytes else {
        throw NotificationServiceError(.downloadFailed, reason: "the clip is larger than 6 MiB")
      }
      return try await download(clip)
    case .soundURL: return try await soundFromElsewhere()
    }
  }

  /// Downloads a clip, and repeats a failed attempt as long as another attempt may succeed and there is time.
  private func download(_ clip: PushedClip) async throws(NotificationServiceError) -> PreparedSound? {
    let configuration = service.configuration
    var pause: Int64 = 250
    while true {
      do throws(DownloadError) {
        let sounds = service.sounds
        // Twice the size is reserved, because the bytes are copied if more of them arrive than the server has declared.
        return try await sounds.memory.hold(2 * clip.bytes) { () async throws(DownloadError) in
          try await sounds.downloaded(clip)
        } ?? nil
      } catch {
        let next = configuration.now().plus(pause)
        guard error.code.mayPass, next < beganAt.plus(configuration.preparationLimit), !Task.isCancelled else {
          throw NotificationServiceError(.downloadFailed, reason: error.description)
        }
        await configuration.pause(pause)
        pause = min(pause * 2, 2_000)
      }
    }
  }

  private func soundFromElsewhere() async throws(NotificationServiceError) -> PreparedSound? {
    guard let url = read?.soundURL else { return nil }
    let sounds = service.sounds
    let original = try await sounds.memory.hold(AnnouncementSounds.mostBytesFromElsewhere) {
      () async throws(NotificationServiceError) in
      try await sounds.downloadedOriginal(url)
    }
    guard let original else { return nil }
    return try await sounds.memory.hold(2 * AnnouncementSounds.mostBytesFromElsewhere) {
      () async throws(NotificationServiceError) in
      try await sounds.leveled(original)
    }
  }
}

extension DownloadError.Code {
  /// Whether another attempt may succeed a moment later.
  fileprivate var mayPass: Bool {
    switch self {
    case .hostNotFound, .cannotConnect, .connectionLost, .truncated, .tookTooLong, .serverBusy, .serverFailed,
      .wrongRange:
      true
    default: false
    }
  }
}
