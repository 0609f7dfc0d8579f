// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GRDB
import LedgerTestSupport
import ServiceAccess
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("crier doctor", .timeLimit(.minutes(10)))
struct DoctorCommandTests {
  /// A way in which an installation is broken, and what must be said about it.
  struct Breakage: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var part: String
    var code: String
    /// A part of the remedy. `HOME` stands for the path of the home folder.
    var remedy: String
    var status: Int32
    var flags: [String]
    var make: @Sendable (DoctorInstallation) throws -> Void

    init(
      _ description: String, _ part: String, _ code: String, _ remedy: String, _ status: Int32, flags: [String] = [],
      _ make: @escaping @Sendable (DoctorInstallation) throws -> Void
    ) {
      (testDescription, self.part, self.code) = (description, part, code)
      (self.remedy, self.status, self.flags, self.make) = (remedy, status, flags, make)
    }
  }

  static let breakages: [Breakage] = [
    // Without a home there are no settings either.
    Breakage("no home", "home", "home_missing", "install -d -m 700", 73, flags: RunningService.flags) {
      try FileManager.default.removeItem(at: $0.home)
    },
    Breakage("a home that others can write to", "home", "writable_by_others", "chmod go-w HOME", 73) {
      try $0.setMode(0o777, of: "")
    },
    Breakage("a ledger that others can read", "home", "readable_by_others", "chmod go= HOME/ledger.sqlite", 73) {
      try $0.setMode(0o644, of: "ledger.sqlite")
    },
    Breakage("a truncated secret", "home", "signing_secret_damaged", "rm HOME/signing-secret", 73) {
      try $0.write("short", to: "signing-secret")
    },
    Breakage("a damaged ledger", "ledger", "ledger_damaged", "cp -a BACKUP/ledger.sqlite HOME", 73) { place in
      var bytes = try Data(contentsOf: place.ledger)
      bytes.replaceSubrange(8_192..<bytes.count, with: Data(repeating: 0xA5, count: bytes.count - 8_192))
      try bytes.write(to: place.ledger)
      try place.setMode(0o600, of: "ledger.sqlite")
    },
    Breakage("a ledger of a newer version", "ledger", "ledger_newer", "Install that version again", 73) { place in
      let newer = try DatabaseQueue(waitingFor: place.ledger)
      try newer.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: something to come')") }
      try newer.close()
    },
    Breakage("another program's database", "ledger", "ledger_foreign", "mv -n HOME/ledger.sqlite", 73) { place in
      try FileManager.default.removeItem(at: place.ledger)
      let other = try DatabaseQueue(waitingFor: place.ledger)
      try other.write { try $0.execute(sql: "CREATE TABLE t (a)") }
      try other.close()
      try place.setMode(0o600, of: "ledger.sqlite")
    },
    Breakage("a server of pushes that cannot be reached", "pushes", "push_server_unreachable", "--http2", 69) { place in
      try place.write(P256.Signing.PrivateKey().pemRepresentation, to: "AuthKey.p8")
      try place.write(
        """
        port: 0
        output: 'null'
        apns:
          - app: com.example.shop
            key: AuthKey.p8
            key_id: ABC123DEFG
            team: TEAM123456
            server: https://127.0.0.1:1
        """, to: "crier.yaml")
    },
    Breakage("a provider key that is none", "settings", "provider_key_unusable", "key file", 69) { place in
      try place.write("-----BEGIN PRIVATE KEY-----", to: "AuthKey.p8")
      // Apple's servers are not connected to, because nothing can be sent to them.
      try place.write(
        """
        port: 0
        output: 'null'
        public_url: https://pay.example
        apns: [{app: com.example.shop, key: AuthKey.p8, key_id: ABC123DEFG, team: TEAM123456}]
        """, to: "crier.yaml")
    },
    Breakage(
      "a speech server's key that others may read", "settings", "speech_server_unusable", "setting 'speech_servers'", 69
    ) { place in
      try place.write("secret", to: "key")
      try place.setMode(0o644, of: "key")
      try place.write(
        """
        port: 0
        output: 'null'
        speech_servers: [{id: joe, openai: 'http://127.0.0.1:9/v1', key_file: key, voice: v, locales: en-US}]
        """, to: "crier.yaml")
    },
    Breakage(
      "a providers.yaml that others may read", "settings", "payment_providers_unusable", "crier providers list", 69
    ) { place in
      try place.write("endpoints: []", to: "providers.yaml")
      try place.setMode(0o644, of: "providers.yaml")
    },
    Breakage("a changed clip", "voice_packs", "pack_changed", "crier voices remove my-shop --home HOME", 69) { place in
      let names = try FileManager.default.contentsOfDirectory(atPath: place.pack.path)
      let clip = place.pack.appending(path: try #require(names.first { $0.hasSuffix(".wav") }))
      var bytes = try Data(contentsOf: clip)
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: clip)
    },
    Breakage("a manifest that is not JSON", "voice_packs", "pack_unusable", "crier voices remove my-shop", 69) {
      try Data("{".utf8).write(to: $0.pack.appending(path: "manifest.json"))
    },
    Breakage("a chosen pack that is gone", "voice_packs", "chosen_pack_missing", "crier voices list", 69) {
      try $0.write(#"{"packs": {"en-US": "gone"}}"#, to: "packs.json")
    },
    Breakage("a broken phrase book", "phrase_books", "phrase_book_invalid", "Install Crier again", 69) {
      try Data("{}".utf8).write(to: $0.crier.data.appending(path: "Templates/ja-JP.json"))
    },
    Breakage("no phrase books", "phrase_books", "phrase_books_missing", "--data", 69) {
      try FileManager.default.removeItem(at: $0.crier.data.appending(path: "Templates"))
    },
    Breakage("a wrong lexicon", "phrase_books", "lexicon_invalid", "mv -n HOME/lexicon.csv", 69) {
      try $0.write("locale,text\nen-US,Ada\n", to: "lexicon.csv")
    },
    Breakage("no console", "console", "console_missing", "Install Crier again", 69) {
      try FileManager.default.removeItem(at: $0.crier.data.appending(path: "Console"))
    },
    Breakage("no speaker program", "engine", "speaker_missing", "make install", 69) {
      try FileManager.default.removeItem(at: $0.speaker)
    },
    Breakage("no engine data", "engine", "engine_data_missing", "apt-get install --reinstall espeak-ng-data", 69) {
      try $0.setSpeaker(status: 1)
    },
    Breakage("no sandbox", "sandbox", "sandbox_unavailable", "grep Seccomp_filters /proc/self/status", 69) {
      try $0.setSpeaker(status: 2)
    },
    Breakage("an unknown setting", "settings", "settings_unusable", "crier serve --print-config --home HOME", 69) {
      try $0.write("prot: 8080\n", to: "crier.yaml")
    },
    Breakage("settings that are not YAML", "settings", "settings_unusable", "crier serve --print-config", 69) {
      try $0.write("port: [\n", to: "crier.yaml")
    },
    Breakage("a chime that is missing", "settings", "chime_unusable", "crier serve --print-config", 69) {
      try $0.write("port: 0\noutput: 'null'\nchime: /none/chime.wav\n", to: "crier.yaml")
    },
    Breakage("no key, and reachable from elsewhere", "keys", "no_key", "crier keys create --home HOME", 69) {
      try FileManager.default.removeItem(at: $0.ledger)
      try $0.write("port: 0\nhost: 0.0.0.0\noutput: 'null'\n", to: "crier.yaml")
    },
    Breakage("only a revoked key", "keys", "no_key_in_force", "crier keys create --home HOME", 69) { place in
      let id = try #require(try place.crier("keys", "list", "--json").output.split(separator: "\n").first)
      _ = try place.crier("keys", "revoke", try #require(try JSONValue(String(id))["id"]?.string))
      try place.closeLedger()
    },
    Breakage("a clock that is behind the ledger", "clock", "clock_behind", "timedatectl set-ntp true", 69) {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: 3.5 * 86_400)], ofItemAtPath: $0.ledger.path)
    },
    Breakage("an output that does not exist", "sound", "output_unusable", "aplay -L", 69) {
      try $0.write("port: 0\noutput: 'alsa:crier_no_such_pcm'\n", to: "crier.yaml")
    },
    Breakage("an output that is misspelt", "sound", "output_invalid", "alsa:hw:0", 69) {
      try $0.write("port: 0\noutput: 'hw:0'\n", to: "crier.yaml")
    },
    Breakage("an address of another machine", "port", "address_unusable", "ip -brief address", 69) {
      try $0.write("port: 8080\nhost: 192.0.2.1\noutput: 'null'\n", to: "crier.yaml")
    },
  ]

  @Test("a healthy installation has no fault, and crier doctor ends with status 0 and changes no file")
  func healthy() throws {
    let place = try DoctorInstallation()
    defer { place.crier.remove() }
    let before = try place.snapshot()
    let diagnosis = try place.diagnose()
    #expect(diagnosis.status == 0 && diagnosis.faults.isEmpty, "\(diagnosis.text)")
    #expect(diagnosis.checks.count == 17)
    #expect(try place.snapshot() == before)
    let text = try place.crier.run(["doctor"], program: place.program)
    #expect(text.status == 0 && text.message.isEmpty)
    #expect(text.output.hasPrefix("ok       settings        \(place.home.path)/crier.yaml\n"), "\(text.output)")
    #expect(text.output.contains("\n17 checks: no faults, "))
    #expect(text.output.contains("my-shop ("))
  }

  @Test(
    "a broken installation is reported with its fault and the remedy, and crier doctor changes nothing",
    arguments: breakages)
  func broken(_ breakage: Breakage) throws {
    let place = try DoctorInstallation()
    defer { place.crier.remove() }
    try breakage.make(place)
    let before = try place.snapshot()
    let diagnosis = try place.diagnose(breakage.flags)
    #expect(diagnosis.status == breakage.status, "\(diagnosis.text)")
    // One fault, and no other that follows from it.
    let fault = try #require(diagnosis.faults.first, "\(diagnosis.text)")
    #expect(diagnosis.faults.count == 1, "\(diagnosis.text)")
    #expect(fault.part == breakage.part && fault.code == breakage.code)
    #expect(fault.remedy.contains(breakage.remedy.replacing("HOME", with: place.home.path)), "\(fault.remedy)")
    #expect(try place.snapshot() == before)
    let text = try place.crier.run(["doctor"] + breakage.flags, program: place.program)
    #expect(text.status == breakage.status)
    #expect(text.output.contains("\n  fault \(fault.code): \(fault.message)\n"), "\(text.output)")
  }

  @Test("the broken installations in these tests have different names, and at least 12 different fault codes")
  func different() {
    #expect(Set(Self.breakages.map(\.testDescription)).count == Self.breakages.count)
    #expect(Set(Self.breakages.map(\.code)).count >= 12)
  }

  @Test("crier doctor reports a limit of open files that is too low, and names the limit that suffices")
  func openFiles() throws {
    let place = try DoctorInstallation()
    defer { place.crier.remove() }
    let result = try place.crier.run(
      ["-c", #"ulimit -n 100; exec "$0" doctor --json"#, place.program.path], program: URL(filePath: "/bin/sh"))
    let diagnosis = try DoctorInstallation.Diagnosis(result)
    #expect(diagnosis.status == 69 && diagnosis.faults.map(\.code) == ["open_files_too_few"], "\(diagnosis.text)")
    #expect(diagnosis.faults.first?.remedy.contains("LimitNOFILE=65536") == true)
  }

  @Test(
    "crier doctor with the service's flags accepts a running service on its port, and reports another program there")
  func port() throws {
    let place = try DoctorInstallation()
    defer { place.crier.remove() }
    let service = try RunningService(of: place.crier)
    let beside = try place.diagnose(["--port", "\(service.port)", "--output", "null"])
    #expect(beside.status == 0 && beside.faults.isEmpty, "\(beside.text)")
    #expect(beside.text.contains("a service of Crier answers, and is ready"))
    #expect(try service.send("GET", "/healthz", key: "").status == 200)
    let listener = try SilentListener()
    let taken = try place.diagnose(["--port", "\(listener.port)"])
    #expect(taken.status == 69 && taken.faults.map(\.code) == ["port_taken"], "\(taken.text)")
    #expect(taken.faults.first?.remedy.contains("ss -ltnp 'sport = :\(listener.port)'") == true)
  }

  @Test("crier doctor prints no secret: no key, no secret for URLs, and nothing of an announcement")
  func secrets() throws {
    let place = try DoctorInstallation()
    defer { place.crier.remove() }
    let key: String = try {
      let service = try RunningService(of: place.crier)
      let made = try place.crier("keys", "create", "--json", "--scope", "announce", "--account", "quiet-account")
      let key = try #require(try JSONValue(made.output)["key"]?.string)
      let body = #"{"id":"secret-id","amount":"31.41","currency":"USD","payer":"Zaphod","locale":"en-US"}"#
      #expect(try service.announce(body, key: key).status == 201)
      service.signal(SIGTERM)
      #expect(service.wait() == 0)
      return key
    }()
    let secret = try Data(contentsOf: place.home.appending(path: "signing-secret"))
    let texts = [
      try place.diagnose().text, try place.crier.run(["doctor"], program: place.program).output,
    ]
    for text in texts {
      for word in [key, "secret-id", "31.41", "Zaphod", "quiet-account", secret.base64EncodedString()] {
        #expect(!text.contains(word))
      }
    }
  }

  @Test("wrong options of crier doctor give status 64")
  func options() throws {
    let place = try DoctorInstallation()
    defer { place.crier.remove() }
    for words in [["--config", ""], ["--home", ""], ["--data", ""], ["--jsno"], ["now"]] {
      #expect(try place.crier.run(["doctor"] + words).status == 64)
    }
  }
}

/// A program on a port of loopback that accepts connections and closes them.
private final class SilentListener {
  let port: Int
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = descriptor
    let status = withUnsafeMutablePointer(to: &address) { place in
      place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, size) + listen(number, 4) + getsockname(number, $0, &size)
      }
    }
    try #require(status == 0)
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread {
      while true {
        let connection = accept(number, nil, nil)
        guard connection >= 0 else { return }
        close(connection)
      }
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }
}
