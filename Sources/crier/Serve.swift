// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Announcements
import Announcer
import ArgumentParser
import Foundation
import Ledger
import Logging
import NIOCore
import Playback
import PlaybackOrder
import ServiceAccess
import ServiceLifecycle
import SoundOutputs
import UnixSignals
import VoicePacks

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The HTTP service, its player, and its console.",
    discussion: """
      It prints where the console is, and, while the key of its first start is in force, that key and a command that makes \
      a clip. On an address of other machines it starts only when there is a key: see crier keys create.

      Every setting of --print-config may stand in crier.yaml of the home, or in the environment as CRIER_ and its name in \
      capitals; a flag comes before both. Messages go to standard error.

      EXAMPLES
        crier serve
        crier serve --port 8099 --output alsa:plughw:1,0
        CRIER_RATE=50 crier serve --print-config
      """)

  @Option(help: "The address it listens on. (default: 127.0.0.1)")
  var host: String?

  @Option(help: "The port; 0 for any that is free. (default: 8080)")
  var port: String?

  @Option(help: "Everything it keeps. (default: $CRIER_HOME)", completion: .directory)
  var home: String?

  @Option(help: "Where it plays: default, alsa:NAME, null, file:PATH, or none. (default: default)")
  var output: String?

  @Option(help: "The language of announcements that name none, by BCP 47. (default: en-US)")
  var locale: String?

  @Option(help: "A file of settings. (default: crier.yaml of the home, where there is one)", completion: .file())
  var config: String?

  @Flag(help: "Print every setting, and where it comes from, and end.")
  var printConfig = false

  @OptionGroup(title: "Files") var files: DataOptions

  func validate() throws {
    for (option, value) in [("home", home), ("config", config)] where value == "" {
      throw ValidationError("--\(option) is empty: name a \(option == "home" ? "folder" : "file").")
    }
  }

  func run() async throws {
    try await Failures.reported {
      let home = CrierHome(home)
      // Before a setting of it is believed.
      if !printConfig { try home.requirePrivate() }
      let given: [(ServiceConfiguration.Name, String?)] = [
        (.host, host), (.port, port), (.output, output), (.locale, locale),
      ]
      let configuration = try await ServiceConfiguration(
        flags: Dictionary(uniqueKeysWithValues: given.compactMap { name, value in value.map { (name, $0) } }),
        environment: ProcessInfo.processInfo.environment, file: config.map { URL(filePath: $0) }, home: home)
      if printConfig { return try StandardOutput.write(configuration.yaml) }
      PrivateProcess.leaveNoCoreFile()
      try await serve(configuration, home)
    }
  }

  private func serve(_ configuration: ServiceConfiguration, _ home: CrierHome) async throws {
    // Clients that go away are told by a write's result.
    signal(SIGPIPE, SIG_IGN)
    var settings = configuration.settings
    settings.mostConnections = try OpenFiles.connections(
      atMost: settings.mostConnections, speakers: configuration.speakers)
    let books = try files.phraseBooks(home: home)
    _ = try books.book(for: configuration.settings.locale)
    let player = try makePlayer(configuration)
    let installation = files.installation
    let console: ConsoleFiles
    do { console = try ConsoleFiles(folder: installation.console) } catch {
      throw NoConsole(folder: installation.console)
    }
    let ledger = try home.openLedger()
    let firstKey = try await FirstKey(home: home, ledger: ledger).prepare(
      isLocal: Self.isLoopback(configuration.settings.host), host: configuration.settings.host)
    var logger = Logger(label: "crier") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = configuration.logLevel
    // One for all: what is listed is what speaks.
    let shelf = VoicePackShelf(folders: [home.voices, installation.voices])
    let announcer = Announcer(
      phraseBooks: books, engine: files.engine(speakers: configuration.speakers), packs: shelf)
    if settings.mostConnections < configuration.settings.mostConnections {
      logger.warning(
        "Fewer connections than are set may be open: this user's limit of open files is lower.",
        metadata: ["connections": "\(settings.mostConnections)"])
    }
    let plays = configuration.output != "none"
    let server = try AnnouncementServer(
      AnnouncementServer.Parts(
        announcer: announcer, ledger: ledger, containers: home.containers, batches: home.batches,
        shelf: shelf,
        player: player.map { lane, output, settings in
          (lane, { try Player(lane: lane, ledger: ledger, output: output(), render: $0, settings: settings) })
        },
        secret: try SigningSecret.load(home.signingSecret), console: console,
        accountWork: home.accountWork),
      settings: settings, logger: logger
    ) { [settings] port in
      let address = "http://\(settings.host.contains(":") ? "[\(settings.host)]" : settings.host):\(port)"
      // Whoever reads them may have gone; the service goes on.
      try? StandardOutput.write(Self.greeting(address, firstKey, home, plays: plays))
    }
    var group = ServiceGroupConfiguration(
      services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    group.maximumGracefulShutdownDuration = .seconds(settings.stopDeadline)
    do {
      try await ServiceGroup(configuration: group).run()
    } catch let error as IOError {
      throw CannotListen(
        address: "\(settings.host):\(settings.port)", reason: String(cString: strerror(error.errnoCode)))
    } catch  where error is SocketAddressError || error is SocketAddressError.UnknownHost {
      throw CannotListen(address: "\(settings.host):\(settings.port)", reason: "the name has no address")
    }
  }

  private typealias LaneParts = (
    lane: String, output: @Sendable () throws(OutputError) -> any SoundOutput, settings: Player.Settings
  )

  private func makePlayer(_ configuration: ServiceConfiguration) throws -> LaneParts? {
    guard configuration.output != "none" else { return nil }
    var lane = LaneOptions()
    lane.output = configuration.output
    let name = try lane.name()
    var settings = Player.Settings()
    settings.volume = configuration.volume
    settings.gap = Int64(configuration.gap)
    if !configuration.chime.isEmpty { settings.chime = try PlayableFile.chime(of: URL(filePath: configuration.chime)) }
    settings.order.sequencePatience = Int64(configuration.missingNumberMilliseconds)
    if configuration.backlogPayments > 0 { settings.order.longestBacklog = configuration.backlogPayments }
    if configuration.backlogSeconds > 0 {
      settings.order.longestBacklogMilliseconds = Int64(configuration.backlogSeconds) * 1000
    }
    // A name that is none is told now and not when the first payment comes.
    _ = try name.makeOutput()
    return (try lane.lane(), { () throws(OutputError) in try name.makeOutput() }, settings)
  }

  /// Whether nobody but this machine can call: an address, or the one name that always is one. What else begins with
  /// `127.` may be a name of anything.
  static func isLoopback(_ host: String) -> Bool {
    var address = in_addr()
    let isAddress = inet_pton(AF_INET, host, &address) == 1
    return host == "localhost" || host == "::1" || (isAddress && host.hasPrefix("127."))
  }

  /// A key is shown when it is made, and to people later; what goes on into a log says where it is.
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
        Every key has expired or was revoked: make one with crier keys create.
        """
    case .made(let key): shown = key.text
    case .kept(let key): shown = isatty(STDOUT_FILENO) == 1 ? key.text : nil
    }
    // What stands on a command line is seen by all who list processes: curl reads the key from its file.
    let header = Shell.quoted(home.firstKeyHeader.path(percentEncoded: false))
    return """
      Crier is at \(address)/\(shown.map { "#key=\($0)" } ?? "")
      Key: \(shown.map { "\($0) (also in \(file))" } ?? "in \(file)")
      Try: curl -sS \(address)/v1/announcements -H @\(header) -H 'Content-Type: application/json' \
      -d '{"id":"first","amount":"12.50","currency":"USD","locale":"en-US"\(plays ? #","deliver":["clip","play"]"# : "")}'
      """
  }
}

/// The data is not all there.
struct NoConsole: Error, CustomStringConvertible {
  var folder: URL
  var description: String {
    "\(folder.path(percentEncoded: false)): the console's files are not there; name the folder that holds Console/ with "
      + "--data."
  }
}

/// The port is taken, or the address is not this machine's.
struct CannotListen: Error, CustomStringConvertible {
  var address: String
  var reason: String
  var description: String { "cannot listen on \(address): \(reason); choose others with --host and --port." }
}

/// Off loopback there is to be a key before there is a service.
struct NoKeys: Error, CustomStringConvertible {
  var host: String
  var description: String {
    "--host \(host): other machines could call the service, and there is no key; make one with crier keys create."
  }
}

/// A connection is a file, and a process that has none left for its own is ended by the system's libraries.
enum OpenFiles {
  /// This user's limit is too low for a service.
  struct TooFew: Error, CustomStringConvertible {
    var limit: Int
    var needed: Int
    var description: String {
      "the limit of open files is \(limit), and the service needs \(needed); raise it with ulimit -n or LimitNOFILE."
    }
  }

  /// Raises the limit as far as it goes.
  ///
  /// - Returns: as many connections as may be open beside the service's own files.
  /// - Throws: ``TooFew``.
  static func connections(atMost most: Int, speakers: Int) throws(TooFew) -> Int {
    var limit = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    guard getrlimit(resource, &limit) == 0 else { return most }
    limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, 65_536))
    _ = setrlimit(resource, &limit)
    guard getrlimit(resource, &limit) == 0 else { return most }
    let files = Int(clamping: limit.rlim_cur)
    let own = 128 + 4 * speakers
    guard files >= own + 16 else { throw TooFew(limit: files, needed: own + 16) }
    return min(most, files - own)
  }
}
