// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import ServiceAccess
import SQLiteLedger
import Testing

@Suite("crier keys")
struct KeysCommandTests {
  private struct Created: Decodable {
    var id: String
    var key: String
    var scopes: [String]
  }

  private func ledger(_ crier: Command) throws -> any Ledger.Store {
    try SQLiteLedger(at: crier.directory.appending(path: "home/ledger.sqlite"))
  }

  private func create(_ crier: Command, _ flags: String...) throws -> Created {
    let result = try crier.run(["keys", "create", "--json"] + flags)
    #expect(result.status == 0, "\(result.message)")
    return try JSONDecoder().decode(Created.self, from: Data(result.output.utf8))
  }

  @Test("crier keys create prints the key on its own line, and the ledger stores its digest and not the key")
  func create() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("keys", "create")
    #expect(result.status == 0)
    let key = try APIKey(try #require(result.output.split(separator: "\n").map(String.init).first))
    #expect(result.output == key.text + "\n")
    #expect(result.message == "Key \(key.id) (announce, read): store it now, it is not shown again.\n")

    let kept = try #require(try await ledger(crier).key(digest: key.digest))
    #expect(kept.id == key.id && kept.account == "default" && kept.scopes == ["announce", "read"])
    #expect(kept.name == nil && kept.locale == nil && kept.pack == nil && kept.group == nil && kept.rate == nil)
    let secret = Data(key.text.suffix(43).utf8)
    let home = crier.directory.appending(path: "home")
    for file in try FileManager.default.contentsOfDirectory(at: home, includingPropertiesForKeys: nil) {
      #expect(try Data(contentsOf: file).range(of: secret) == nil, "\(file.lastPathComponent)")
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("crier keys create --json prints one line with id, key and scopes, and nothing else")
  func json() throws {
    let crier = try Command()
    defer { crier.remove() }
    let output = try crier("keys", "create", "--json", "--scope", "play", "--scope", "announce").output
    #expect(
      output.wholeMatch(
        of: /\{"id":"([0-9a-z]{8})","key":"crier_\1_[A-Za-z0-9_-]{43}","scopes":\["announce","play"\]\}\n/) != nil)
  }

  @Test("crier keys create stores all properties of a key")
  func everything() async throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("voices", "build", "--locale", "en-US", "--id", "my-shop").status == 0)
    let created = try create(
      crier, "--scope", "admin", "--scope", "admin", "--account", "shop 7", "--name", "till 收银", "--locale", "en_us",
      "--pack", "my-shop", "--group", "group.shop", "--rate", "2.5")
    #expect(created.scopes == ["admin"])
    let kept = try #require(try await ledger(crier).key(id: created.id))
    #expect(kept.account == "shop 7" && kept.name == "till 收银" && kept.scopes == ["admin"])
    #expect(kept.locale == "en-US" && kept.pack == "my-shop" && kept.group == "group.shop")
    #expect(kept.rate == NewKey.Rate(perSecond: 2.5, burst: 3))
    let other = try create(crier, "--rate", "1", "--burst", "50")
    #expect(try await ledger(crier).key(id: other.id)?.rate == NewKey.Rate(perSecond: 1, burst: 50))
  }

  @Test("crier keys list shows all keys without anything that could be used as a key")
  func list() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let empty = try crier("keys", "list")
    #expect(empty.status == 0 && empty.output.isEmpty)
    #expect(empty.message == "There are no keys: create one with crier keys create.\n")

    let first = try create(crier, "--name", "till", "--rate", "0.5")
    let second = try create(crier, "--account", "b\u{202E}c", "--scope", "read")
    #expect(try crier("keys", "revoke", second.id).status == 0)
    try await ledger(crier).recordUse(ofKeys: [first.id: Date()])

    let text = try crier("keys", "list")
    let rows = text.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    #expect(
      rows.map { Array($0.prefix(5)) } == [
        [first.id, "default", "announce,read", "till", "0.5 a second"],
        [second.id, "b\u{FFFD}c", "read", "-", "no limit"],
      ])
    let time = /[a-z]+ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/
    #expect(rows[0][5].wholeMatch(of: time) != nil && rows[0][6].wholeMatch(of: time) != nil)
    #expect(rows[0][6].hasPrefix("used ") && rows[0][7] == "active")
    #expect(try rows[0].suffix(2) == ["logged as \(APIKey.logName(ofDigest: APIKey(first.key).digest))", "-"])
    #expect(rows[1][6] == "never used" && rows[1][7].hasPrefix("revoked ") && rows[1][7].wholeMatch(of: time) != nil)

    let json = try crier("keys", "list", "--json").output
    struct Line: Decodable {
      var id: String
      var account: String
      var rate: Double?
      var created_at: String  // swift-format-ignore: AlwaysUseLowerCamelCase
      var revoked_at: String?  // swift-format-ignore: AlwaysUseLowerCamelCase
    }
    let lines = try json.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    #expect(lines.map(\.id) == [first.id, second.id] && lines.map(\.account) == ["default", "b\u{202E}c"])
    #expect(lines.map(\.rate) == [0.5, nil] && lines.map { $0.revoked_at != nil } == [false, true])
    for output in [text.output, json] {
      for key in [first, second] {
        let digest = try APIKey(key.key).digest
        #expect(!output.contains(key.key.suffix(43)) && !output.contains(digest.base64EncodedString()))
      }
    }
  }

  @Test("a revoked key is refused at once, and revoking it again changes nothing")
  func revoke() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let created = try create(crier)
    let ledger = try ledger(crier)
    let digest = try APIKey(created.key).digest
    let version = try await ledger.keysVersion()
    let result = try crier("keys", "revoke", created.id)
    #expect(result.status == 0 && result.output.isEmpty && result.message == "Key \(created.id) is revoked.\n")
    #expect(try await ledger.key(digest: digest) == nil)
    #expect(try await ledger.keysVersion() != version)
    let revoked = try await ledger.keys()
    #expect(try crier("keys", "revoke", created.id).status == 0)
    #expect(try await ledger.keys() == revoked)
  }

  @Test("an unknown key id gives status 65, and a malformed id gives 64 and is not printed, because it may be a key")
  func revokeNobody() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let created = try create(crier)
    let nobody = try crier("keys", "revoke", "00000000")
    #expect(nobody.status == 65)
    #expect(nobody.message == "crier: ID 00000000: no key has this id; run crier keys list to see the ids.\n")
    for text in [created.key, "", created.id + " ", created.id.uppercased() + "U", "../../etc"] {
      let result = try crier("keys", "revoke", text)
      #expect(result.status == 64)
      #expect(
        result.message.contains(
          "ID is not an id: give the 8 letters and digits that crier keys list shows, not the key."))
      #expect(!result.message.contains(created.key.suffix(43)))
    }
    #expect(try await ledger(crier).key(id: created.id) != nil)
  }

  @Test(
    "a wrong argument of crier keys create gives status 64 and is named as typed, and no key is created",
    arguments: [
      (
        ["--scope", "device"], "--scope device is only for keys of devices: register the device with PUT /v1/devices"
      ),
      (["--scope", "read", "--scope", "device"], "--scope device is only for keys of devices"),
      (["--scope", "write"], "--scope"), (["--scope", ""], "--scope"), (["--scope", "Admin"], "--scope"),
      (["--account", ""], "--account must be 1 to 255 bytes"), (["--account", "a\nb"], "--account must be"),
      (["--account", "crier:files"], "--account must not begin with crier:"),
      (["--name", ""], "--name must be"), (["--name", String(repeating: "x", count: 256)], "--name must be"),
      (["--locale", ""], "--locale must be"), (["--pack", "\u{7}"], "--pack must be"),
      (["--group", "../up"], "--group is not a valid"), (["--group", ""], "--group is not a valid"),
      (["--rate", "0"], "--rate or --burst: The rate limit is out of range"), (["--rate=-1"], "--rate or --burst"),
      (["--rate", "nan"], "--rate"), (["--rate", "inf"], "--rate"), (["--rate", "ten"], "--rate"),
      (["--rate", "1", "--burst", "0"], "--rate or --burst"), (["--burst", "5"], "--burst needs --rate"),
      (["--rate", "1", "--burst", "1.5"], "--burst"), (["extra"], "extra"),
      (["--expires", "soon"], "--expires 'soon' is not a date or a duration: give 2027-01-31"),
      (["--expires", "2027-02-31"], "--expires '2027-02-31' is not a date"), (["--expires", "-1d"], "--expires"),
      (["--expires", "999999999w"], "--expires '999999999w' is not a date"),
      (["--expires", ""], "--expires '' is not a date"),
      (["--expires", "2020-01-31"], "--expires '2020-01-31' is in the past"),
      (["--expires", "0s"], "--expires '0s' is in the past"),
      (["--address", "shop"], "--address 'shop' is not an address or network: give one such as 192.0.2.7"),
      (["--address", "192.0.2.0/33"], "--address '192.0.2.0/33' has an invalid prefix: give /0 to /32"),
      (["--address", "::1", "--address", "192.0.2.7/24"], "give 192.0.2.0/24"),
      (
        Array(repeating: ["--address", "::1"], count: 65).flatMap(\.self),
        "--address is given 65 times: give at most 64."
      ),
    ])
  func wrong(flags: [String], message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(["keys", "create"] + flags)
    #expect(result.status == 64)
    #expect(result.output.isEmpty)
    #expect(result.message.contains(message), "\(result.message)")
    #expect(!FileManager.default.fileExists(atPath: crier.directory.appending(path: "home").path))
  }

  @Test("a locale without a phrase book, or an unknown pack, gives status 65, and no key is created")
  func unspeakable() throws {
    let crier = try Command()
    defer { crier.remove() }
    for (flags, words) in [
      (["--locale", "tlh"], "locale"), (["--pack", "nobody"], "nobody"), (["--pack", ".."], "pack"),
    ] {
      let result = try crier.run(["keys", "create"] + flags)
      #expect(result.status == 65 && result.output.isEmpty, "\(result.message)")
      #expect(result.message.hasPrefix("crier: ") && result.message.contains(words))
    }
    #expect(!FileManager.default.fileExists(atPath: crier.directory.appending(path: "home").path))
  }

  @Test("a key that cannot be printed is revoked, and the command ends with status 73")
  func unprinted() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let process = Process()
    process.executableURL = Command.program
    process.arguments = ["keys", "create"]
    process.environment = crier.environment
    process.standardOutput = try FileHandle(forWritingTo: URL(filePath: "/dev/full"))
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 73)
    #expect(try await ledger(crier).keys().map { $0.revokedAt != nil } == [true])
  }

  @Test("a file that is not a ledger ends crier keys with status 73 and is left unchanged")
  func noLedger() throws {
    let crier = try Command()
    defer { crier.remove() }
    let home = crier.directory.appending(path: "home")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    let text = Data("This is a letter.".utf8)
    let file = home.appending(path: "ledger.sqlite")
    try text.write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    for words in [["create"], ["list"], ["revoke", "00000000"], ["rotate", "00000000"], ["log"]] {
      let result = try crier.run(["keys"] + words)
      #expect(result.status == 73 && result.output.isEmpty)
      #expect(result.message.contains("The file was not changed."))
    }
    #expect(try Data(contentsOf: home.appending(path: "ledger.sqlite")) == text)
  }

  @Test("crier keys stores and lists the expiry, the addresses and the strictness of a key")
  func limited() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let day = try create(crier, "--expires", "2127-01-31", "--address", "192.0.2.0/24", "--address", "2001:DB8::/32")
    let moment = try create(crier, "--expires", "2127-01-31T12:00:00Z", "--strict")
    let before = Date()
    let span = try create(crier, "--expires", "90d")
    let ledger = try ledger(crier)
    let kept = try #require(try await ledger.key(id: day.id))
    #expect(kept.expiresAt == (try Date("2127-01-31T00:00:00Z", strategy: .iso8601)) && !kept.isStrict)
    #expect(kept.addresses == ["192.0.2.0/24", "2001:db8::/32"])
    let later = try #require(try await ledger.key(id: moment.id))
    #expect(later.expiresAt == (try Date("2127-01-31T12:00:00Z", strategy: .iso8601)) && later.isStrict)
    let end = try #require(try await ledger.key(id: span.id)?.expiresAt)
    #expect(end >= before.addingTimeInterval(90 * 86_400 - 1) && end <= Date(timeIntervalSinceNow: 90 * 86_400))
    let rows = try crier("keys", "list").output.split(separator: "\n").map {
      $0.split(separator: "\t").map(String.init)
    }
    #expect(
      rows.map { Array($0.dropLast(2).suffix(3)) }.prefix(2) == [
        ["expires 2127-01-31T00:00:00Z", "from 192.0.2.0/24,2001:db8::/32", "-"],
        ["expires 2127-01-31T12:00:00Z", "from anywhere", "strict"],
      ])
    #expect(rows.allSatisfy { $0.dropLast().last?.hasPrefix("logged as ") == true })
    let json = try #require(try crier("keys", "list", "--json").output.split(separator: "\n").first)
    #expect(json.contains(#""addresses":["192.0.2.0/24","2001:db8::/32"]"#) && json.contains(#""strict":false"#))
    #expect(json.contains(#""expires_at":"2127-01-31T00:00:00Z""#))
  }

  @Test("crier keys rotate prints a key with the old key's properties, and the old key expires after the overlap")
  func rotate() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let old = try create(crier, "--scope", "play", "--account", "shop", "--rate", "2", "--address", "::1", "--strict")
    let before = Date()
    let result = try crier("keys", "rotate", old.id, "--overlap", "12h", "--json")
    let after = Date()
    #expect(result.status == 0, "\(result.message)")
    let new = try JSONDecoder().decode(Created.self, from: Data(result.output.utf8))
    #expect(new.scopes == ["play"] && new.id != old.id)
    let ledger = try ledger(crier)
    let kept = try #require(try await ledger.key(digest: try APIKey(new.key).digest))
    #expect(kept.account == "shop" && kept.rate == NewKey.Rate(perSecond: 2, burst: 2) && kept.isStrict)
    #expect(kept.addresses == ["::1"] && kept.expiresAt == nil)
    let ending = try #require(try await ledger.key(id: old.id))
    let end = try #require(ending.expiresAt)
    #expect(ending.rotatedTo == new.id)
    #expect(end >= before.addingTimeInterval(12 * 3600 - 1) && end <= after.addingTimeInterval(12 * 3600))
    #expect(
      result.message.contains("Key \(new.id) replaces \(old.id), which expires \(end.formatted(.iso8601))."))
    #expect(try crier("keys", "list").output.contains(", rotated to \(new.id)\t"))

    let again = try crier("keys", "rotate", old.id)
    #expect(again.status == 65 && again.output.isEmpty)
    #expect(again.message.hasPrefix("crier: ID \(old.id): this key was revoked, has expired or was already rotated"))
    let plain = try crier("keys", "rotate", new.id, "--overlap", "0s")
    #expect(plain.output == (try APIKey(plain.output.trimmingCharacters(in: .newlines)).text) + "\n")
    #expect(try await ledger.key(id: new.id)?.isInForce(at: Date()) == false)
    #expect(try crier("keys", "list").output.contains("\texpired "))
  }

  @Test("crier keys rotate shows a wrong argument as typed, except for an id, which may be a key")
  func rotateWrong() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let created = try create(crier)
    #expect(
      try crier("keys", "rotate", "00000000").message
        == "crier: ID 00000000: no key has this id; run crier keys list to see the ids.\n")
    for (words, message) in [
      ([created.key], "ID is not an id: give the 8 letters and digits"),
      ([created.id, "--overlap", "long"], "--overlap 'long' is not a duration: give one such as 12h, 30m or 7d."),
      ([created.id, "--overlap", "1.5h"], "--overlap '1.5h' is not a duration"),
      ([created.id, "--overlap", "9"], "--overlap"),
    ] {
      let result = try crier.run(["keys", "rotate"] + words)
      #expect(result.status == 64 && result.output.isEmpty && result.message.contains(message), "\(result.message)")
      #expect(!result.message.contains(created.key.suffix(43)))
    }
    #expect(try await ledger(crier).keys().count == 1)
  }

  @Test("crier keys log lists who created, rotated and revoked which key, without anything that could be used as a key")
  func log() throws {
    let crier = try Command()
    defer { crier.remove() }
    let empty = try crier("keys", "log")
    #expect(empty.status == 0 && empty.output.isEmpty && empty.message == "There are no administrative actions yet.\n")
    let first = try create(crier, "--name", "till")
    #expect(try crier("keys", "rotate", first.id, environment: ["SUDO_UID": "4321"]).status == 0)
    #expect(try crier("keys", "revoke", first.id).status == 0)
    let text = try crier("keys", "log").output
    let rows = text.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    let user = "user:\(getuid())"
    #expect(
      rows.map { Array($0[1...2]) } == [
        [user, "key_created"], ["\(user) for user:4321", "key_rotated"], ["\(user) for user:4321", "key_created"],
        [user, "key_revoked"],
      ])
    #expect(rows.map { $0[3] }.enumerated().filter { $0.offset != 2 }.allSatisfy { $0.element == first.id })
    #expect(rows.allSatisfy { $0[0].wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil })
    let json = try crier("keys", "log", "--json").output.split(separator: "\n")
    #expect(json.count == 4)
    #expect(json[0].contains(#""action":"key_created","actor":"\#(user)","at":""#) && json[0].contains(first.id))
    #expect(!text.contains("till") && !text.contains(first.key.suffix(43)))
  }

  @Test("--home names the home folder for every command of crier keys and crier queue, whatever CRIER_HOME is")
  func home() throws {
    let crier = try Command()
    defer { crier.remove() }
    let home = crier.directory.appending(path: "elsewhere").path(percentEncoded: false)
    let created = try crier.run(["keys", "create", "--json", "--home", home])
    #expect(created.status == 0, "\(created.message)")
    let id = try #require(try JSONValue(Data(created.output.utf8))["id"]?.string)
    #expect(try crier.run(["keys", "list", "--home", home]).output.hasPrefix(id))
    #expect(try crier.run(["keys", "log", "--home", home]).output.contains(id))
    #expect(try crier.run(["keys", "rotate", id, "--home", home]).status == 0)
    #expect(try crier.run(["keys", "revoke", id, "--home", home]).status == 0)
    #expect(try crier.run(["queue", "--json", "--output", "null", "--home", home]).status == 0)
    #expect(try crier.run(["queue", "cancel", "1", "--output", "null", "--home", home]).status == 65)
    for command in [["pause"], ["resume"], ["skip"], ["replay"], ["volume", "5"]] {
      #expect(try crier.run(["queue"] + command + ["--output", "null", "--home", home]).status == 69, "\(command)")
    }
    #expect(!FileManager.default.fileExists(atPath: crier.home.appending(path: "ledger.sqlite").path))
    #expect(try crier.run(["keys", "list", "--home", ""]).status == 64)
  }
}
