// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
public import Announcer
import ConcurrencySupport
package import FileSystem
public import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InstallationDiagnosis
public import Ledger
public import Logging
import NIOCore
import Playback
import PushDelivery
import ServiceAccess
public import ServiceLifecycle
public import VoicePacks

/// The HTTP service with the API for merchants' backends and the console.
///
/// Run it in a `ServiceGroup`, which stops it at a signal. While it stops, received requests are answered, new work is
/// refused with 503, and the player's unfinished announcements remain in the ledger for the next run. No accepted
/// announcement is lost.
public struct AnnouncementServer: Service, CustomStringConvertible {
  /// The parts that the service uses.
  public struct Parts: Sendable {
    public var announcer: Announcer
    public var ledger: any Ledger.Store
    /// The folder where clips are published. It contains a folder for each app group.
    public var containers: URL
    /// The folder where batches are stored if only one machine can use the ledger.
    public var batches: URL
    /// The system calls with which batches are stored. Tests replace them to make the disk slow or full.
    package var batchFileCalls = FileSystemCalls.system
    /// Whether clips whose files are not here are made again from the ledger; nil to do so only if several machines use
    /// the ledger. Tests set it.
    package var remakesClips: Bool?
    /// The announcer's voice packs. The service lists the same packs that the announcer uses.
    public var shelf: VoicePackShelf
    /// The user's own `Voices` folder, the only one whose packs the service changes.
    public var voices: URL
    /// The parts of the player; nil for a service without a player.
    public var player: PlayerParts?
    /// The parts that send pushes; nil for a service that sends none.
    public var pushes: PushParts?
    /// The parts that send webhooks; nil for a service that sends none.
    public var webhooks: WebhookParts?
    /// The parts that receive the webhooks of payment providers; nil for a service that receives none.
    package var providers: ProviderParts?
    /// Returns whether the shop is open at a moment, for the alarm about missing payments.
    public var isOpen: @Sendable (Date) -> Bool = { _ in true }
    /// Chooses the pack that speaks a locale, or forgets the choice, in the file that ``shelf`` reads.
    public var choosePack: @Sendable (_ id: String?, _ locale: String) throws -> Void = { _, _ in }
    /// Makes a support bundle (`.tar.gz`) with the answers of `/readyz` and `/metrics`; nil for a service that makes
    /// none.
    public var supportBundle: (@Sendable (_ readiness: Data, _ metrics: Data) async throws -> Data)?
    /// Returns the settings and versions; nil for a service that shows none.
    public var description: (@Sendable () async -> ServiceDescription)?
    /// Returns the bytes of the things that must be the same on all nodes of a ledger, as this process uses them now. The
    /// signing secret and the tones are not among them, because the service knows them itself.
    public var sharedThings: @Sendable () async -> [Ledger.SharedThing: Data] = { [:] }
    /// The folder that stores the volume, the chimes and the output that somebody chose through the service.
    public var playerPreferences: URL
    /// The secret that signs URLs: at least 32 random bytes, the same after a restart.
    public var secret: Data
    public var console: ConsoleFiles
    /// The file that stores how much of its daily budget each account has used.
    public var accountWork: URL

    public init(
      announcer: Announcer, ledger: any Ledger.Store, containers: URL, batches: URL, shelf: VoicePackShelf,
      voices: URL,
      player: PlayerParts?, pushes: PushParts? = nil, webhooks: WebhookParts? = nil, playerPreferences: URL,
      secret: Data, console: ConsoleFiles, accountWork: URL
    ) {
      self.announcer = announcer
      self.ledger = ledger
      self.containers = containers
      self.batches = batches
      self.shelf = shelf
      self.voices = voices
      self.player = player
      self.pushes = pushes
      self.webhooks = webhooks
      self.playerPreferences = playerPreferences
      self.secret = secret
      self.console = console
      self.accountWork = accountWork
    }
  }

  /// The value of the field `Server`.
  static let name = "crier"

  let settings: ServiceSettings
  let ledger: any Ledger.Store
  let logger: Logger
  let responder: ServiceResponder
  let clips: Clips
  let player: LanePlayer?
  let pushService: PushService?
  let webhookService: WebhookService?
  let providerEndpoints: ProviderEndpoints
  let providerService: ProviderService
  /// The register of nodes; nil if only one machine can use the ledger.
  let nodeService: NodeService?
  let batches: Batches
  let readiness: Readiness
  let shopWatch: ShopWatch
  let keys: KeyRing
  let hub: EventHub
  let eventSlots: AccountSlots
  let batchSlots: AccountSlots
  let work: AccountWork
  let packWatch: PackWatch
  let packClips: PackClips
  let speakable: SpeakableRoutes
  let library: Library
  let largeBodies = LargeBodies()
  let stopping = Stopping()
  let ledgerWatch: LedgerWatch
  private let phraseBooks: PhraseBooks
  /// A stream that ends when the service starts to listen.
  private let listens = AsyncStream.makeStream(of: Void.self)
  private let onStart: @Sendable (Int) async -> Void

  /// - Parameters:
  ///   - onStart: Called with the port when the service has started to listen.
  ///   - time: The time since a fixed moment, which never decreases. The cache of keys and all limits of rates, work
  ///     and log lines use it.
  /// - Throws: `AccessError` if the secret is too short.
  public init(
    _ parts: Parts, settings: ServiceSettings, logger: Logger,
    onStart: @escaping @Sendable (Int) async -> Void = { _ in },
    time: @escaping @Sendable () -> Duration = AnnouncementServer.elapsedTime()
  ) throws {
    self.settings = settings
    self.logger = logger
    self.onStart = onStart
    let ledger = parts.ledger
    phraseBooks = parts.announcer.phraseBooks
    self.ledger = ledger
    ledgerWatch = LedgerWatch(ledger: ledger, stopping: stopping, logger: logger)
    let metrics = ServiceMetrics()
    let hub = EventHub()
    self.hub = hub
    let keys = KeyRing(ledger: ledger, defaultLimit: settings.rate, time: time)
    self.keys = keys
    let groups = AppGroups(standard: settings.group, listed: settings.groups, containers: parts.containers)
    if groups.hasTooManyFolders {
      logger.warning(
        "There are too many app group folders, so all of them are ignored. List the app groups in the settings.",
        metadata: ["most": "\(AppGroups.mostFound)"])
    }
    let work = AccountWork(limits: settings.work, file: parts.accountWork, time: time)
    self.work = work
    let clips = Clips(
      announcer: parts.announcer, containers: parts.containers, groups: groups,
      keyGroups: { try await keys.groups() }, work: work, cacheBytes: settings.cacheBytes, metrics: metrics,
      logger: logger)
    self.clips = clips
    let keepsSources = parts.remakesClips ?? (ledger.nodeID != nil)
    let remade =
      keepsSources
      ? RemadeClips(
        ledger, announcer: parts.announcer, locale: settings.locale, work: work,
        cacheBytes: max(8 << 20, settings.cacheBytes / 4), metrics: metrics, logger: logger) : nil
    let eventSlots = AccountSlots(
      "event streams", most: EventRoutes.mostStreams, mostOfOne: settings.work.eventStreams)
    let batchSlots = AccountSlots(
      "batch streams", most: BatchRoutes.mostStreams, mostOfOne: settings.work.batchStreams)
    (self.eventSlots, self.batchSlots) = (eventSlots, batchSlots)
    let preferences = parts.player.map {
      PlayerPreferences(folder: parts.playerPreferences, settings: $0.settings, logger: logger)
    }
    let lane = parts.player.map {
      Self.lane($0, announcer: parts.announcer, clips: clips, ledger: ledger, preferences, settings, logger)
    }
    let lanePlayer = lane?.player
    player = lanePlayer
    let pushService = parts.pushes.map {
      PushService(
        $0, ledger: ledger, hub: hub, metrics: metrics, settings: settings, logger: logger, time: time)
    }
    self.pushService = pushService
    let library = Library(ledger: ledger, clips: clips, shelf: parts.shelf, logger: logger) {
      pushService?.library.lookForChanges()
    }
    self.library = library
    let webhookService = parts.webhooks.map {
      WebhookService($0, ledger: ledger, hub: hub, metrics: metrics, logger: logger, time: time)
    }
    self.webhookService = webhookService
    let urls = ClipURLs(
      signer: try SignedURL(secret: parts.secret), base: settings.publicURL, authority: settings.authority,
      lifetime: settings.clipLifetime)
    let batchFiles = BatchFiles(folder: parts.batches, calls: parts.batchFileCalls)
    let batchPlace: any BatchPlace =
      if let shared = ledger.sharedBatches {
        LedgerBatches(shared, files: batchFiles, logger: logger)
      } else {
        FileBatches(files: batchFiles, logger: logger)
      }
    batches = Batches(
      place: batchPlace, announcer: parts.announcer, clips: clips,
      urls: urls, settings: settings, metrics: metrics, work: work, ledger: ledger, logger: logger,
      libraryChanged: library.tellChange)
    let providerEndpoints = ProviderEndpoints(
      parts.providers, limit: settings.rate, logger: logger, time: time)
    self.providerEndpoints = providerEndpoints
    let refusals = RefusalLog(logger, time: time)
    let providerTelling = ProviderTelling(
      history: ProviderHistory(), hub: hub, logger: logger, refusals: refusals)
    let latestPayment = LatestPayment(ledger: ledger, time: time)
    let service = AnnouncementService(
      ledger: ledger, clips: ServiceClips(clips: clips, urls: urls),
      pushes: AnnouncementPushes(
        lifetime: parts.pushes?.lifetime, ledger: ledger, phraseBooks: parts.announcer.phraseBooks
      ) { [clients = parts.pushes?.clients] device in
        clients?[PushSchedule.App(bundleID: device.app, environment: device.environment)] != nil
      }, groups: groups, locale: settings.locale, lane: lanePlayer?.playing, keepsSources: keepsSources
    ) { told in
      if told.isPlayed { lanePlayer?.lookForArrivals() }
      if told.isPushed { pushService?.lookForPushes() }
      if told.isReceipt { latestPayment.note(at: told.rendered.at) }
      library.tellChange()
      let rendered = told.rendered
      hub.tell(
        LiveEvent(
          kind: .rendered, account: rendered.account, id: rendered.id, at: rendered.at, detail: rendered.detail))
    }
    let providerPayments = ProviderPayments(service: service, ledger: ledger) { providerTelling.tell($0) }
    let setAside: @Sendable () async -> Ledger.SetAsideCounts = { [batches] in
      Ledger.SetAsideCounts(
        announcements: (try? await lanePlayer?.player?.status().setAsideCount) ?? 0,
        pushes: await pushService?.setAsideCount ?? 0, webhooks: await webhookService?.setAsideCount ?? 0,
        providerPayments: await providerPayments.setAsideCount, batches: await batches.setAside.count)
    }
    let nodeService = NodeService(
      ledger,
      deliveries: Set<DeliverySeat.Kind>([.providerPayments]).union(pushService == nil ? [] : [.pushes])
        .union(webhookService == nil ? [] : [.webhooks]),
      fingerprints: try NodeFingerprints(secret: parts.secret), logger: logger
    ) { [sharedThings = parts.sharedThings] in
      var things = await sharedThings()
      things[.tones] = library.tonesContent
      return things
    }
    self.nodeService = nodeService
    readiness = Readiness(
      announcer: parts.announcer, ledger: ledger, player: lanePlayer, pushes: pushService, webhooks: webhookService,
      nodes: nodeService, providers: providerEndpoints,
      folders: [parts.containers.deletingLastPathComponent(), ledger.folder],
      locale: settings.locale, setAside: setAside)
    let shopWatch = ShopWatch(
      ShopWatch.Parts(
        ledger: ledger, player: lanePlayer, pushes: pushService, webhooks: webhookService,
        providers: providerEndpoints, readiness: readiness, setAside: setAside, payments: latestPayment,
        isOpen: parts.isOpen),
      settings: settings.alarms, hub: hub, logger: logger, time: time)
    self.shopWatch = shopWatch
    let commands = RemedyCommands(
      home: ledger.folder.path(percentEncoded: false))
    let packClips = PackClips(
      shelf: parts.shelf, phraseBooks: parts.announcer.phraseBooks, engine: parts.announcer.engine,
      voices: parts.voices)
    let speakable = SpeakableRoutes(
      announcer: parts.announcer, shelf: parts.shelf, choosePack: parts.choosePack, clips: packClips, keys: keys,
      administration: AdministrationLog(ledger: ledger))
    (self.packClips, self.speakable) = (packClips, speakable)
    packWatch = PackWatch(announcer: parts.announcer, library: library, logger: logger) { packs in
      packClips.listed.keep(packs)
      speakable.missing.keep(packs)
    }
    let counts = Remembered<[Ledger.State: Int]>(for: .seconds(1), time: time) {
      guard let lanePlayer else { return [:] }
      return (try? await ledger.counts(lane: lanePlayer.lane)) ?? [:]
    }
    let gauges = ServiceGauges(
      announcer: parts.announcer, ledger: ledger, clips: clips, player: lanePlayer, pushes: pushService,
      webhooks: webhookService, eventSlots: eventSlots, batchSlots: batchSlots, shopWatch: shopWatch,
      providers: providerTelling.history, providerPayments: providerPayments, setAside: setAside, counts: counts,
      nodes: nodeService)
    providerService = ProviderService(providerPayments, ledger: ledger, logger: logger)
    let failures = FailureGate(settings.keyFailures, time: time)
    let routes: [[Route]] = [
      AnnouncementRoutes(
        service: service, ledger: ledger, clips: clips, library: library, urls: urls, settings: settings,
        groups: groups, keys: keys, batches: batches
      ).routes,
      ClipRoutes(clips: clips, ledger: ledger, remade: remade).routes,
      DeviceRoutes(
        ledger: ledger, keys: keys, phraseBooks: parts.announcer.phraseBooks, groups: groups,
        test: pushService.map { pushes in
          DeviceTest(clients: pushes.parts.clients, ledger: ledger) { await pushes.resume($0) }
        },
        administration: AdministrationLog(ledger: ledger)
      ).routes,
      EnumeratorRoutes(ledger: ledger).routes,
      ReceiptRoutes(ledger: ledger).routes,
      LibraryRoutes(ledger: ledger, library: library, groups: groups, remade: remade).routes,
      WebhookRoutes(ledger: ledger, keys: keys, parts: parts.webhooks).routes,
      ProviderRoutes(
        endpoints: providerEndpoints, payments: providerPayments, telling: providerTelling, ledger: ledger,
        unproven: keys.unproven, rejections: FailureGate(settings.keyFailures, time: time),
        proxies: settings.proxies, now: { Date() }
      ).routes,
      PlaybackRoutes(
        player: lanePlayer, ledger: ledger,
        pace: try ReplayPace(time: time), keys: keys, preferences: preferences, largeBodies: largeBodies,
        shopChanged: { Task { await shopWatch.look() } }
      ).routes,
      ShopRoutes(watch: shopWatch, commands: commands).routes,
      OutputRoutes(
        player: lanePlayer, parts: parts.player, makePart: lane?.parts, preferences: preferences, keys: keys,
        testSoundFile: parts.playerPreferences.appending(path: "test.wav"),
        administration: AdministrationLog(ledger: ledger)
      ).routes,
      EventRoutes(
        player: lanePlayer, ledger: ledger, hub: hub, keys: keys, slots: eventSlots, settings: settings,
        commands: commands
      ).routes,
      BatchRoutes(
        batches: batches, settings: settings, keys: keys, largeBodies: largeBodies, groups: groups, slots: batchSlots,
        administration: AdministrationLog(ledger: ledger)
      ).routes,
      SignInRoutes(ledger: ledger, keys: keys, failures: failures, settings: settings).routes,
      KeyRoutes(ledger: ledger, keys: keys, phraseBooks: parts.announcer.phraseBooks, shelf: parts.shelf).routes,
      PackClipRoutes(
        clips: packClips,
        keys: keys, largeBodies: largeBodies, administration: AdministrationLog(ledger: ledger), work: work
      ).routes,
      PackDraftRoutes(
        clips: packClips, shelf: parts.shelf, choosePack: parts.choosePack, keys: keys, largeBodies: largeBodies,
        administration: AdministrationLog(ledger: ledger), work: work
      ).routes,
      speakable.routes,
      SpeechRoutes(
        announcer: parts.announcer, clips: clips, shelf: parts.shelf, settings: settings, keys: keys
      ).routes,
      OperationRoutes(
        readiness: readiness, metrics: metrics, gauges: { await gauges.now }, supportBundle: parts.supportBundle,
        description: parts.description,
        administration: AdministrationLog(ledger: ledger)
      ).routes,
      NodeRoutes(ledger: ledger).routes,
      parts.console.routes,
    ]
    responder = ServiceResponder(
      routes: RouteTable(routes.flatMap { $0 }), keys: keys, urls: urls, metrics: metrics, stopping: stopping,
      names: HostNames(host: settings.host, publicURL: settings.publicURL, others: settings.hosts),
      failures: failures, proxies: settings.proxies, refusals: refusals, logger: logger)
  }

  /// Makes the player of the service's own output, and a function that makes the parts of a player for another output.
  private static func lane(
    _ part: PlayerParts, announcer: Announcer, clips: Clips, ledger: any Ledger.Store,
    _ preferences: PlayerPreferences?,
    _ service: ServiceSettings, _ logger: Logger
  ) -> (player: LanePlayer, parts: @Sendable (OutputParts) -> LanePlayer.Part) {
    // The player renders an announcement with the same options and into the same folder as the request for the
    // announcement, so that both use the same clip.
    let rendering = AnnouncerRendering(
      announcer, options: RenderOptions(defaultLocale: service.locale)
    ) { [group = service.group] in try clips.library($0 ?? group) }
    let parts: @Sendable (OutputParts) -> LanePlayer.Part = { output in
      LanePlayer.Part(output: output.name, lane: output.lane) { pause, keepVolume in
        var settings = preferences?.settings ?? part.settings
        (settings.pause, settings.keepVolume) = (pause, keepVolume)
        return Player(
          lane: output.lane, ledger: ledger, output: try output.make(), render: rendering, settings: settings)
      }
    }
    return (
      player: LanePlayer(
        parts(part.output(kept: preferences?.output, logger: logger)), ledger: ledger, takesOver: service.takesOver,
        logger: logger
      ) { await Self.keep(volume: $0, of: $1, in: preferences, logger) },
      parts: parts
    )
  }

  /// Stores a volume that a command has set, as if it had been set through the service.
  private static func keep(
    volume percent: Int, of player: Player?, in preferences: PlayerPreferences?, _ logger: Logger
  ) async {
    do {
      try await preferences?.keepVolume(percent) { try await player?.setVolume(percent) }
    } catch {
      logger.warning(
        "The new volume of the player could not be stored. It applies until the service ends.",
        metadata: ["error": "\(Problem.loggable(error))"])
      // This call fails only if the player has ended, so the error is ignored.
      try? await player?.setVolume(percent)
    }
  }

  /// Returns a function that gives the time since this call.
  public static func elapsedTime() -> @Sendable () -> Duration {
    let origin = ContinuousClock.now
    return { ContinuousClock.now - origin }
  }

  /// A short name for logs that list the running services.
  public var description: String { "AnnouncementServer" }

  /// Returns the application that listens. The program and the tests use the same one.
  func application() -> Application<ServiceResponder> {
    let (authority, limit) = (settings.authority, TimeAmount.milliseconds(Int64(settings.requestDeadline * 1000)))
    // The library writes an IPv6 address without brackets, so its notices are left out, and the service logs its
    // address itself.
    var libraryLogger = logger
    libraryLogger.logLevel = max(logger.logLevel, .notice)
    return Application(
      responder: responder,
      server: HTTPServerBuilder { responder in
        LoopBoundChannel(
          base: HTTP1Channel(
            responder: responder,
            configuration: HTTP1Channel.Configuration(
              httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100))),
          authority: authority, limit: limit)
      },
      configuration: ApplicationConfiguration(
        address: .hostname(settings.host, port: settings.port), serverName: Self.name, backlog: 1024,
        availableConnectionsDelegate: MaximumAvailableConnections(settings.mostConnections)),
      onServerRunning: { [logger, onStart, listens, settings] channel in
        let port = channel.localAddress?.port ?? settings.port
        logger.info("The service is listening on \(settings.authority(port: port)).")
        await onStart(port)
        listens.continuation.finish()
      },
      logger: libraryLogger)
  }

  /// The time between the signal to stop and the first connection that is closed. During this time, clients learn from
  /// a response that their connection ends, so they do not send a request into a connection that is just being closed
  /// (RFC 9112, section 9.6).
  static let farewell: Duration = .milliseconds(500)

  public func run() async throws {
    // The endpoints are read first, so that a provider that calls at once finds its endpoint.
    await onWaitingThread { [providerEndpoints] in providerEndpoints.look() }
    // The batches are loaded before any client can request one.
    await batches.load()
    await player?.prepare()
    // The listener runs in its own group and task, so that it continues for a moment after all other parts are told to
    // stop.
    let listener = ServiceGroup(
      configuration: ServiceGroupConfiguration(services: [application()], logger: logger))
    let listening = Task.detached { try await listener.run() }
    try await withGracefulShutdownHandler {
      try await withThrowingTaskGroup(of: Void.self) { group in
        let lists = Task { await batches.work() }
        let housekeeping = Task { await keepHouse() }
        let watching = Task { await packWatch.run() }
        let following = Task { await providerEndpoints.run() }
        let looking = Task { await shopWatch.run() }
        if let player { group.addTask { try await player.run() } }
        if let pushService { group.addTask { try await pushService.run() } }
        if let webhookService { group.addTask { try await webhookService.run() } }
        group.addTask { try await providerService.run() }
        if let nodeService { group.addTask { try await nodeService.run() } }
        group.addTask { [ledgerWatch, listens, phraseBooks] in
          try await cancelWhenGracefulShutdown {
            // This work begins when the service listens, so that it does not slow down the start.
            for await _ in listens.stream {}
            if !Task.isCancelled { await onWaitingThread { phraseBooks.prepareForNames() } }
            try await ledgerWatch.run()
          }
        }
        group.addTask {
          try await withTaskCancellationHandler {
            try await listening.value
          } onCancel: {
            listening.cancel()
          }
        }
        defer {
          lists.cancel()
          housekeeping.cancel()
          watching.cancel()
          following.cancel()
          looking.cancel()
        }
        // A failure of one task ends the others. For example, a service that cannot listen must not go on playing.
        for try await _ in group {}
        lists.cancel()
        await lists.value
        await saveWork()
        await clips.recordUses()
      }
    } onGracefulShutdown: {
      stopping.stop()
      Task {
        await readiness.stop()
        try? await Task.sleep(for: Self.farewell)
        await listener.triggerGracefulShutdown()
      }
    }
  }
}
