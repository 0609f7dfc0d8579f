// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Announcements
import Announcer
import ConcurrencySupport
import Crypto
import Foundation
import Ledger
import PushDelivery
import PushMessages
import SpeechEngine
import SpeechServers
import VoicePacks

/// The things that must be the same on all nodes of a ledger, as this process uses them.
///
/// The service reads its settings, the lexicon, the keys of pushes and speech servers, the chimes and the files of the
/// program only when it starts, so these stay as they were then: a file that was changed since has no effect yet. It
/// follows the changes of all other files.
struct SharedThings: Sendable {
  private let home: CrierHome
  private let shelf: VoicePackShelf
  private let announcer: Announcer
  private let speechServers: Data
  /// The things that do not change while the process runs.
  private let settled: [Ledger.SharedThing: Data]

  /// Reads what does not change while the process runs.
  ///
  /// - Parameter folder: The folder of the settings file, from which the relative paths of keys count.
  init(
    _ configuration: ServiceConfiguration, folder: URL, home: CrierHome, installation: Installation,
    shelf: VoicePackShelf, announcer: Announcer
  ) {
    (self.home, self.shelf, self.announcer) = (home, shelf, announcer)
    speechServers = Self.content(of: configuration.speechServers, folder: folder)
    var settled: [Ledger.SharedThing: Data] = [
      .lexicon: Self.bytes(of: home.lexicon), .pushKeys: Self.content(of: configuration.apns, folder: folder),
      .programFiles: Self.content(of: installation),
    ]
    for setting in configuration.all where !setting.name.belongsToMachine {
      // Without the setting, a service uses the time zone of its machine.
      let value = setting.name == .timeZone ? configuration.settings.timeZone.identifier : setting.value
      settled[.setting(setting.name.rawValue)] = Data(value.utf8)
    }
    if configuration.output != "none" {
      var content = SharedContent()
      content.add(ChimeSounds.content(of: configuration.chime))
      for (kind, text) in configuration.chimes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        content.add(kind.rawValue)
        content.add(ChimeSounds.content(of: text))
      }
      settled[.chimes] = content.bytes
    }
    self.settled = settled
  }

  /// Returns the bytes of each thing. Some of them are secrets.
  func contents() async -> [Ledger.SharedThing: Data] {
    let engine = try? await announcer.engineIdentity().description
    return await onWaitingThread {
      var things = settled
      // An engine that fails is reported elsewhere.
      if let engine { things[.engine] = Data(engine.utf8) }
      things[.providers] = providers
      var servers = SharedContent()
      servers.add(speechServers)
      // Without servers, old verdicts have no effect.
      if !speechServers.isEmpty { servers.add(Self.bytes(of: home.speechServerVerdicts)) }
      things[.speechServers] = servers.bytes
      var (own, installed) = (SharedContent(), SharedContent())
      for choice in shelf.choices { own.add("\(choice.locale.lowercased())=\(choice.id)") }
      let place = home.voices.standardizedFileURL.path(percentEncoded: false)
      for id in shelf.ids {
        guard let folder = shelf.directory(id: id)?.deletingLastPathComponent().standardizedFileURL else { continue }
        let text = "\(id) \((try? shelf.manifest(id: id).digest) ?? "broken")"
        if folder.path(percentEncoded: false) == place { own.add(text) } else { installed.add(text) }
      }
      (things[.packs], things[.installedPacks]) = (own.bytes, installed.bytes)
      return things
    }
  }

  /// `providers.yaml`, and the mapping files in the home folder that it names. The other mapping files come with the
  /// program.
  private var providers: Data {
    var content = SharedContent()
    let settings = Self.bytes(of: home.providers)
    content.add(settings)
    let text = String(decoding: settings, as: UTF8.self)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: home.directory.path(percentEncoded: false))) ?? []
    for name in names.sorted() where name.hasSuffix(".yaml") && text.contains(name) {
      content.add(name)
      content.add(Self.bytes(of: home.directory.appending(path: name)))
    }
    return content.bytes
  }

  // MARK: Reading

  /// Returns the bytes of a file; empty for a file that is missing or cannot be read.
  private static func bytes(of file: URL?) -> Data { file.flatMap { try? Data(contentsOf: $0) } ?? Data() }

  private static func content(of entries: [PushAppSetting], folder: URL) -> Data {
    var content = SharedContent()
    let lines = entries.map { entry in
      var line = SharedContent()
      let key = try? ProviderKey(
        file: URL(filePath: entry.keyFile, relativeTo: folder).absoluteURL, id: entry.keyID, team: entry.team)
      for part in entry.apps.sorted() + entry.environments.map(\.rawValue).sorted() { line.add(part) }
      for part in [entry.keyID, entry.team, entry.server ?? ""] { line.add(part) }
      line.add(key?.publicKey.rawRepresentation ?? Data())
      line.add(bytes(of: entry.certificates.map { URL(filePath: $0, relativeTo: folder) }))
      return line.bytes
    }
    // The order of the entries has no meaning.
    for line in lines.sorted(by: { $0.lexicographicallyPrecedes($1) }) { content.add(line) }
    return content.bytes
  }

  /// - Returns: Empty if there are no entries.
  private static func content(of entries: [SpeechServerSetting], folder: URL) -> Data {
    var content = SharedContent()
    for entry in entries {
      let server = entry.server
      for part in [
        server.id, server.address.text, server.voice, server.model, "\(server.soundForm)",
        server.locales.joined(separator: " "), "\(server.speedPercent)", "\(server.mostAtOnce)",
        server.saysAmounts.map { "\($0)" } ?? "", "\(server.hearsNames)", "\(server.limits.whole)",
      ] {
        content.add(part)
      }
      for path in [entry.keyFile, entry.certificates] {
        content.add(bytes(of: path.map { URL(filePath: $0, relativeTo: folder) }))
      }
    }
    return content.bytes
  }

  /// The books, readers, mapping files and tones of the program.
  private static func content(of installation: Installation) -> Data {
    var content = SharedContent()
    let providers = installation.data.appending(path: "Providers", directoryHint: .isDirectory)
    for folder in [installation.templates, installation.readers, providers, installation.tones] {
      let path = folder.path(percentEncoded: false)
      let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
      content.add("\(folder.lastPathComponent): \(names.count)")
      for name in names.sorted() {
        content.add(name)
        content.add(Data(SHA256.hash(data: bytes(of: folder.appending(path: name)))))
      }
    }
    return content.bytes
  }
}

/// Bytes made of parts. Different lists of parts never give the same bytes.
struct SharedContent {
  private(set) var bytes = Data()

  mutating func add(_ part: Data) { bytes += Data("\(part.count):".utf8) + part }

  mutating func add(_ part: String) { add(Data(part.utf8)) }
}

extension ServiceConfiguration.Name {
  /// Whether the setting may differ between the nodes of a ledger: it belongs to the machine or to its loudspeaker, or
  /// ``SharedThings`` has what it names.
  var belongsToMachine: Bool {
    switch self {
    // The machine
    case .host, .port, .hosts, .ledger, .ledgerPasswordFile, .speakers, .cacheMegabytes, .soundMegabytes, .soundFiles,
      .connections, .logLevel:
      true
    // The loudspeaker and its queue
    case .output, .volume, .gap, .leadIn, .wakeSound, .keepAwake, .takeOver, .resumeAfter, .resumeAtStart,
      .missingNumber, .backlogPayments, .backlogSeconds, .quietHours, .quietSummary, .volumes, .alarmDevice,
      .alarmPaused, .alarmQueue:
      true
    // Things of their own
    case .chime, .chimes, .packs, .apns, .speechServers: true
    case .locale, .group, .groups, .rate, .burst, .batches, .proxies, .clipsAtOnce, .clipsADay, .clipMegabytesADay,
      .eventStreams, .batchStreams, .keyFailures, .publicURL, .alarmSilent, .smallSums, .urlDays, .retentionDays,
      .requestSeconds, .stopSeconds, .pushMinutes, .libraryPushSeconds, .webhookPrivateAddresses, .timeZone,
      .openingHours:
      false
    }
  }
}
