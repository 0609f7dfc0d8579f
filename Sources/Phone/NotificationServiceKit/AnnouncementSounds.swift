// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import ConcurrencySupport
import FileSystem
import Foundation
import PushMessages
import SoundDownloads
import SoundHeaders
import SoundLibrary
import SpeakingPlans
import VoicePacks
import Waveforms

/// Finds and makes the sounds of announcements in a group container. Its methods block the thread, except those that
/// download.
struct AnnouncementSounds: Sendable {
  /// The silence in ms at the start and at the end of a stitched clip. The clips of the service have the same silence.
  static let edgeMilliseconds = 30
  /// The limit in ms of a sound's length: iOS plays its default sound instead of a sound of 30 s or more.
  static let limitMilliseconds: Int64 = 30_000
  /// The maximum size in bytes of a clip of the service. Downloads have the same limit.
  static let mostClipBytes = 6 << 20
  /// The maximum size in bytes of a sound from elsewhere: 30 s of 16-bit samples at 48,000 Hz, and 64 KB for other
  /// chunks.
  static let mostBytesFromElsewhere = 2_944_000

  let library: SoundLibrary
  let tones: ToneDurations
  let tone: any TonePreference
  let downloader: SoundDownloader?
  let voices: VoicePackShelf
  let phrases: PhraseBookCache
  let readers: AmountReaders
  let memory = SoundMemory()
  /// The sounds that this process is publishing: downloads and joined clips.
  let publications: Publications
  /// Whether a finished sound may still be published. After the last hand-over, it may not.
  let mayPublish: @Sendable () -> Bool
  /// Locked while a clip is joined, so that only one clip at a time is joined.
  private let stitching = Locked(())

  // MARK: Sounds on the phone

  /// Returns the chosen tone, the sound that the push names, or the default sound. If iOS cannot play a sound of that
  /// name from the group container or the bundle, this method returns `default.wav` from there instead, because iOS
  /// does not look for that file itself. The app's own container is not searched, because an extension cannot see it.
  func tone(payload: String?) -> PreparedSound {
    let preference = tone
    let chosen = Self.choice(library.tone(chosenIn: preference), payload: payload)
    if let duration = tones.duration(of: chosen) {
      return PreparedSound(name: chosen, quality: .tone, duration: duration)
    }
    if let duration = tones.duration(of: SoundLookup.fallbackName) {
      return PreparedSound(name: SoundLookup.fallbackName, quality: .tone, duration: duration)
    }
    return PreparedSound(name: chosen, quality: .tone, duration: PreparedSound.assumedDuration)
  }

  /// Returns the clip that a push names as its sound, if the group container has the clip; nil for any other sound.
  /// This method is for pushes whose announcement cannot be read. Without the extension, iOS would play the same clip.
  func own(_ payload: String?) -> PreparedSound? {
    guard let payload, SoundLibrary.isRenderedClip(payload), let duration = duration(of: payload) else { return nil }
    return PreparedSound(name: payload, quality: .tone, duration: duration)
  }

  /// Returns the name of the sound that is heard while the phone does not have the announcement's clip: the chosen
  /// tone, or else the sound that the push names, or else the default sound. The name of the clip itself does not count
  /// as a sound that the push names.
  private static func choice(_ tone: SoundChoice.Tone, payload: String?) -> String {
    let isClip = payload.map(SoundLibrary.isRenderedClip) ?? false
    return SoundChoice(announcement: nil, tone: tone, payload: isClip ? nil : payload).name
  }

  /// Returns the clip that says what happened without the amount, such as `received.zh-CN.wav`, if the group container
  /// has one.
  func fixedPhrase(_ content: AlertMessage.Content) -> PreparedSound? {
    guard let kind = content.kind else { return nil }
    let name = "\(kind).\(content.locale).wav"
    return duration(of: name).map { PreparedSound(name: name, quality: .fixedPhrase, duration: $0) }
  }

  /// Returns the clip of the service, if the group container has it; nil if it is missing or incomplete.
  func stored(_ clip: PushedClip) -> PreparedSound? {
    guard clip.bytes <= Self.mostClipBytes,
      let bytes = try? library.contents(of: clip.name, isUse: true, atMost: clip.bytes),
      ExpectedSound(clip).matches(bytes)
    else { return nil }
    return PreparedSound(name: clip.name, quality: .announcement, duration: clip.duration)
  }

  /// Returns the duration in ms of a WAV file in the group container; nil if the container has no such file that iOS
  /// plays. This method reads only the header.
  func duration(of name: String) -> Int64? {
    guard let file = try? library.url(for: name), let header = SoundHeader(ofFileAt: file), header.container == .wav,
      header.faults.isEmpty, let frames = header.frames, let rate = header.sampleRate
    else { return nil }
    let duration = Self.duration(frames: frames, sampleRate: rate)
    return (1..<Self.limitMilliseconds).contains(duration) ? duration : nil
  }

  private static func duration(frames: Int, sampleRate: Int) -> Int64 {
    sampleRate > 0 ? Int64((frames * 1000 + sampleRate - 1) / sampleRate) : 0
  }

  // MARK: Stitched clips

  /// Returns a clip that the phone joins from a voice pack.
  ///
  /// - Throws: ``NotificationServiceError``, also if the words do not mean the amount.
  func stitched(_ content: AlertMessage.Content) throws(NotificationServiceError) -> PreparedSound {
    guard let spoken = content.spoken else { throw NotificationServiceError(.wordsUnavailable) }
    let pack = try pack(spoken.pack)
    guard pack.manifest.locale.lowercased() == content.locale.lowercased() else {
      throw NotificationServiceError(.wordsUnavailable, reason: "the pack has another language")
    }
    let pauses = phrases.writer(for: content.locale)?.book.pauses ?? .usual
    guard let plan = SpeakingPlan(spoken.tokens, recordedBy: pack, pauses: pauses) else {
      throw NotificationServiceError(.wordsUnavailable, reason: "the pack lacks words")
    }
    if let amount = content.amount {
      guard let money = Money(amount) else { throw NotificationServiceError(.amountMismatch) }
      do throws(ReadbackMismatch) {
        try plan.readBack(money, content.locale, by: readers)
      } catch {
        throw NotificationServiceError(.amountMismatch)
      }
    } else if !plan.amountText.isEmpty {
      throw NotificationServiceError(.amountMismatch, reason: "the payment has no amount, but the words have one")
    }
    return try publish(plan)
  }

  /// Returns a clip that says the number and the sums of payments, and the texts for the banner.
  ///
  /// - Throws: ``NotificationServiceError``.
  func summary(
    of payments: [NotificationOrder.Entry], preferring packID: String?
  ) throws(NotificationServiceError) -> (sound: PreparedSound, banner: Banner?) {
    let amounts = payments.compactMap { entry -> Payment? in
      guard let amount = entry.amount, let money = Money(amount) else { return nil }
      return Payment(amount: money, locale: entry.locale)
    }
    guard amounts.count == payments.count, let summary = PaymentSummary(of: amounts) else {
      throw NotificationServiceError(.wordsUnavailable, reason: "the sum is too large")
    }
    let locale = summary.locale ?? payments.first?.locale ?? ""
    guard let writer = phrases.writer(for: locale) else {
      throw NotificationServiceError(.wordsUnavailable, reason: "there is no phrase book")
    }
    let ids = [packID].compactMap(\.self) + voices.ids(for: writer.book.locale)
    var failure = NotificationServiceError(.wordsUnavailable, reason: "there is no voice pack")
    for id in ids {
      do throws(NotificationServiceError) {
        let pack = try pack(id)
        guard pack.manifest.locale.lowercased() == writer.book.locale.lowercased(),
          let script = try? writer.writing(of: .summary(summary), shortenings: []).script
        else { continue }
        let plan = SpeakingPlan(script, recordedBy: pack, pauses: writer.book.pauses)
        guard plan.isRecorded else { continue }
        do throws(ReadbackMismatch) {
          try plan.readBack(summary, script.locale, by: readers)
        } catch {
          throw NotificationServiceError(.amountMismatch)
        }
        return (try publish(plan), try? phrases.books?.banner(for: .summary(summary), defaultLocale: locale))
      } catch {
        failure = error
      }
    }
    throw failure
  }

  private func pack(_ id: String) throws(NotificationServiceError) -> VoicePack {
    do throws(VoicePackError) {
      return try voices.pack(id: id)
    } catch {
      throw NotificationServiceError(.wordsUnavailable, reason: error.description)
    }
  }

  /// Joins the clips of a plan and publishes the result under the digest of its recipe. The name differs from the name
  /// of the service's clip, because the two files have different bytes.
  private func publish(_ plan: SpeakingPlan) throws(NotificationServiceError) -> PreparedSound {
    guard let recording = plan.recording, plan.parts.count == 1, case .recorded(let clips) = plan.parts[0].source else {
      throw NotificationServiceError(.wordsUnavailable, reason: "the pack lacks words")
    }
    let name = "\(Self.recipe(clips, recording.pack, recording.pauses)).wav"
    if let duration = duration(of: name), (try? library.use(name)) == true {
      return PreparedSound(name: name, quality: .announcement, duration: duration)
    }
    return try stitching.withLock { _ in
      Result { () throws(NotificationServiceError) in try join(plan, clips, recording.pack, name) }
    }.get()
  }

  /// Joins clips and publishes the result. The lengths of the clips are added up first, because a push can name many
  /// clips.
  private func join(
    _ plan: SpeakingPlan, _ clips: [SelectedClip], _ pack: VoicePack, _ name: String
  ) throws(NotificationServiceError) -> PreparedSound {
    var milliseconds: Int64 = 0
    for clip in clips { milliseconds = milliseconds.plus(Int64(pack.milliseconds(ofClip: clip.file) ?? 0)) }
    // Joining cuts some of the silence at the ends of the clips.
    guard milliseconds < 2 * Self.limitMilliseconds, pack.manifest.sampleRate <= 48_000 else {
      throw NotificationServiceError(.lengthRefused)
    }
    // A changed or incomplete file could say another amount.
    for clip in Set(clips.map(\.file)) {
      guard let bytes = pack.bytes(ofClip: clip), let known = pack.manifest.clips[clip],
        IncrementalSHA256.hexadecimalDigest(of: bytes) == known.sha256
      else { throw NotificationServiceError(.packDamaged) }
    }
    guard let waveform = plan.stitched(edgeMilliseconds: Self.edgeMilliseconds) else {
      throw NotificationServiceError(.wordsUnavailable)
    }
    let duration = Self.duration(frames: waveform.samples.count, sampleRate: waveform.sampleRate)
    guard (1..<Self.limitMilliseconds).contains(duration) else { throw NotificationServiceError(.lengthRefused) }
    try publish(waveform, as: name)
    return PreparedSound(name: name, quality: .announcement, duration: duration)
  }

  private func publish(_ waveform: Waveform, as name: String) throws(NotificationServiceError) {
    try publications.run { () throws(NotificationServiceError) in
      guard mayPublish() else {
        throw NotificationServiceError(.notPublished, reason: "the notification was handed over before")
      }
      do throws(SoundLibraryError) {
        _ = try library.publish(WAVFile.encode(waveform), as: name)
      } catch {
        throw NotificationServiceError(.notPublished, folder: library.soundsDirectory, reason: error.description)
      }
    }
  }

  /// Returns the digest of everything that determines the samples of a stitched clip.
  private static func recipe(_ clips: [SelectedClip], _ pack: VoicePack, _ pauses: ClipPauses) -> String {
    var parts = ["crier phone clip 1", "\(VoicePack.stitchingVersion)", "\(edgeMilliseconds)", pack.manifest.digest]
    for clip in clips { parts += [clip.file, "\(pauses.milliseconds(clip.pause))"] }
    // Each part has its length before it, so that two different lists never give the same text.
    return IncrementalSHA256.hexadecimalDigest(of: parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
  }

  // MARK: Downloads

  /// Downloads the clip of the service.
  ///
  /// - Returns: The clip; nil if downloads are switched off.
  func downloaded(_ clip: PushedClip) async throws(DownloadError) -> PreparedSound? {
    let sound = try await downloader?.download(clip.url, as: clip.name, expecting: ExpectedSound(clip))
    return sound.map { PreparedSound(name: $0.name, quality: .announcement, duration: clip.duration) }
  }

  /// Downloads a sound from elsewhere, such as a spoken message.
  ///
  /// - Returns: Its name in the group container.
  /// - Throws: ``NotificationServiceError`` with `downloadFailed`.
  func downloadedOriginal(_ url: URL) async throws(NotificationServiceError) -> String {
    guard let downloader else { throw NotificationServiceError(.downloadFailed, reason: "downloads are switched off") }
    do throws(DownloadError) {
      return try await downloader.download(url, atMost: Self.mostBytesFromElsewhere).name
    } catch {
      throw NotificationServiceError(.downloadFailed, reason: error.description)
    }
  }

  /// Brings a sound from elsewhere to the loudness of announcements and publishes it under a digest of the original.
  ///
  /// - Throws: ``NotificationServiceError`` with `soundRefused` if the sound is not a mono PCM16 WAV file or is silent,
  ///   with `lengthRefused` if it lasts 30 s or longer, and with `notPublished` if it cannot be written.
  func leveled(_ original: String) async throws(NotificationServiceError) -> PreparedSound {
    try await onWaitingThread { () throws(NotificationServiceError) in try level(original) }
  }

  private func level(_ original: String) throws(NotificationServiceError) -> PreparedSound {
    var (waveform, name) = try readMessage(original)
    let duration = Self.duration(frames: waveform.samples.count, sampleRate: waveform.sampleRate)
    guard (1..<Self.limitMilliseconds).contains(duration) else { throw NotificationServiceError(.lengthRefused) }
    guard MessageLevel.level(&waveform) else {
      throw NotificationServiceError(.soundRefused, reason: "it is silent, or shorter than 0.4 s")
    }
    try publish(waveform, as: name)
    return PreparedSound(name: name, quality: .announcement, duration: duration)
  }

  /// Returns the samples of a sound from elsewhere, and the name under which it is published. The bytes of the file are
  /// in memory only while this method runs.
  private func readMessage(_ original: String) throws(NotificationServiceError) -> (Waveform, String) {
    guard let bytes = try? library.contents(of: original, atMost: Self.mostBytesFromElsewhere),
      let waveform = try? WAVFile.decode(bytes).waveform
    else { throw NotificationServiceError(.soundRefused, reason: "it is not a mono 16-bit PCM WAV file") }
    var digest = IncrementalSHA256()
    digest.add("crier message 1\n".utf8)
    digest.add(bytes)
    return (waveform, "\(digest.hexadecimalDigest()).wav")
  }
}

extension ExpectedSound {
  fileprivate init(_ clip: PushedClip) { self.init(sha256: clip.sha256, byteCount: clip.bytes) }
}

extension PushedClip {
  /// The duration in ms that the push states, limited to the longest sound that iOS plays. Otherwise, a wrong duration
  /// in a push could delay all later sounds.
  var duration: Int64 { min(max(0, Int64(durationMilliseconds)), AnnouncementSounds.limitMilliseconds) }
}

extension Money {
  fileprivate init?(_ amount: AlertMessage.Content.Amount) { self.init(amount.value, amount.currency) }

  fileprivate init?(_ amount: NotificationOrder.Amount) { self.init(amount.value, amount.currency) }

  private init?(_ value: String, _ code: String) {
    guard let currency = Currency(code: code), let money = try? Money(decimalText: value, currency: currency) else {
      return nil
    }
    self = money
  }
}

/// The phrase books on the phone. They are read at the first use.
final class PhraseBookCache: Sendable {
  private let directory: URL?
  private let state = Locked<PhraseBooks??>(nil)

  init(directory: URL?) { self.directory = directory }

  /// The books; nil if the phone has none.
  var books: PhraseBooks? {
    state.withLock { state in
      if let known = state { return known }
      let read = directory.flatMap { try? PhraseBooks(directory: $0) }
      state = .some(read)
      return read
    }
  }

  /// Returns a writer for a language; nil if the phone has no phrase book for it.
  func writer(for locale: String) -> ScriptWriter? { try? books?.writer(for: locale) }
}
