// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Announcements
public import ArgumentParser
import Foundation
import Ledger
public import ServiceAccess
import VoicePacks

struct Keys: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Manages the API keys with which backends and people use the service.",
    discussion: """
      A key is shown only once, when it is created; the service stores only its digest. A running service notices new \
      and revoked keys at once.

      EXAMPLES
        crier keys create --name till
        crier keys create --scope announce --rate 20 --locale zh-CN
        crier keys link --scope till --name 'Tablet at the counter'
        crier keys create --expires 90d --address 192.0.2.0/24
        crier keys list
        crier keys rotate 7d3k9q2m --overlap 12h
        crier keys revoke 7d3k9q2m
        crier keys log
      """,
    subcommands: [Create.self, Link.self, List.self, Rotate.self, Revoke.self, Log.self])

  struct Create: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Creates a key and prints it. The key cannot be shown again.",
      discussion: "A locale, pack or group in a request takes precedence over the key's own.")

    @Option(help: "A permission of the key; may be given several times.")
    var scope: [Scope] = [.announce, .read]

    @Option(help: "The account whose announcements the key can send and read. Ids are unique within an account.")
    var account = "default"

    @Option(help: "A name for people to recognise the key by.")
    var name: String?

    @Option(help: "The default language, for requests that name no language: a BCP 47 tag such as en-US.")
    var locale: String?

    @Option(help: "The id of the default voice pack, for requests that name no pack.")
    var pack: String?

    @Option(help: "The default app group, for requests that name no group.")
    var group: String?

    @Option(help: "The most requests per second. (default: the service's limit)")
    var rate: Double?

    @Option(help: "The most requests at one moment. (default: one second's worth of --rate)")
    var burst: Int?

    @Option(
      help: """
        When the key expires: a UTC date or time such as 2027-01-31 or 2027-01-31T12:00:00Z, or a duration from now \
        such as 90d, 12h or 30m.
        """)
    var expires: String?

    @Option(
      help: "An IP address or network that may use the key; may be given several times. (default: any)")
    var address: [String] = []

    @Flag(help: "Reject payloads that have unknown keys.")
    var strict = false

    @Flag(help: "Print one line of JSON: id, key, scopes.")
    var json = false

    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws { _ = try checked() }

    private var request: KeyRequest {
      KeyRequest(
        scopes: Set(scope), account: account, name: name, locale: locale, pack: pack, group: group, rate: rate,
        burst: burst, expires: expires, addresses: address, isStrict: strict)
    }

    private func checked() throws -> KeyRequest.Checked {
      do throws(KeyRequest.Fault) {
        return try request.checked(at: Date())
      } catch {
        throw ValidationError(Self.message(error))
      }
    }

    private static func message(_ fault: KeyRequest.Fault) -> String {
      switch fault {
      case .noScopes: "--scope is missing: give one or more."
      case .deviceScope:
        "--scope device is only for keys of devices: register the device with PUT /v1/devices/{id}, which makes its "
          + "key."
      case .testAndOthers: "--scope test cannot be combined with other scopes: leave it out, or leave the others out."
      case .testAccountTooLong:
        "--account is longer than \(TestAccount.longestAccount) bytes, so it has no test keys: give a shorter one."
      case .text(let option): "--\(option) must be 1 to 255 bytes long, without control characters."
      case .accountReserved: "--account must not begin with crier:, which is reserved: choose another name."
      case .groupInvalid: "--group is not a valid app group: use letters, digits, . and -, such as group.crier."
      case .burstWithoutRate: "--burst needs --rate: give both, or drop --burst."
      case .rateInvalid(let reason): "--rate or --burst: \(reason)"
      case .expiryUnreadable(let text):
        "--expires '\(text)' is not a date or a duration: give 2027-01-31, 2027-01-31T12:00:00Z, or a duration such as "
          + "90d, 12h or 30m."
      case .expiryPast(let text): "--expires '\(text)' is in the past: give a later date."
      case .tooManyAddresses(let count): "--address is given \(count) times: give at most \(NewKey.mostAddresses)."
      case .addressInvalid(let text, let reason): "--address '\(text)' \(reason)."
      }
    }

    func perform() async throws {
      // If the default locale or pack did not exist, every request with this key would fail.
      let spoken = try locale.map { try files.phraseBooks(home: home.folder).book(for: $0).locale }
      if let pack { _ = try files.shelf(home: home.folder).manifest(id: pack) }
      if let group { GroupWarning.note(about: [group], in: "--group") }
      let key = APIKey.make()
      let ledger = try await home.folder.openLedger()
      let kept = try await ledger.createKey(request.newKey(key, try checked(), locale: spoken))
      do {
        try StandardOutput.write(
          json ? try CreatedKey(id: key.id, key: key.text, scopes: kept.scopes).jsonLine : key.text)
      } catch {
        // The key was not shown, so nobody can ever use it.
        try await ledger.revokeKey(key.id)
        throw error
      }
      Terminal.note("Key \(key.id) (\(kept.scopes.joined(separator: ", "))): store it now, it is not shown again.")
    }
  }

  struct List: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: """
        Lists the keys: id, account, scopes, name, limit, time of creation and of last use, state, allowed addresses, \
        whether payloads with unknown keys are rejected, the name in the service's log, and whether somebody signed \
        in for the key with a link.
        """)

    @Flag(help: "Print one line of JSON for each key.")
    var json = false

    @OptionGroup var home: HomeOptions

    func perform() async throws {
      let keys = try await home.folder.openLedger().keys()
      // Programs read the lines without a heading, so only a person at a terminal gets one.
      if !json, !keys.isEmpty, Terminal.isOutput { try StandardOutput.write(KeyLine.headings) }
      for key in keys {
        let line = KeyLine(key)
        try StandardOutput.write(json ? try line.jsonLine : line.text(at: Date()))
      }
      if keys.isEmpty { Terminal.note("There are no keys: create one with crier keys create.") }
    }
  }

  struct Revoke: ReportingCommand {
    static let configuration = CommandConfiguration(abstract: "Revokes a key at once. This cannot be undone.")

    @Argument(help: "The key's id, as crier keys list shows it.")
    var id: String

    @OptionGroup var home: HomeOptions

    func validate() throws { try KeyID.check(id) }

    func perform() async throws {
      guard try await home.folder.openLedger().revokeKey(id) != nil else { throw CommandError.noKey(id) }
      Terminal.note("Key \(id) is revoked.")
    }
  }
}

extension Scope: ExpressibleByArgument {
  /// The scopes that the help lists. The scope `device` is parsed too, so that the error can say how a key gets this
  /// scope.
  public static var allValueStrings: [String] { ofNewKeys.map(\.rawValue) }
}

extension CommandError {
  /// The error for an id that no key has.
  static func noKey(_ id: String) -> CommandError {
    CommandError(65, "ID \(id): no key has this id; run crier keys list to see the ids.")
  }
}

/// The output of `crier keys create --json`.
struct CreatedKey: Encodable {
  var id: String
  var key: String
  var scopes: [String]
}
