// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import DownloadTestSupport
import FileSystem
import Foundation
import PushMessages
import SoundDownloads
import SoundLibrary
import Testing
import VoicePacks
import Waveforms

@testable import NotificationServiceKit

/// A new group container, which is removed after the test, and a stand-in for the phone around it.
final class PhoneFolder: Sendable {
  /// The phrase books of the repository.
  static let phraseBooks = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Templates", directoryHint: .isDirectory)

  static let patient = BlockingLimits(
    lock: 60, expiryLock: 60, backgroundLock: 60, soundHandOver: 60, silentHandOver: 60)

  let container: GroupContainer
  /// The clock of all processes of the phone.
  let clock = PhoneClock()
  let errors = Locked<[NotificationServiceError]>([])
  let local = Locked<[LocalNotification]>([])
  /// The number of local notifications that the system refuses before it accepts one.
  let refusals = Locked(0)

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "phone-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    container = GroupContainer(directory: folder)
  }

  deinit { try? FileManager.default.removeItem(at: container.directory) }

  var library: SoundLibrary { SoundLibrary(container: container) }

  private struct Notifier: LocalNotifying {
    let phone: PhoneFolder
    struct Refused: Error {}

    func add(_ notification: LocalNotification) async throws {
      let isRefused = phone.refusals.withLock { refusals in
        refusals -= 1
        return refusals >= 0
      }
      if isRefused { throw Refused() }
      phone.local.withLock { $0.append(notification) }
    }
  }

  /// Returns a service as one process of the phone has it.
  ///
  /// - Parameters:
  ///   - script: The answers to requests; without it, there is no network.
  ///   - clock: The clock of the phone; without it, one that goes on while works pause.
  ///   - blocking: The longest times for which threads are blocked; without them, long ones, because a test on a busy
  ///     machine may stand still for longer than a process on a phone.
  func service(
    budget: Int64 = 25_000, gap: Int64 = 20, script: ScriptedFetcher.Script? = nil,
    missed: (any MissedAnnouncements)? = nil,
    notifies: Bool = true, clock: PhoneClock? = nil, blocking: BlockingLimits = PhoneFolder.patient
  ) -> NotificationService {
    var configuration = NotificationService.Configuration(
      container: container, tone: FileTonePreference(container: container))
    configuration.phraseBooks = Self.phraseBooks
    configuration.settings.budget = budget
    configuration.settings.gap = gap
    // On a busy machine, a test may stand still for longer than a process on a phone.
    configuration.settings.lease = 60_000
    configuration.blocking = blocking
    configuration.missed = missed
    let clock = clock ?? self.clock
    configuration.now = { clock.now }
    configuration.pause = { await clock.pause($0) }
    if notifies { configuration.notifier = Notifier(phone: self) }
    if let script {
      configuration.downloader = SoundDownloader(
        library: library, fetcher: ScriptedFetcher(script), resolver: TableResolver(), check: { _ in })
    }
    configuration.report = { [self] error in errors.withLock { $0.append(error) } }
    return NotificationService(configuration)
  }

  var errorCodes: [NotificationServiceError.Code] { errors.withLock { $0.map(\.code) } }

  /// The file that is locked while a process changes the order.
  var lock: URL { container.directory.appending(path: "Library/Crier/order.lock", directoryHint: .notDirectory) }

  // MARK: Sounds

  /// Returns the bytes of a WAV file of a constant.
  static func sound(milliseconds: Int, level: Int16 = 100) -> [UInt8] {
    WAVFile.encode(
      Waveform(samples: [Int16](repeating: level, count: milliseconds * 22_050 / 1_000), sampleRate: 22_050))
  }

  func publish(_ name: String, milliseconds: Int = 100) throws {
    _ = try library.publish(Self.sound(milliseconds: milliseconds), as: name)
  }

  /// Installs a voice pack with a clip for each token.
  @discardableResult
  func installPack(_ id: String = "en-US-test", tokens: [String], milliseconds: Int = 100) throws -> URL {
    let folder = container.directory.appending(path: "Library/Crier/Voices/\(id)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var manifest = PackManifest(id: id, locale: "en-US", speaker: "Ada", licence: "CC0-1.0")
    for (number, token) in tokens.enumerated() {
      let bytes = Self.sound(milliseconds: milliseconds, level: Int16(number + 1))
      try Data(bytes).write(to: folder.appending(path: "\(number).wav"))
      manifest.tokens[token] = .init(plain: "\(number).wav")
      manifest.clips["\(number).wav"] = .init(
        text: ClipToken.words(ofName: token), sha256: IncrementalSHA256.hexadecimalDigest(of: bytes))
    }
    try manifest.json.write(to: folder.appending(path: PackManifest.fileName))
    return folder
  }

  /// The tokens with which the service would send an announcement, and those of the summary of some payments.
  static func tokens(of announcement: Announcement) throws -> [ClipToken] {
    try PhraseBooks(directory: phraseBooks).writer(for: "en-US").writing(of: announcement).script.tokens
  }
}

/// The parts of a push about a payment.
struct TestPush {
  var id = "p1"
  var sequence: Int64? = 1
  var amount = "2.00"
  /// The amount in the tokens, if it differs from ``amount``.
  var spokenAmount: String?
  var hasTokens = true
  var clip: [UInt8]?
  var clipName = String(repeating: "ab", count: 32) + ".wav"
  var sound: String? = "default"
  var kind = "received"

  func payment(_ amount: String) throws -> Payment {
    let dollars = try #require(Currency(code: "USD"))
    return Payment(amount: try Money(decimalText: amount, currency: dollars))
  }

  var payload: Data {
    get throws {
      var content = AlertMessage.Content(
        id: id, sequence: sequence, locale: "en-US",
        amount: try AlertMessage.Content.Amount(value: amount, currency: "USD"), kind: kind)
      if hasTokens {
        let tokens = try PhoneFolder.tokens(of: .payment(payment(spokenAmount ?? amount)))
        content.spoken = try AlertMessage.Content.Spoken(pack: "en-US-test", tokens: tokens)
      }
      if let clip {
        let url = try #require(URL(string: "https://sounds.example/clip.wav"))
        content.clip = try PushedClip(
          name: clipName, url: url,
          sha256: IncrementalSHA256.hexadecimalDigest(of: clip), bytes: clip.count, durationMilliseconds: 100)
      }
      return AlertMessage(sound: try sound.map { try AlertMessage.Sound($0) }, content: content).encoded()
    }
  }
}

extension NotificationService {
  /// Works on a push to the end.
  func handOver(_ payload: Data) async -> [HandOver] {
    let handed = Locked<[HandOver]>([])
    await receive(payload) { handOver in handed.withLock { $0.append(handOver) } }.finished()
    return handed.withLock { $0 }
  }
}
