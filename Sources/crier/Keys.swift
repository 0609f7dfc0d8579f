// SPDX-License-Identifier: Apache-2.0

import Announcements
public import ArgumentParser
import Foundation
import Ledger
public import ServiceAccess
import SoundLibrary
import VoicePacks

struct Keys: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Keys with which backends call the service.",
    discussion: """
      A key is shown once, when it is made; what is kept is a digest of it. A running service knows of a new or a revoked \
      key at once.

      EXAMPLES
        crier keys create --name till
        crier keys create --scope announce --rate 20 --locale zh-CN
        crier keys list
        crier keys revoke 7d3k9q2m
      """,
    subcommands: [Create.self, List.self, Revoke.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a key and prints it, this once.",
      discussion: "What a request says of locale, pack or group comes before what its key has.")

    @Option(help: "What the key may be used for; may be given several times.")
    var scope: [Scope] = [.announce, .read]

    @Option(help: "Whose announcements it sends and sees: ids are unique in an account.")
    var account = "default"

    @Option(help: "What people call it.")
    var name: String?

    @Option(help: "The language of requests that name none, by BCP 47.")
    var locale: String?

    @Option(help: "The voice pack of requests that name none, by its id.")
    var pack: String?

    @Option(help: "The app group of requests that name none.")
    var group: String?

    @Option(help: "Requests a second that it may send; without it, what the service allows.")
    var rate: Double?

    @Option(help: "Requests that may come at once. (default: those of a second)")
    var burst: Int?

    @Flag(help: "Print one line of JSON: id, key, scopes.")
    var json = false

    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws {
      for (option, value) in [("account", account), ("name", name), ("locale", locale), ("pack", pack)] {
        guard let value else { continue }
        let isPlain = value.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard (1...255).contains(value.utf8.count), isPlain else {
          throw ValidationError("--\(option) must have 1 to 255 bytes, and no control characters.")
        }
      }
      if account.hasPrefix("crier:") {
        throw ValidationError("--account must not begin with crier:, which is for the player itself.")
      }
      if let group, !GroupContainer.isGroupName(group) {
        throw ValidationError("--group is no group: give letters, digits, . and -, such as group.crier.")
      }
      if rate == nil, burst != nil { throw ValidationError("--burst goes with --rate.") }
      _ = try limit
    }

    private var limit: RateLimit? {
      get throws {
        guard let rate else { return nil }
        do {
          return try RateLimit(rate: rate, burst: burst)
        } catch {
          throw ValidationError("--rate or --burst: \(error)")
        }
      }
    }

    func run() async throws {
      try await Failures.reported {
        // A default that nobody can speak would make every request fail.
        let spoken = try locale.map { try files.phraseBooks().book(for: $0).locale }
        if let pack { _ = try files.shelf.manifest(id: pack) }
        let key = APIKey.make()
        let ledger = try CrierHome().openLedger()
        let kept = try await ledger.createKey(
          NewKey(
            id: key.id, account: account, digest: key.digest, scopes: Set(scope).names, name: name, locale: spoken,
            pack: pack, group: group, rate: try limit.map { NewKey.Rate(perSecond: $0.rate, burst: $0.burst) }))
        do {
          try StandardOutput.write(
            json ? try CreatedKey(id: key.id, key: key.text, scopes: kept.scopes).json : key.text)
        } catch {
          // Nobody has it, and nobody will.
          try await ledger.revokeKey(key.id)
          throw error
        }
        Terminal.note("Key \(key.id) (\(kept.scopes.joined(separator: ", "))): it is shown this once, so keep it now.")
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: """
        Lists the keys: id, account, scopes, name, limit, when it was made, last used and revoked, and what the log calls \
        it.
        """)

    @Flag(help: "Print a line of JSON for each key.")
    var json = false

    func run() async throws {
      try await Failures.reported {
        let keys = try await CrierHome().openLedger().keys()
        for key in keys {
          let line = KeyLine(key)
          try StandardOutput.write(json ? try line.json : line.text)
        }
        if keys.isEmpty { Terminal.note("There is no key: make one with crier keys create.") }
      }
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Revokes a key, at once and for good.")

    @Argument(help: "The key's id, as crier keys list shows it.")
    var id: String

    func validate() throws {
      guard APIKey.isID(id) else {
        throw ValidationError("ID is none: give the 8 letters and digits that crier keys list shows, not the key.")
      }
    }

    func run() async throws {
      try await Failures.reported {
        guard try await CrierHome().openLedger().revokeKey(id) != nil else { throw NoKey(id: id) }
        Terminal.note("Key \(id) is revoked.")
      }
    }
  }
}

extension Scope: ExpressibleByArgument {}

/// No key has that id.
struct NoKey: Error, CustomStringConvertible {
  var id: String
  var description: String { "ID \(id): is no key's; see crier keys list." }
}

/// `crier keys create --json`.
private struct CreatedKey: Encodable {
  var id: String
  var key: String
  var scopes: [String]

  var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}

/// A line of `crier keys list`.
private struct KeyLine: Encodable {
  var id: String
  var account: String
  var scopes: [String]
  var name: String?
  var locale: String?
  var pack: String?
  var group: String?
  /// Requests a second.
  var rate: Double?
  var burst: Int?
  var createdAt: Date
  var lastUsedAt: Date?
  var revokedAt: Date?
  /// What stands for the key in the service's log.
  var logName: String

  enum CodingKeys: String, CodingKey {
    case id, account, scopes, name, locale, pack, group, rate, burst
    case logName = "log_name"
    case createdAt = "created_at"
    case lastUsedAt = "last_used_at"
    case revokedAt = "revoked_at"
  }

  init(_ key: Ledger.Key) {
    (id, account, scopes, name) = (key.id, key.account, key.scopes, key.name)
    (locale, pack, group) = (key.locale, key.pack, key.group)
    (rate, burst) = (key.rate?.perSecond, key.rate?.burst)
    (createdAt, lastUsedAt, revokedAt) = (key.createdAt, key.lastUsedAt, key.revokedAt)
    logName = APIKey.logName(ofDigest: key.digest)
  }

  var text: String {
    let limit = rate.map { "\($0.formatted(.number.locale(Locale(identifier: "en_US_POSIX")))) a second" }
    return [
      id, Terminal.printable(account), scopes.joined(separator: ","), Terminal.printable(name ?? "-"),
      limit ?? "no limit", "made \(Self.time(createdAt))", lastUsedAt.map { "used \(Self.time($0))" } ?? "not used",
      revokedAt.map { "revoked \(Self.time($0))" } ?? "in force", "logged as \(logName)",
    ].joined(separator: "\t")
  }

  var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.dateEncodingStrategy = .iso8601
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  private static func time(_ date: Date) -> String { date.formatted(.iso8601) }
}
