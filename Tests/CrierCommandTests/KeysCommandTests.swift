// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import ServiceAccess
import Testing

@Suite("crier keys")
struct KeysCommandTests {
  private struct Created: Decodable {
    var id: String
    var key: String
    var scopes: [String]
  }

  private func ledger(_ crier: Command) throws -> Ledger {
    try Ledger(at: crier.directory.appending(path: "home/ledger.sqlite"))
  }

  private func create(_ crier: Command, _ flags: String...) throws -> Created {
    let result = try crier.run(["keys", "create", "--json"] + flags)
    #expect(result.status == 0, "\(result.message)")
    return try JSONDecoder().decode(Created.self, from: Data(result.output.utf8))
  }

  @Test("create prints the key on a line of its own, this once; the ledger has its digest and not the key")
  func create() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("keys", "create")
    #expect(result.status == 0)
    let key = try APIKey(try #require(result.output.split(separator: "\n").map(String.init).first))
    #expect(result.output == key.text + "\n")
    #expect(result.message == "Key \(key.id) (announce, read): it is shown this once, so keep it now.\n")

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

  @Test("--json prints one line with id, key and scopes, and nothing else")
  func json() throws {
    let crier = try Command()
    defer { crier.remove() }
    let output = try crier("keys", "create", "--json", "--scope", "play", "--scope", "announce").output
    #expect(
      output.wholeMatch(
        of: /\{"id":"([0-9a-z]{8})","key":"crier_\1_[A-Za-z0-9_-]{43}","scopes":\["announce","play"\]\}\n/) != nil)
  }

  @Test("everything that is said of a key is kept")
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

  @Test("list shows every key, and nothing that could be used as one")
  func list() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let empty = try crier("keys", "list")
    #expect(empty.status == 0 && empty.output.isEmpty)
    #expect(empty.message == "There is no key: make one with crier keys create.\n")

    let first = try create(crier, "--name", "till", "--rate", "0.5")
    let second = try create(crier, "--account", "b\u{202E}c", "--scope", "read")
    #expect(try crier("keys", "revoke", second.id).status == 0)
    try await ledger(crier).recordUse(ofKeys: [first.id])

    let text = try crier("keys", "list")
    let rows = text.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    #expect(
      rows.map { Array($0.prefix(5)) } == [
        [first.id, "default", "announce,read", "till", "0.5 a second"],
        [second.id, "b\u{FFFD}c", "read", "-", "no limit"],
      ])
    let time = /[a-z]+ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/
    #expect(rows[0][5].wholeMatch(of: time) != nil && rows[0][6].wholeMatch(of: time) != nil)
    #expect(rows[0][6].hasPrefix("used ") && rows[0][7] == "in force")
    #expect(try rows[0][8] == "logged as \(APIKey.logName(ofDigest: APIKey(first.key).digest))")
    #expect(rows[1][6] == "not used" && rows[1][7].hasPrefix("revoked ") && rows[1][7].wholeMatch(of: time) != nil)

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

  @Test("a revoked key is refused at once; revoking it again changes nothing")
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

  @Test("an id that is nobody's is 65, and what is no id is 64 and not repeated: it may be a key")
  func revokeNobody() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let created = try create(crier)
    let nobody = try crier("keys", "revoke", "00000000")
    #expect(nobody.status == 65)
    #expect(nobody.message == "crier: ID 00000000: is no key's; see crier keys list.\n")
    for text in [created.key, "", created.id + " ", created.id.uppercased() + "U", "../../etc"] {
      let result = try crier("keys", "revoke", text)
      #expect(result.status == 64)
      #expect(
        result.message.contains("ID is none: give the 8 letters and digits that crier keys list shows, not the key."))
      #expect(!result.message.contains(created.key.suffix(43)))
    }
    #expect(try await ledger(crier).key(id: created.id) != nil)
  }

  @Test(
    "what was typed wrong is 64 and named as typed, and no key is made",
    arguments: [
      (["--scope", "write"], "--scope"), (["--scope", ""], "--scope"), (["--scope", "Admin"], "--scope"),
      (["--account", ""], "--account must have 1 to 255 bytes"), (["--account", "a\nb"], "--account must have"),
      (["--account", "crier:files"], "--account must not begin with crier:"),
      (["--name", ""], "--name must have"), (["--name", String(repeating: "x", count: 256)], "--name must have"),
      (["--locale", ""], "--locale must have"), (["--pack", "\u{7}"], "--pack must have"),
      (["--group", "../up"], "--group is no group"), (["--group", ""], "--group is no group"),
      (["--rate", "0"], "--rate or --burst: The rate limit is out of range"), (["--rate=-1"], "--rate or --burst"),
      (["--rate", "nan"], "--rate"), (["--rate", "inf"], "--rate"), (["--rate", "ten"], "--rate"),
      (["--rate", "1", "--burst", "0"], "--rate or --burst"), (["--burst", "5"], "--burst goes with --rate."),
      (["--rate", "1", "--burst", "1.5"], "--burst"), (["extra"], "extra"),
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

  @Test("a locale that nobody can speak, or a pack that is not there, is 65 and no key is made")
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

  @Test("a key that could not be printed is 73, and is revoked: nobody has it")
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

  @Test("a ledger that is none is 73, and stays as it is")
  func noLedger() throws {
    let crier = try Command()
    defer { crier.remove() }
    let home = crier.directory.appending(path: "home")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    let text = Data("This is a letter.".utf8)
    let file = home.appending(path: "ledger.sqlite")
    try text.write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    for words in [["create"], ["list"], ["revoke", "00000000"]] {
      let result = try crier.run(["keys"] + words)
      #expect(result.status == 73 && result.output.isEmpty)
      #expect(result.message.contains("It was left as it is"))
    }
    #expect(try Data(contentsOf: home.appending(path: "ledger.sqlite")) == text)
  }
}
