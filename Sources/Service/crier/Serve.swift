// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import AnnouncementServer
import Announcements
import Announcer
import ArgumentParser
import Foundation
import InstallationDiagnosis
import InstallationExamination
import Ledger
import Logging
import NIOCore
import Playback
import ServiceAccess
import ServiceLifecycle
import SoundOutputs
import SpeechEngine
import SpeechServers
import TextFormats
import ToneMaking
import UnixSignals
import VoicePackMaking
import VoicePacks
import Waveforms
import WebhookDelivery
import WeeklyTimes

struct Serve: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs the HTTP service with its player and its web console.",
    discussion: """
      At start, the service prints the address of the console. On its first start it also creates a key, and prints \
      the key and an example command. If other machines can reach the address, the service starts only if a key \
      exists: see crier keys create.

      Each setting that --print-config shows can be set in the home folder's crier.yaml, or in an environment variable \
      named CRIER_ and the setting's name in capitals; flags take precedence over both. Messages go to standard error.

      EXAMPLES
        crier serve
        crier serve --port 8099 --output alsa:plughw:1,0
        CRIER_RATE=50 crier serve --print-config
      """)

  @Option(help: "The address to listen on. (default: 127.0.0.1)")
  var host: String?

  @Option(help: "The port to listen on; 0 chooses a free one. (default: 8080)")
  var port: String?

  @Option(help: "The home folder, which holds all data of the service. (default: $CRIER_HOME)", completion: .directory)
  var home: String?

  @Option(help: "The output to play on: default, alsa:NAME, null, file:PATH, or none. (default: default)")
  var output: String?

  @Option(help: "The language of announcements that name no language, as a BCP 47 tag. (default: en-US)")
  var locale: String?

  @Option(help: "A YAML file of settings. (default: crier.yaml in the home folder, if it exists)", completion: .file())
  var config: String?

  @Flag(help: "Print every setting and its source, and exit.")
  var printConfig = false

  @OptionGroup(title: "Files") var files: DataOptions

  func validate() throws {
    for (option, value) in [("home", home), ("config", config)] where value == "" {
      throw ValidationError("--\(option) is empty: name a \(option == "home" ? "folder" : "file").")
    }
  }

  func perform() async throws {
    let home = CrierHome(home)
    // The home folder must be safe before its settings file is trusted.
    if !printConfig { try home.requirePrivate() }
    let configuration = try ServiceConfiguration(
      flags: flags, environment: ProcessInfo.processInfo.environment, file: config.map { URL(filePath: $0) },
      home: home)
    for warning in configuration.warnings { Terminal.note("crier: \(warning)") }
    if config != nil, (try? LedgerSetting(of: home))?.address != configuration.ledger.address {
      Terminal.note(
        "crier: ledger (\(configuration.place(of: .ledger))): commands such as crier keys do not read the file of --config, "
          + "so they use another ledger; set ledger in crier.yaml of the home, or CRIER_LEDGER.")
    }
    if printConfig { return try StandardOutput.write(configuration.yaml) }
    try Self.requireAddress(configuration.settings)
    PrivateProcess.leaveNoCoreFile()
    try await serve(configuration, home)
  }

  /// The settings that were given as flags.
  private var flags: [ServiceConfiguration.Name: String] {
    let given: [(ServiceConfiguration.Name, String?)] = [
      (.host, host), (.port, port), (.output, output), (.locale, locale),
    ]
    return Dictionary(uniqueKeysWithValues: given.compactMap { name, value in value.map { (name, $0) } })
  }

  private func serve(_ configuration: ServiceConfiguration, _ home: CrierHome) async throws {
    // A client that disconnects must be noticed as a failed write, and not end the process with a signal.
    signal(SIGPIPE, SIG_IGN)
    var settings = configuration.settings
    settings.mostConnections = try OpenFiles.connections(
      atMost: settings.mostConnections, speakers: configuration.speakers)
    let books = try files.phraseBooks(home: home, smallSums: configuration.smallSums)
    do throws(AnnouncementError) {
      _ = try books.book(for: configuration.settings.locale)
    } catch {
      guard error.code == .localeUnknown else { throw error }
      throw configuration.fault(in: .locale, "\(error.problem); \(error.remedy)")
    }
    try checkOutput(configuration)
    let installation = files.installation
    let console: ConsoleFiles
    do { console = try ConsoleFiles(folder: installation.console) } catch {
      throw CommandError(
        69,
        "\(installation.console.path(percentEncoded: false)): the console's files are missing; give the folder that holds "
          + "Console/ with --data.")
    }
    // The time that the check takes grows with the file, so the service checks the ledger while it works. If the server
    // of a ledger starts at the same moment, for example at the boot of the machine, the service waits for the server.
    // If the server does not answer in time, the service ends with the reason. The unit then shows a failure, and
    // starts the service again. A service that waited for ever would look healthy.
    let ledger = try await home.openLedger(configuration.ledger, checksIntegrity: false, patience: .seconds(30))
    let player = try makePlayer(configuration, ledger)
    let firstKey = try await FirstKey(home: home, ledger: ledger).prepare(
      isLocal: Self.isLoopback(configuration.settings.host), host: configuration.settings.host)
    let recentLog = RecentLog()
    var logger = Logger(label: "crier") {
      MultiplexLogHandler([StreamLogHandler.standardError(label: $0), RecentLog.Handler(log: recentLog)])
    }
    logger.logLevel = configuration.logLevel
    // The server and the announcer share one shelf, so the listed packs are the packs that speak. The clips are copied,
    // so that a change of the files cannot change what a running service says.
    let shelf = files.shelf(home: home, copiesPacks: true, settled: configuration.packs)
    let settingsFolder = (config.map { URL(filePath: $0) } ?? home.configuration).deletingLastPathComponent()
    let announcer = Announcer(
      phraseBooks: books, readers: AmountReaders(directory: installation.readers),
      engine: files.engine(speakers: configuration.speakers), packs: shelf,
      speechServers: try SpeechServerVoices(
        configuration.speechServers, folder: settingsFolder, verdicts: home.speechServerVerdicts))
    if settings.mostConnections < configuration.settings.mostConnections {
      logger.warning(
        "The connection limit is lower than configured, because this user's limit of open files is too low.",
        metadata: ["connections": "\(settings.mostConnections)"])
    }
    await warnOfClosedNetwork(configuration, ledger, dropIn: installation.networkDropIn)
    let plays = configuration.output != "none"
    let pushes =
      configuration.apns.isEmpty
      ? nil
      : try PushParts(
        configuration.apns, folder: settingsFolder, tokens: home.providerTokens,
        store: ledger.nodeID == nil ? nil : ledger, lifetime: Double(configuration.pushMinutes) * 60)
    var webhooks = WebhookClient.Settings()
    webhooks.allowsPrivateAddresses = configuration.allowsPrivateWebhooks
    var parts = AnnouncementServer.Parts(
      announcer: announcer, ledger: ledger, containers: home.containers, batches: home.batches,
      shelf: shelf, voices: home.voices,
      player: player,
      pushes: pushes,
      webhooks: WebhookParts(
        client: WebhookClient(settings: webhooks), allowsPrivateAddresses: configuration.allowsPrivateWebhooks),
      playerPreferences: home.playerPreferences, secret: try SigningSecret.load(home.signingSecret),
      console: console,
      accountWork: home.accountWork)
    parts.choosePack = { id, locale in
      try home.requirePrivate()
      try PackChoicesFile(home.chosenPacks).change { $0[locale] = id }
    }
    let openingHours = configuration.openingHours
    if !openingHours.isEmpty { parts.isOpen = { openingHours.span(at: $0).isWithin } }
    if ledger.nodeID != nil {
      let shared = SharedThings(
        configuration, folder: settingsFolder, home: home, installation: installation, shelf: shelf,
        announcer: announcer)
      parts.sharedThings = { await shared.contents() }
    }
    let look = InstallationLook(
      home: home, files: files, config: config.map { URL(filePath: $0) }, flags: flags,
      environment: ProcessInfo.processInfo.environment, mayOpenDevices: false)
    // The settings of a running service do not change.
    let description = ServiceDescription(
      version: Crier.configuration.version, settings: SupportBundle.settings(look),
      versions: ["system": ProcessInfo.processInfo.operatingSystemVersionString])
    parts.description = { [announcer] in
      var description = description
      description.versions["espeak-ng"] = (try? await announcer.engineIdentity())?.version
      return description
    }
    parts.supportBundle = { readiness, metrics in
      try await SupportBundle.archive(
        of: look, SupportBundle.Service(readiness: readiness, metrics: metrics, log: recentLog.lines))
    }
    let providers = ProviderFiles(home: home, data: installation.data)
    parts.providers = ProviderParts(version: { providers.version }, read: providers.endpoints)
    let server = try AnnouncementServer(parts, settings: settings, logger: logger) { [settings] port in
      let address = "http://\(settings.authority(port: port))"
      // A closed standard output does not stop the service.
      try? StandardOutput.write(Self.greeting(address, firstKey, home, plays: plays))
    }
    var group = ServiceGroupConfiguration(
      services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    group.maximumGracefulShutdownDuration = .seconds(settings.stopDeadline)
    do {
      try await ServiceGroup(configuration: group).run()
    } catch let error as IOError {
      throw Self.cannotListen(settings, String(cString: strerror(error.errnoCode)))
    } catch  where error is SocketAddressError || error is SocketAddressError.UnknownHost {
      throw Self.cannotListen(settings, "the host name cannot be resolved")
    }
  }

  private static func cannotListen(_ settings: ServiceSettings, _ reason: String) -> CommandError {
    let address = settings.authority(port: settings.port)
    return CommandError(69, "cannot listen on \(address): \(reason); choose another with --host and --port.")
  }

  /// Warns of a systemd unit that blocks pushes or webhooks.
  private func warnOfClosedNetwork(
    _ configuration: ServiceConfiguration, _ ledger: any Ledger.Store, dropIn: URL
  ) async {
    guard let unit = UnitLook.ownUnit(environment: ProcessInfo.processInfo.environment, dropIn: dropIn) else { return }
    // A ledger that is busy at this moment is no reason not to start.
    let hasEndpoints = (try? await ledger.enabledWebhookEndpoints())?.isEmpty == false
    // Receivers with private addresses may be on this machine, which the unit allows.
    let warning = unit.startWarning(
      hasPushes: configuration.usesApple, hasWebhooks: hasEndpoints && !configuration.allowsPrivateWebhooks)
    if let warning { Terminal.note("crier: \(warning)") }
  }

  /// The tone that tests the output. No kind of payments has it by default.
  private static let testTone = "tone:marimba"

  /// Checks the output, so that an invalid name is reported at start, and not when the first payment arrives.
  private func checkOutput(_ configuration: ServiceConfiguration) throws {
    guard configuration.output != "none" else { return }
    do throws(OutputError) {
      _ = try LaneOptions(output: configuration.output).name()
    } catch {
      throw configuration.invalidOutput(error)
    }
  }

  private func makePlayer(
    _ configuration: ServiceConfiguration, _ ledger: any Ledger.SeatStore
  ) throws -> PlayerParts? {
    guard configuration.output != "none" else { return nil }
    let waking = configuration.sink.waking
    let output: OutputParts
    do throws(OutputError) {
      output = try LaneOptions(output: configuration.output).parts(waking: waking, in: ledger)
    } catch {
      throw configuration.invalidOutput(error)
    }
    var settings = configuration.player
    settings.probeInterval = 30_000
    settings.remembersPause = true
    let sounds = ChimeSounds(tones: ToneDescriptions(directory: files.installation.tones))
    settings.chimes = try configuration.chimes(sounds)
    return PlayerParts(
      output: output, settings: settings,
      named: { name throws(OutputError) in try LaneOptions(output: name).parts(waking: waking, in: ledger) },
      listed: { ListedOutput.all },
      testSound: { try sounds.chime(Self.testTone) ?? Waveform(samples: [], sampleRate: 22_050) })
  }

  /// Checks that the host is an address, or a name that has one.
  ///
  /// - Throws: ``CommandError``.
  private static func requireAddress(_ settings: ServiceSettings) throws {
    var found: UnsafeMutablePointer<addrinfo>?
    defer { if let found { freeaddrinfo(found) } }
    guard getaddrinfo(settings.host, nil, nil, &found) == 0 else {
      throw cannotListen(settings, "this is not an address and not a name that has one")
    }
  }

  /// Whether only this machine can reach the address. Other names that begin with `127.` may resolve to any address.
  static func isLoopback(_ host: String) -> Bool {
    var address = in_addr()
    let isAddress = inet_pton(AF_INET, host, &address) == 1
    return host == "localhost" || host == "::1" || (isAddress && host.hasPrefix("127."))
  }

  /// Returns the text printed at start. A new key is always shown. An existing key is shown only on a terminal, so that
  /// logs contain not the key but the path of its file.
  private static func greeting(
    _ address: String, _ key: FirstKey.Greeting, _ home: CrierHome, plays: Bool
  ) -> String {
    let file = home.firstKey.path(percentEncoded: false)
    let shown: String?
    switch key {
    case .none: return "Crier is at \(address)/"
    case .noneInForce:
      return """
        Crier is at \(address)/
        Every key has expired or was revoked: create one with crier keys create.
        """
    case .made(let key): shown = key.text
    case .kept(let key): shown = Terminal.isOutput ? key.text : nil
    }
    // Every user can see the arguments of a process, so curl reads the key from its file.
    let header = Shell.quoted(home.firstKeyHeader.path(percentEncoded: false))
    return """
      Crier is at \(address)/\(shown.map { "#key=\($0)" } ?? "")
      Key: \(shown.map { "\($0) (also in \(file))" } ?? "in \(file)")
      Try: curl -sS \(address)/v1/announcements -H @\(header) -H 'Content-Type: application/json' \
      -d '{"id":"try-'"$(date +%s%N)"'","amount":"12.50","currency":"USD","locale":"en-US"\(plays ? #","deliver":["clip","play"]"# : "")}'
      """
  }
}
