// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Announcer
import ConcurrencySupport
import FileSystem
import Foundation
import HTTPTypes
import Ledger
import Logging
import Playback
import ServiceAccess
import SoundLibrary
import SoundOutputTestSupport
import SoundOutputs
import SpeechEngine
import SpeechServers
import SQLiteLedger
import TestSupport
import VoicePackMaking
import VoicePacks

@testable import AnnouncementServer

/// A folder that is removed when nobody has it any more.
final class TemporaryFolder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "service-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: url) }
}

/// A key of a test, and its account.
struct TestKey: Sendable {
  var key: APIKey
  var account: String

  var bearer: String { "Bearer \(key.text)" }
}

/// The real service, except for its engine and its output. Its folder is fresh, or another service has left it.
final class TestService: Sendable {
  struct Options: Sendable {
    var settings: ServiceSettings
    var ledger = SQLiteLedger.Options()
    /// The ledger of several nodes; nil for a ledger in a file of the folder.
    var sharedLedger: (any Ledger.Store)?
    var hasPlayer = false
    /// The player's settings.
    var player = Player.Settings()
    /// The folders with voice packs.
    var packs: [URL] = []
    /// The file of chosen packs.
    var chosenPacks: URL?
    /// The packs that the settings choose.
    var settledPacks = ChosenPacks()
    /// The speech servers.
    var speechServers = SpeechServerVoices.none
    /// The ledger's clock.
    var now: @Sendable () -> Date = { Date() }
    /// The service's clock for limits.
    var time = AnnouncementServer.elapsedTime()
    /// The disk of batches.
    var batchFileCalls = FileSystemCalls.system
    /// The parts that send pushes.
    var pushes: PushParts?
    /// The parts that send webhooks.
    var webhooks: WebhookParts?
    /// The parts that receive the webhooks of payment providers.
    var providers: ProviderParts?
    /// Whether clips whose files are gone are made again, as with a ledger that several machines use.
    var remakesClips = false
    /// Called with the port when the service listens.
    var onStart: @Sendable (Int) async -> Void = { _ in }

    init() throws {
      settings = ServiceSettings(rate: try RateLimit(rate: 100_000))
      settings.hosts = ["crier.test"]
      player.gap = 0
    }
  }

  static let installation = Installation(
    data: nil, environment: [:], executable: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
  /// The readers, read once for all tests.
  static let readers = AmountReaders(directory: installation.readers)
  static let books = Result { try PhraseBooks(directory: installation.templates) }
  static let secret = Data(repeating: 7, count: 32)
  static let lane = "counter"
  /// The lane of another output, which can be chosen.
  static let otherLane = "kitchen"

  let folder: TemporaryFolder
  let ledger: any Ledger.Store
  let ledgerFile: URL
  let voice = StandInVoice()
  let output = SimulatedOutput()
  let otherOutput = SimulatedOutput()
  let log = TestLog()
  let server: AnnouncementServer
  /// The time by which the service's clock is ahead.
  private let waited = Locked(Duration.zero)
  private let tasks = Locked<[Task<Void, Never>]>([])

  init(in folder: TemporaryFolder? = nil, _ change: (inout Options) -> Void = { _ in }) throws {
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    var options = try Options()
    change(&options)
    ledgerFile = folder.url.appending(path: "ledger.sqlite")
    ledger =
      try options.sharedLedger ?? SQLiteLedger(at: ledgerFile, options: options.ledger, now: options.now)
    let shelf = VoicePackShelf(
      folders: options.packs, storage: .copied, choices: options.chosenPacks, settled: options.settledPacks,
      interval: .zero)
    let announcer = Announcer(
      phraseBooks: try Self.books.get(), readers: Self.readers, engine: voice, packs: shelf,
      speechServers: options.speechServers)
    let containers = folder.url.appending(path: "containers", directoryHint: .isDirectory)
    let batches = folder.url.appending(path: "batches", directoryHint: .isDirectory)
    let outputs = [Self.lane: output, Self.otherLane: otherOutput]
    let named: @Sendable (String) throws(OutputError) -> OutputParts = { name throws(OutputError) in
      guard let output = outputs[name] else {
        throw OutputError(.deviceMissing, name, "no such device", remedy: "wait")
      }
      return OutputParts(name: name, lane: name) { output }
    }
    let player = PlayerParts(
      output: try named(Self.lane), settings: options.player, named: named,
      listed: { outputs.keys.sorted().map { ListedOutput(id: $0, name: "The \($0)") } },
      testSound: { Tone.sine(440, milliseconds: 300, rate: 22_050) })
    var parts = AnnouncementServer.Parts(
      announcer: announcer, ledger: ledger, containers: containers, batches: batches, shelf: shelf,
      voices: folder.url.appending(path: "Voices", directoryHint: .isDirectory),
      player: options.hasPlayer ? player : nil,
      pushes: options.pushes, webhooks: options.webhooks,
      playerPreferences: folder.url.appending(path: "player", directoryHint: .isDirectory), secret: Self.secret,
      console: try ConsoleFiles(folder: Self.installation.console),
      accountWork: folder.url.appending(path: "account-work.json"))
    if let file = options.chosenPacks {
      parts.choosePack = { id, locale in try PackChoicesFile(file).change { $0[locale] = id } }
    }
    parts.batchFileCalls = options.batchFileCalls
    parts.providers = options.providers
    parts.remakesClips = options.remakesClips
    server = try AnnouncementServer(
      parts, settings: options.settings, logger: log.logger, onStart: options.onStart,
      time: { [waited, time = options.time] in time() + waited.withLock { $0 } })
  }

  deinit { for task in tasks.withLock({ $0 }) { task.cancel() } }

  /// Runs something of the service until the test is over.
  @discardableResult
  func run(_ work: @escaping @Sendable () async throws -> Void) -> Task<Void, Never> {
    let task = Task { _ = try? await work() }
    tasks.withLock { $0.append(task) }
    return task
  }

  /// Starts the player, and waits until it plays.
  @discardableResult
  func startPlayer() async throws -> Player {
    guard let player = server.player else { throw Missing(what: "a player") }
    run { try await player.run() }
    try await eventually { player.player != nil }
    guard let running = player.player else { throw Missing(what: "a running player") }
    return running
  }

  /// Starts the work on batches.
  @discardableResult
  func startBatches() -> Task<Void, Never> { run { [batches = server.batches] in await batches.work() } }

  /// A client with a new key.
  func client(
    _ scopes: [Scope] = [.announce, .read, .play], account: String = "shop", locale: String? = nil, pack: String? = nil,
    group: String? = nil, rate: NewKey.Rate? = nil, isStrict: Bool = false
  ) async throws -> TestClient {
    let key = APIKey.make()
    try await ledger.createKey(
      NewKey(
        id: key.id, account: account, digest: key.digest, scopes: scopes.map(\.rawValue), locale: locale, pack: pack,
        group: group, rate: rate, isStrict: isStrict))
    return TestClient(server: server, key: TestKey(key: key, account: account), log: log)
  }

  /// Moves the service's clock for limits on.
  func wait(_ duration: Duration) { waited.withLock { $0 += duration } }

  /// Revokes a client's key. The service knows when this returns.
  func revoke(_ client: TestClient) async throws {
    try await ledger.revokeKey(try client.key.orThrow("a key").key.id)
    wait(KeyCache.memory)
  }

  /// A client without a key.
  var stranger: TestClient { TestClient(server: server, key: nil, log: log) }

  /// The clips of a group, by name.
  func clips(_ group: String = "group.crier") -> [String] {
    let sounds = folder.url.appending(path: "containers/\(group)/Library/Sounds").path(percentEncoded: false)
    return ((try? FileManager.default.contentsOfDirectory(atPath: sounds)) ?? []).sorted()
  }

  /// Waits until something has happened on the lane.
  @discardableResult
  func event(_ kind: Ledger.Event.Kind, _ number: Int64? = nil, of player: Player) async throws -> Ledger.Event {
    for try await event in player.events(after: 0) where event.kind == kind && (number ?? event.number) == event.number
    {
      return event
    }
    throw Missing(what: "an event \(kind)")
  }
}

/// The payload of a payment.
func payment(_ id: String = "p1", _ amount: String = "12.50", _ more: String = "") -> String {
  #"{"id":"\#(id)","amount":"\#(amount)","currency":"USD"\#(more.isEmpty ? "" : ",\(more)")}"#
}
