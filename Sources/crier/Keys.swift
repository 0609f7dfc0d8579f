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
        crier keys create --expires 90d --address 192.0.2.0/24
        crier keys list
        crier keys rotate 7d3k9q2m --overlap 12h
        crier keys revoke 7d3k9q2m
        crier keys log
      """,
    subcommands: [Create.self, List.self, Rotate.self, Revoke.self, Log.self])

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

    @Option(help: "When it expires: 2027-01-31 or 2027-01-31T12:00:00Z (UTC), or after how long: 90d, 12h, 30m.")
    var expires: String?

    @Option(
      help: "An address or a network from which it may be used; may be given several times. (default: everywhere)")
    var address: [String] = []

    @Flag(help: "Refuse payloads with unknown keys.")
    var strict = false

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
      _ = try expiry(at: Date())
      _ = try networks
    }

    private func expiry(at now: Date) throws -> Date? {
      guard let expires else { return nil }
      guard let expiry = KeyTimes.moment(expires, now: now) else {
        throw ValidationError(
          "--expires '\(expires)' is no date and no duration: give 2027-01-31, 2027-01-31T12:00:00Z, or a duration such "
            + "as 90d, 12h or 30m.")
      }
      guard expiry > now else { throw ValidationError("--expires '\(expires)' has passed: give a later date.") }
      return expiry
    }

    private var networks: [IPNetwork] {
      get throws {
        guard address.count <= NewKey.mostAddresses else {
          throw ValidationError("--address stands \(address.count) times: give at most \(NewKey.mostAddresses).")
        }
        return try address.map { text in
          do {
            return try IPNetwork(text)
          } catch {
            throw ValidationError("--address '\(text)' \(error).")
          }
        }
      }
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
            pack: pack, group: group, rate: try limit.map { NewKey.Rate(perSecond: $0.rate, burst: $0.burst) },
            expiresAt: try expiry(at: Date()), addresses: try networks.map(\.description), isStrict: strict))
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
        Lists the keys: id, account, scopes, name, limit, when it was made and last used, whether it is in force, from \
        where it may be used, whether it is strict, and what the service's log calls it.
        """)

    @Flag(help: "Print a line of JSON for each key.")
    var json = false

    func run() async throws {
      try await Failures.reported {
        let keys = try await CrierHome().openLedger().keys()
        for key in keys {
          let line = KeyLine(key)
          try StandardOutput.write(json ? try line.json : line.text(at: Date()))
        }
        if keys.isEmpty { Terminal.note("There is no key: make one with crier keys create.") }
      }
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Revokes a key, at once and for good.")

    @Argument(help: "The key's id, as crier keys list shows it.")
    var id: String

    func validate() throws { try KeyID.check(id) }

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
struct CreatedKey: Encodable {
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
