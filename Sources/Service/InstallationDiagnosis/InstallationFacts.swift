// SPDX-License-Identifier: Apache-2.0

/// The facts about an installation. ``InstallationDiagnosis`` draws the conclusions.
public struct InstallationFacts: Sendable, Hashable {
  public var settings: SettingsFacts
  public var home: HomeFacts
  /// The file system of the home folder; nil if there is no home folder.
  public var disk: DiskFacts?
  public var ledger: LedgerFacts
  public var phraseBooks: PhraseBookFacts
  public var console: ConsoleFacts
  public var engine: EngineFacts
  public var packs: VoicePackFacts
  /// The output; nil if it is not known, because the settings cannot be used.
  public var output: OutputFacts?
  /// The address and the port; nil if they are not known, because the settings cannot be used.
  public var port: PortFacts?
  /// The connection to the servers of pushes; nil if the settings cannot be used.
  public var pushes: PushFacts?
  /// The speech servers; nil if the settings cannot be used. If a server's key cannot be used,
  /// ``SettingsFacts/speechServerFault`` says so.
  public var speechServers: [SpeechServerFacts]?
  /// The systemd unit that runs the service of this home; nil if none is found.
  public var unit: UnitFacts?
  public var clock: ClockFacts
  public var openFiles: OpenFileFacts

  public init(
    settings: SettingsFacts, home: HomeFacts, disk: DiskFacts?, ledger: LedgerFacts, phraseBooks: PhraseBookFacts,
    console: ConsoleFacts, engine: EngineFacts, packs: VoicePackFacts, output: OutputFacts?, port: PortFacts?,
    pushes: PushFacts?, speechServers: [SpeechServerFacts]?, unit: UnitFacts?, clock: ClockFacts,
    openFiles: OpenFileFacts
  ) {
    (self.settings, self.home, self.disk, self.ledger) = (settings, home, disk, ledger)
    (self.phraseBooks, self.console, self.engine, self.packs) = (phraseBooks, console, engine, packs)
    (self.output, self.port, self.pushes, self.unit) = (output, port, pushes, unit)
    (self.speechServers, self.clock, self.openFiles) = (speechServers, clock, openFiles)
  }
}

/// The settings of the service.
public struct SettingsFacts: Sendable, Hashable {
  /// The path of the settings file, as the user may type it.
  public var file: String
  public var hasFile: Bool
  /// The error of settings that cannot be used, with its place; nil for usable settings.
  public var fault: String?
  /// The warnings of the settings, as sentences.
  public var warnings: [String] = []
  /// The error of the sound file in the setting `chime`; nil if there is none.
  public var chimeFault: String?
  /// The errors of the provider keys in the setting `apns`.
  public var providerKeyFaults: [String] = []
  /// The error of a key or of certificates in the setting `speech_servers`; nil if there is none.
  public var speechServerFault: String?
  /// The error of providers.yaml or of a mapping file that it names; nil if there is none.
  public var paymentProviderFault: String?
  /// Whether other machines can reach the address that the service listens on.
  public var isReachable = false

  public init(file: String, hasFile: Bool) { (self.file, self.hasFile) = (file, hasFile) }
}

/// The home folder.
public struct HomeFacts: Sendable, Hashable {
  /// The user who can make a missing home folder.
  public enum Maker: Sendable, Hashable {
    /// This user can make the folder.
    case thisUser
    /// Only root, because this user may not write to the parent folder. Root makes the folder for this user.
    case root
    /// This user is root, and makes the folder for the account of the service.
    case rootFor(account: String)
  }

  public enum Place: Sendable, Hashable {
    case missing(Maker)
    case notAFolder
    /// This user may not enter the folder, or one above it.
    case unreachable
    /// - Parameters:
    ///   - owner: The name of the owner's account, or its number.
    ///   - mode: The permission bits.
    case folder(owner: String, mode: Int)
  }

  public var place: Place
  /// The files with unsafe permissions, each with the command that corrects the permissions.
  public var unsafeFiles: [InstallationProblem] = []
  /// The account to which the home belongs, if it is neither root nor the user of this program.
  public var foreignOwner: String?
  public var isWritable: Bool
  /// The size of the file with the secret that signs URLs; nil if there is none yet.
  public var secretBytes: Int?

  public init(place: Place, foreignOwner: String? = nil, isWritable: Bool = true, secretBytes: Int? = nil) {
    (self.place, self.foreignOwner, self.isWritable, self.secretBytes) = (place, foreignOwner, isWritable, secretBytes)
  }
}

/// The file system of the home folder.
public struct DiskFacts: Sendable, Hashable {
  /// The space that this user can still use, in bytes; nil if it is not known.
  public var freeBytes: Int64?
  public var totalBytes: Int64?
  /// The number of files that can still be made; nil if the file system has no limit of its own.
  public var freeFiles: Int64?
  public var isReadOnly: Bool
  /// The kind of a network file system, such as `NFS`; nil for a local one.
  public var network: String?

  public init(
    freeBytes: Int64?, totalBytes: Int64?, freeFiles: Int64? = nil, isReadOnly: Bool = false, network: String? = nil
  ) {
    (self.freeBytes, self.totalBytes, self.freeFiles) = (freeBytes, totalBytes, freeFiles)
    (self.isReadOnly, self.network) = (isReadOnly, network)
  }
}

/// The ledger.
public enum LedgerFacts: Sendable, Hashable {
  /// The numbers of keys.
  public struct Keys: Sendable, Hashable {
    public var inForce: Int
    /// The number of keys that have expired or were revoked.
    public var ended: Int

    public init(inForce: Int, ended: Int) { (self.inForce, self.ended) = (inForce, ended) }
  }

  /// The contents of the ledger.
  public struct Contents: Sendable, Hashable {
    public var keys: Keys
    /// The number of webhook endpoints that are not disabled.
    public var webhookEndpoints: Int
    /// The number of deliveries that two crashes of the service in a row interrupted.
    public var setAside: Int

    public init(keys: Keys, webhookEndpoints: Int = 0, setAside: Int = 0) {
      (self.keys, self.webhookEndpoints, self.setAside) = (keys, webhookEndpoints, setAside)
    }
  }

  public enum Obstacle: Sendable, Hashable {
    case damaged, newer, older, foreign
    /// The file has a log, but the log's index is missing, so reading would write the index.
    case unindexed
    /// Any other error, as a phrase.
    case other(String)
  }

  /// There is no file yet.
  case missing
  /// The home could not be read.
  case skipped
  /// The settings, which name the ledger, cannot be used.
  case unknown
  case unreadable(Obstacle)
  /// SQLite checked every page of the file.
  ///
  /// - Parameters:
  ///   - isOpen: Whether the file has a log, for example because a program has it open.
  ///   - webhookEndpoints: The number of webhook endpoints that are not disabled.
  ///   - setAside: The number of deliveries that two crashes of the service in a row interrupted.
  case sound(bytes: Int64, isOpen: Bool, keys: Keys, webhookEndpoints: Int = 0, setAside: Int = 0)
  /// The ledger is on a PostgreSQL server.
  case database(DatabaseFacts)

  /// The contents of the ledger; nil if the ledger could not be read. A ledger that does not exist yet is empty.
  var contents: Contents? {
    let empty = Contents(keys: Keys(inForce: 0, ended: 0))
    switch self {
    case .skipped, .unknown, .unreadable: return nil
    case .missing: return empty
    case .sound(_, _, let keys, let endpoints, let setAside):
      return Contents(keys: keys, webhookEndpoints: endpoints, setAside: setAside)
    case .database(let facts): return facts.answer?.tables == DatabaseFacts.Tables.none ? empty : facts.answer?.contents
    }
  }
}

/// The phrase books and the user's lexicon.
public struct PhraseBookFacts: Sendable, Hashable {
  /// A book that cannot be used.
  public struct Broken: Sendable, Hashable {
    public var locale: String
    /// The error, as a sentence.
    public var error: String

    public init(locale: String, error: String) { (self.locale, self.error) = (locale, error) }
  }

  /// The folder that was looked at.
  public var folder: String
  public var locales: [String]
  public var broken: [Broken] = []
  /// The error if there are no phrase books; nil otherwise.
  public var missing: String?
  /// The error of the default locale; nil if it has a phrase book.
  public var defaultLocaleFault: String?
  /// The error of the lexicon; nil if there is none.
  public var lexiconFault: String?

  public init(folder: String, locales: [String] = [], lexiconFault: String? = nil) {
    (self.folder, self.locales, self.lexiconFault) = (folder, locales, lexiconFault)
  }
}

/// The files of the web console.
public struct ConsoleFacts: Sendable, Hashable {
  public var folder: String
  public var isComplete: Bool

  public init(folder: String, isComplete: Bool) { (self.folder, self.isComplete) = (folder, isComplete) }
}

/// The speech engine.
public enum EngineFacts: Sendable, Hashable {
  /// The engine spoke a word in its sandbox.
  ///
  /// - Parameters:
  ///   - identity: The engine's version and the fingerprint of its data.
  ///   - milliseconds: The time from the start of the speaker program to the spoken word.
  case ready(identity: String, milliseconds: Int)
  case speakerMissing(program: String)
  case dataMissing
  case sandboxUnavailable
  /// Any other error, with what to do next.
  case failed(problem: String, remedy: String)
}

/// The voice packs.
public struct VoicePackFacts: Sendable, Hashable {
  public enum Condition: Sendable, Hashable {
    /// Every clip has its digest.
    ///
    /// - Parameters:
    ///   - digest: The pack's digest, 64 hexadecimal digits.
    ///   - locale: The locale that the pack speaks.
    ///   - lacking: The number of words that announcements may need and the pack does not have.
    case sound(digest: String, locale: String, lacking: Int)
    /// The pack cannot be read.
    case unusable(String)
    /// A file of the pack does not have its digest.
    case changed(file: String)
  }

  public struct Pack: Sendable, Hashable {
    public var id: String
    /// Whether the pack is in the home folder, and not part of the installation.
    public var isUsers: Bool
    public var condition: Condition

    public init(id: String, isUsers: Bool, condition: Condition) {
      (self.id, self.isUsers, self.condition) = (id, isUsers, condition)
    }
  }

  /// A pack that was chosen for a locale and does not exist.
  public struct MissingChoice: Sendable, Hashable {
    public var locale: String
    public var id: String
    /// Whether the service's settings chose the pack, and not `crier voices use`.
    public var isSetting: Bool

    public init(locale: String, id: String, isSetting: Bool) {
      (self.locale, self.id, self.isSetting) = (locale, id, isSetting)
    }
  }

  public var packs: [Pack]
  public var missingChoices: [MissingChoice]
  /// The error of the file with the chosen packs; nil if it can be read.
  public var choicesFault: String?

  public init(packs: [Pack] = [], missingChoices: [MissingChoice] = [], choicesFault: String? = nil) {
    (self.packs, self.missingChoices, self.choicesFault) = (packs, missingChoices, choicesFault)
  }
}
