// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Announcements
import Announcer
import Foundation
import InstallationDiagnosis
import InstallationExamination
import Ledger
import Playback
import PostgreSQL
import PostgreSQLLedger
import ProviderSettings
import PushDelivery
import SoundOutputs
import SpeechServers
import ToneMaking
import VoicePacks

/// A look at all parts of an installation. It changes nothing.
struct InstallationLook {
  let home: CrierHome
  let files: DataOptions
  /// The settings file from `--config`; nil for the home folder's.
  let config: URL?
  /// The settings that were given as flags.
  let flags: [ServiceConfiguration.Name: String]
  let environment: [String: String]
  /// Whether a device may be opened, because the sound libraries are kept from changing anything.
  let mayOpenDevices: Bool

  func facts() async -> InstallationFacts {
    let now = Date()
    let (settings, configuration) = settings()
    let servers = configuration.map(pushServers) ?? []
    let pushes = await configuration.asyncMap { await self.pushes($0, servers, settings) }
    let reached = zip(servers, pushes?.servers ?? []).filter { if case .connected = $1.outcome { true } else { false } }
    let homeFacts = homeFacts()
    let ledger = await ledger(homeFacts, now: now)
    let installation = files.installation
    let speakers = configuration?.speakers ?? ProcessInfo.processInfo.activeProcessorCount
    let connections = configuration?.settings.mostConnections ?? OpenFiles.leastConnections
    let own = OpenFiles.own(speakers: speakers)
    return InstallationFacts(
      settings: settings, home: homeFacts, disk: DiskLook.look(at: home.directory), ledger: ledger,
      phraseBooks: PhraseBookLook.look(
        folder: installation.templates, readers: installation.readers, locale: configuration?.settings.locale,
        lexiconFault: lexiconFault),
      console: ConsoleFacts(
        folder: InstallationPath.text(installation.console),
        isComplete: (try? ConsoleFiles(folder: installation.console)) != nil),
      engine: await EngineLook.look(speaker: installation.speaker),
      packs: PackLook.look(
        own: home.voices, installed: installation.voices, choices: home.chosenPacks,
        settled: configuration?.packs ?? ChosenPacks(), books: try? PhraseBooks(directory: installation.templates)),
      output: await configuration.asyncMap { await output($0, homeFacts, ledger) }, port: configuration.map(port),
      pushes: pushes, speechServers: await configuration.asyncMap(speechServers),
      unit: await UnitLook.look(
        home: home.directory, hosts: reached.map(\.0.host),
        ledgerHosts: (try? ledgerSetting)?.address?.networkHosts ?? [], dropIn: installation.networkDropIn),
      clock: ClockLook.look(ledger: home.ledgerFile, ledger, now: now),
      openFiles: OpenFileFacts(
        limit: OpenFiles.reachableLimit ?? own + connections, own: own,
        leastConnections: OpenFiles.leastConnections, connections: connections))
  }

  /// Whether the home is a folder whose files this user may read as the service does.
  private func isReadable(_ home: HomeFacts) -> Bool {
    if case .folder = home.place { home.foreignOwner == nil } else { false }
  }

  // MARK: The ledger

  /// The ledger that the settings of the service name.
  ///
  /// - Throws: `ServiceConfiguration.Fault`.
  var ledgerSetting: LedgerSetting {
    get throws {
      try LedgerSetting(
        in: SettingsFile(url: config ?? home.configuration, isRequired: config != nil), environment: environment)
    }
  }

  private func ledger(_ home: HomeFacts, now: Date) async -> LedgerFacts {
    guard isReadable(home) else { return .skipped }
    switch try? ledgerSetting {
    case nil: return .unknown
    case .file: return LedgerLook.look(at: self.home.ledgerFile, now: now)
    case .server(let server):
      return await LedgerLook.look(at: server.address, passwordFile: server.passwordFile, now: now)
    }
  }

  /// The URL of the service at the address of the settings.
  var address: String {
    let configuration = try? ServiceConfiguration(flags: flags, environment: environment, file: config, home: home)
    let settings = configuration?.settings
    return "http://\(settings?.authority(port: settings?.port ?? 8080) ?? "127.0.0.1:8080")"
  }

  // MARK: The settings

  private func settings() -> (SettingsFacts, ServiceConfiguration?) {
    let file = config?.path(percentEncoded: false) ?? path(home.configuration)
    var facts = SettingsFacts(file: file, hasFile: config != nil || !CrierHome.isMissing(home.configuration))
    let configuration: ServiceConfiguration
    do {
      configuration = try ServiceConfiguration(flags: flags, environment: environment, file: config, home: home)
    } catch {
      facts.fault = "\(error)"
      return (facts, nil)
    }
    // The check of pushes reports the warning about the public URL.
    facts.warnings = configuration.warnings.filter { $0 != configuration.publicURLWarning }
    facts.isReachable = !Serve.isLoopback(configuration.settings.host)
    facts.chimeFault = Self.fault {
      try configuration.chimes(ChimeSounds(tones: ToneDescriptions(directory: files.installation.tones)))
    }
    facts.paymentProviderFault = Self.fault {
      try ProviderFiles(home: home, data: files.installation.data).endpoints()
    }
    facts.speechServerFault = Self.fault { try servers(configuration) }
    facts.providerKeyFaults = configuration.apns.compactMap { entry in
      Self.fault {
        try ProviderKey(
          file: URL(filePath: entry.keyFile, relativeTo: settingsFolder).absoluteURL, id: entry.keyID, team: entry.team)
      }
    }
    return (facts, configuration)
  }

  /// Returns the text of the error of some work; nil if there is none.
  private static func fault<Value>(_ work: () throws -> Value) -> String? {
    do {
      _ = try work()
      return nil
    } catch {
      return "\(error)"
    }
  }

  private var settingsFolder: URL { (config ?? home.configuration).deletingLastPathComponent() }

  /// The error of the user's lexicon; nil if there is none.
  private var lexiconFault: String? { Self.fault { try LexiconFile.read(nil, home: home) } }

  // MARK: The home

  private func homeFacts() -> HomeFacts {
    let folder = home.directory.path(percentEncoded: false)
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: resolved(home.directory)) else {
      return HomeFacts(place: CrierHome.isMissing(home.directory) ? .missing(maker) : .unreachable)
    }
    guard attributes[.type] as? FileAttributeType == .typeDirectory else { return HomeFacts(place: .notAFolder) }
    let owner =
      attributes[.ownerAccountName] as? String ?? (attributes[.ownerAccountID] as? Int).map { "\($0)" } ?? "unknown"
    var facts = HomeFacts(
      place: .folder(owner: owner, mode: attributes[.posixPermissions] as? Int ?? 0),
      isWritable: access(folder, W_OK | X_OK) == 0 || errno == EROFS)
    let findings = home.unsafeFiles
    if findings.contains(where: \.isForeignHome) { facts.foreignOwner = owner }
    facts.unsafeFiles = findings.map { finding in
      let code: InstallationProblem.Code =
        switch finding.fault {
        case .foreign: .foreignOwner
        case .writable: .writableByOthers
        case .readable: .readableByOthers
        }
      return InstallationProblem(code, UnsafeHome.sentence(finding), remedy: UnsafeHome.command(finding))
    }
    let secret = try? FileManager.default.attributesOfItem(atPath: resolved(home.signingSecret))
    facts.secretBytes = secret?[.size] as? Int
    return facts
  }

  /// The account that the Debian package makes for the service.
  private static let serviceAccount = "crier"

  /// Who can make the home folder, if it is missing.
  private var maker: HomeFacts.Maker {
    if geteuid() == 0 {
      return getpwnam(Self.serviceAccount) == nil ? .thisUser : .rootFor(account: Self.serviceAccount)
    }
    var above = home.directory.absoluteURL.deletingLastPathComponent()
    while above.path(percentEncoded: false) != "/", CrierHome.isMissing(above) { above.deleteLastPathComponent() }
    return access(above.path(percentEncoded: false), W_OK | X_OK) == 0 ? .thisUser : .root
  }

  private func resolved(_ file: URL) -> String { file.resolvingSymlinksInPath().path(percentEncoded: false) }

  /// The path of a file in the home folder as the user may type it.
  private func path(_ file: URL) -> String {
    home.typed.hasSuffix("/") ? home.typed + file.lastPathComponent : "\(home.typed)/\(file.lastPathComponent)"
  }

  // MARK: The pushes

  /// Returns the servers to which pushes are sent, each once.
  private func pushServers(_ configuration: ServiceConfiguration) -> [PushServer] {
    var servers: [PushServer] = []
    for entry in configuration.apns {
      for environment in entry.environments {
        let server = entry.pushServer(environment, folder: settingsFolder)
        if !servers.contains(server) { servers.append(server) }
      }
    }
    return servers
  }

  private func pushes(
    _ configuration: ServiceConfiguration, _ servers: [PushServer], _ settings: SettingsFacts
  ) async -> PushFacts {
    var facts = PushFacts(
      apps: Set(configuration.apns.flatMap(\.apps)).count, usesApple: configuration.usesApple,
      publicURLFault: configuration.publicURLWarning)
    // Without a key no push is sent, so no server needs to be tried.
    guard settings.providerKeyFaults.isEmpty else { return facts }
    for server in servers { facts.servers.append(await PushLook.look(at: server)) }
    return facts
  }

  // MARK: The speech servers

  private func servers(_ configuration: ServiceConfiguration) throws(SpeechServerError) -> SpeechServerVoices {
    try SpeechServerVoices(
      configuration.speechServers, folder: settingsFolder, verdicts: home.speechServerVerdicts)
  }

  private func speechServers(_ configuration: ServiceConfiguration) async -> [SpeechServerFacts] {
    // The check of the settings reports a key that cannot be used.
    guard let servers = try? servers(configuration) else { return [] }
    var facts: [SpeechServerFacts] = []
    for voice in servers.voices { facts.append(await SpeechServerLook.look(at: voice, of: servers)) }
    return facts
  }

  // MARK: The output and the port

  private static func lane(ofOutput output: String, in ledger: LedgerFacts) -> String {
    if case .database = ledger { PostgreSQLLedger.lane(ofOutput: output, on: .init()) } else { output }
  }

  private func output(
    _ configuration: ServiceConfiguration, _ homeFacts: HomeFacts, _ ledger: LedgerFacts
  ) async -> OutputFacts {
    var options = LaneOptions()
    options.output = configuration.output
    // The output that somebody chose through the service takes precedence over the settings.
    if options.output != "none", flags[.output] == nil,
      let chosen = PlayerParts.chosenOutput(in: self.home.playerPreferences)
    {
      options.output = chosen
    }
    var player = PlayerLook.none
    // Without a home no player runs. If the home belongs to another user, this user may have another sound server, and
    // must not take the device from the service.
    if case .missing = homeFacts.place {
    } else if let lane = try? options.lane(named: { Self.lane(ofOutput: $0, in: ledger) }) {
      player = LedgerLook.player(of: lane, in: home.ledgerFile, ledger)
    }
    return await OutputLook.look(
      name: options.output, player: player, mayOpenDevices: mayOpenDevices, environment: environment)
  }

  private func port(_ configuration: ServiceConfiguration) -> PortFacts {
    let settings = configuration.settings
    return PortLook.look(
      host: settings.host, port: settings.port, authority: settings.authority(port: settings.port))
  }
}

extension Optional {
  fileprivate func asyncMap<Result>(_ transform: (Wrapped) async -> Result) async -> Result? {
    guard let self else { return nil }
    return await transform(self)
  }
}
