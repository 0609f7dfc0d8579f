// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("crier serve settings")
struct ServeConfigurationTests {
  /// Every setting, with two values that are not its default.
  private static let values: [(name: String, value: String, other: String)] = [
    ("host", "127.0.0.2", "localhost"), ("port", "9001", "0"),
    ("hosts", "till.example, 192.0.2.7", "till.example"), ("output", "null", "none"), ("locale", "zh-CN", "en-GB"),
    ("group", "group.shop", "group.other"), ("rate", "2.5", "7"), ("burst", "9", "1"), ("speakers", "3", "1"),
    ("volume", "80", "0"), ("gap", "500", "0"), ("chime", "/tmp/bell.wav", "bell.wav"),
    ("chimes", "refunded=tone:falling,failed=none", "received=bell.wav"), ("lead_in_ms", "500", "2000"),
    ("wake_sound", "tone", "silence"), ("keep_awake_seconds", "always", "60"),
    ("public_url", "https://pay.example", "http://pay.example:81/crier"), ("missing_number_ms", "100", "0"),
    ("backlog_payments", "20", "1"), ("backlog_seconds", "90", "1"), ("cache_mb", "16", "1"), ("url_days", "1", "30"),
    ("retention_days", "5", "400"), ("request_seconds", "5", "60"), ("stop_seconds", "3", "60"),
    ("connections", "100", "16"), ("log_level", "debug", "error"), ("groups", "group.till", "group.a"),
    ("clips_at_once", "8", "1"), ("clips_a_day", "500", "1"), ("clips_mb_a_day", "100", "1"),
    ("event_streams", "5", "1"), ("batch_streams", "5", "1"), ("batches", "2", "1"), ("key_failures", "0", "3"),
    ("proxies", "192.0.2.1", "192.0.2.2"), ("take_over", "false", "true"),
    ("resume_after_minutes", "30", "10080"), ("resume_at_start", "true", "false"),
    ("alarm_device_minutes", "5", "0"), ("alarm_paused_minutes", "30", "0"), ("alarm_queue", "50", "0"),
    ("alarm_silent_hours", "4", "336"),
    ("packs", "en-US=my-shop zh-CN=wang", "en-US=other"), ("sounds_mb", "500", "0"), ("sounds_files", "0", "9"),
    ("push_minutes", "5", "1440"), ("library_push_seconds", "60", "10"),
    ("webhook_private_addresses", "true", "false"), ("small_sums", "VND=1000 IDR=1000", "KRW=10"),
    ("time_zone", "Europe/Berlin", "UTC"), ("opening_hours", "mon-sat 08:00-20:00", "08:00-24:00"),
    ("quiet_hours", "mon-fri 22:00-07:00, sat sun 20:00-09:00", "22:00-07:00"), ("quiet_summary", "true", "false"),
    ("volumes", "22:00-07:00=20", "mon 08:00-09:00=0, 12:00-13:00=40"),
    ("ledger", "postgresql:///crier?host=/run/postgresql", "postgresql://db1.example,db2.example/crier"),
    ("ledger_password_file", "ledger-password", "/etc/crier/ledger-password"),
  ]

  private struct Shown: Equatable {
    var value: String
    var source: String
  }

  private func shown(_ output: String) throws -> [String: Shown] {
    Dictionary(
      uniqueKeysWithValues: try output.split(separator: "\n").map { line in
        let parts = try #require(line.wholeMatch(of: /([a-z_]+): (.*?) +# (\S+)/), "\(line)")
        return (String(parts.1), Shown(value: parts.2.trimmingCharacters(in: ["'"]), source: String(parts.3)))
      })
  }

  private func printed(_ crier: Command, _ flags: String..., environment: [String: String] = [:]) throws -> [String:
    Shown]
  {
    let result = try crier.serve(["--print-config"] + flags, environment: environment)
    #expect(result.status == 0 && result.message.isEmpty, "\(result.message)")
    var settings = try shown(result.output)
    // These are lists; see PushSettingTests and SpeechServerSettingTests.
    (settings["apns"], settings["speech_servers"]) = (nil, nil)
    return settings
  }

  private func write(_ text: String, in crier: Command) throws {
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: crier.home.appending(path: "crier.yaml"))
  }

  @Test("crier serve --print-config prints every setting once with its default, and writes no files")
  func defaults() throws {
    let crier = try Command()
    defer { crier.remove() }
    let output = try crier.serve("--print-config").output
    // PushSettingTests and SpeechServerSettingTests set the lists.
    #expect(output.split(separator: "\n").map { String($0.prefix { $0 != ":" }) }.count == Self.values.count + 2)
    var printed = try shown(output)
    #expect(Set(printed.keys) == Set(Self.values.map(\.name) + ["apns", "speech_servers"]))
    #expect(printed.values.allSatisfy { $0.source == "default" })
    #expect(Int(printed.removeValue(forKey: "speakers")?.value ?? "") ?? 0 > 0)
    #expect(
      printed.mapValues(\.value) == [
        "host": "127.0.0.1", "port": "8080", "hosts": "", "output": "default", "locale": "en-US",
        "group": "group.crier",
        "rate": "200.0", "burst": "400", "volume": "100", "gap": "250", "chime": "", "public_url": "",
        "chimes": "", "lead_in_ms": "0", "wake_sound": "silence", "keep_awake_seconds": "2",
        "take_over": "true", "resume_after_minutes": "0", "resume_at_start": "false", "alarm_device_minutes": "1",
        "alarm_paused_minutes": "10", "alarm_queue": "20", "alarm_silent_hours": "0", "packs": "", "small_sums": "",
        "missing_number_ms": "2000", "backlog_payments": "0",
        "backlog_seconds": "0",
        "cache_mb": "64", "url_days": "7",
        "retention_days": "30", "request_seconds": "30", "stop_seconds": "10", "connections": "8192",
        "log_level": "info", "groups": "", "clips_at_once": "32", "clips_a_day": "20000", "clips_mb_a_day": "4096",
        "event_streams": "25", "batch_streams": "10", "batches": "4", "key_failures": "10", "proxies": "127.0.0.1 ::1",
        "sounds_mb": "30720", "sounds_files": "200000", "apns": "", "speech_servers": "", "push_minutes": "60",
        "library_push_seconds": "300",
        "webhook_private_addresses": "false", "time_zone": "", "opening_hours": "", "quiet_hours": "",
        "quiet_summary": "false", "volumes": "", "ledger": "", "ledger_password_file": "",
      ])
    #expect(!FileManager.default.fileExists(atPath: crier.home.path))
  }

  @Test("every setting can be in crier.yaml or in the environment, and the environment takes precedence")
  func sources() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("# Settings.\n" + Self.values.map { "\($0.name): \($0.value)\n" }.joined(), in: crier)
    let file = try printed(crier)
    #expect(
      file
        == Dictionary(uniqueKeysWithValues: Self.values.map { ($0.name, Shown(value: $0.value, source: "crier.yaml")) })
    )
    let variables = Dictionary(uniqueKeysWithValues: Self.values.map { ("CRIER_\($0.name.uppercased())", $0.other) })
    let environment = try printed(crier, environment: variables)
    #expect(
      environment
        == Dictionary(
          uniqueKeysWithValues: Self.values.map { ($0.name, Shown(value: $0.other, source: "environment")) }))
  }

  @Test("flags take precedence over the environment, the environment over the file, and the file over the defaults")
  func order() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("port: 1111\nlocale: zh-CN\nvolume: 10\noutput: file:from-the-file\n", in: crier)
    let printed = try printed(
      crier, "--port", "3333", "--host", "::1", "--output", "alsa:plughw:1,0",
      environment: ["CRIER_PORT": "2222", "CRIER_LOCALE": "ja-JP", "CRIER_GROUP": "group.shop"])
    #expect(printed["port"] == Shown(value: "3333", source: "flag"))
    #expect(printed["host"] == Shown(value: "::1", source: "flag"))
    #expect(printed["output"] == Shown(value: "alsa:plughw:1,0", source: "flag"))
    #expect(printed["locale"] == Shown(value: "ja-JP", source: "environment"))
    #expect(printed["group"] == Shown(value: "group.shop", source: "environment"))
    #expect(printed["volume"] == Shown(value: "10", source: "crier.yaml"))
    #expect(printed["gap"] == Shown(value: "250", source: "default"))
  }

  @Test("the setting 'chimes' can be a list with a line for each kind of payment")
  func chimesAsList() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("chimes:\n  refunded: tone:falling\n  failed: none\n  received: /srv/my bell.wav\n", in: crier)
    #expect(
      try printed(crier)["chimes"]
        == Shown(value: "refunded=tone:falling,failed=none,received=/srv/my bell.wav", source: "crier.yaml"))
  }

  @Test("the printed settings are a valid settings file that gives the same settings")
  func roundTrip() throws {
    let crier = try Command()
    defer { crier.remove() }
    for flags in [[], ["--output", "file:it's 'here': #1", "--host", "::1", "--locale", "no"], ["--output", "null"]] {
      let first = try crier.serve(["--print-config"] + flags).output
      let file = crier.directory.appending(path: "printed.yaml")
      try Data(first.utf8).write(to: file)
      let second = try crier.serve("--print-config", "--config", file.path)
      #expect(second.status == 0, "\(second.message)")
      func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { String($0.prefix(upTo: $0.lastIndex(of: "#") ?? $0.endIndex)) }
      }
      #expect(lines(first) == lines(second.output))
      #expect(second.output.split(separator: "\n").allSatisfy { $0.hasSuffix("# printed.yaml") })
    }
  }

  @Test("the service uses the home's settings file, and --config names another")
  func used() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("host: 127.0.0.3\nport: 0\noutput: none\nhosts: till.example\nrate: 5\nburst: 7\n", in: crier)
    let service = try RunningService(of: crier, [])
    #expect(service.address.hasPrefix("http://127.0.0.3:"))
    #expect(try service.send("GET", "/v1/voices").header("RateLimit-Limit") == "7")
    #expect(try service.send("GET", "/v1/playback").code == "player_unavailable")
    #expect(try service.send("GET", "/metrics", headers: ["Host: till.example:80"]).status == 200)
    #expect(try service.send("GET", "/metrics", headers: ["Host: other.example"]).status == 421)
    let other = crier.directory.appending(path: "other.yaml")
    try Data("locale: hi-IN\n".utf8).write(to: other)
    let printed = try printed(crier, "--config", other.path)
    #expect(printed["locale"] == Shown(value: "hi-IN", source: "other.yaml"))
    #expect(printed["rate"]?.source == "default")
  }

  @Test("the setting 'packs' can be a list of languages with their packs, and is printed as one value")
  func packs() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("packs:\n  zh-CN: wang\n  en-US: my-shop\nport: 0\n", in: crier)
    #expect(try printed(crier)["packs"] == Shown(value: "zh-CN=wang en-US=my-shop", source: "crier.yaml"))
    let variable = try printed(crier, environment: ["CRIER_PACKS": "en-US=other"])
    #expect(variable["packs"] == Shown(value: "en-US=other", source: "environment"))
  }

  @Test("the service warns of a chosen pack that is missing or speaks another language, and starts without that pack")
  func wrongPacks() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("packs:\n  en-US: shop\noutput: none\n", in: crier)
    func expectWarning(_ problem: String) throws {
      let service = try RunningService(of: crier, ["--port", "0"])
      #expect(try service.send("GET", "/healthz").status == 200)
      try eventually("a warning: \(problem)") { try service.messages().contains(problem) }
    }
    try expectWarning("the pack shop, which was chosen for en-US, is not installed")
    let folder = crier.home.appending(path: "Voices/shop")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let manifest = #"""
      {"format": 1, "id": "shop", "locale": "zh-CN", "speaker": "a", "licence": "b", "sample_rate": 22050, "digest": "",
       "clips": {}, "tokens": {}, "phrases": []}
      """#
    try Data(manifest.utf8).write(to: folder.appending(path: "manifest.json"))
    try expectWarning("the pack shop, which was chosen for en-US, speaks zh-CN")
  }

  @Test(
    "a settings file without settings leaves every setting at its default",
    arguments: ["", "\n\n", "# Nothing yet.\n", "  # nothing\n\n", "{}\n", "---\n"])
  func empty(text: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    try write(text, in: crier)
    #expect(try printed(crier).values.allSatisfy { $0.source == "default" })
  }

  @Test(
    "an invalid setting gives status 64, and the message names the setting, its source and the valid values",
    arguments: [
      ("prot: 8080", "prot (crier.yaml, line 1): is not a setting; did you mean port?"),
      ("port: 8080\nPort: 1", "Port (crier.yaml, line 2): is not a setting; did you mean port?"),
      ("8080: port", "8080 (crier.yaml, line 1): is not a setting"),
      ("port: eighty", "port (crier.yaml, line 1): give a whole number from 0 to 65535"),
      ("port: 65536", "port (crier.yaml, line 1): give"), ("port: -1", "port (crier.yaml, line 1): give"),
      ("port: 80.5", "port (crier.yaml, line 1): give"), ("port: true", "port (crier.yaml, line 1): give"),
      ("port: [80]", "port (crier.yaml, line 1): give"), ("port: {number: 80}", "port (crier.yaml, line 1): give"),
      ("port:", "port (crier.yaml, line 1): give"), ("port: ~", "port (crier.yaml, line 1): give"),
      ("port: ''", "port (crier.yaml, line 1): give"),
      ("port: 99999999999999999999", "port (crier.yaml, line 1): give"),
      ("host: [a, b]", "host (crier.yaml, line 1): give exactly one value, not a list and not null"),
      ("host:", "host (crier.yaml, line 1): give"),
      ("host: ''", "host (crier.yaml, line 1): give a name or an address"),
      ("output: {alsa: hw}", "output (crier.yaml, line 1): give exactly one"),
      ("output:", "output (crier.yaml, line 1): give exactly one"),
      ("output: ''", "output (crier.yaml, line 1): give default"),
      ("rate: fast", "rate (crier.yaml, line 1): give a number from 0.001 to 1000000.0"),
      ("rate: 0", "rate (crier.yaml, line 1): give"),
      ("rate: .nan", "rate (crier.yaml, line 1): give"), ("rate: .inf", "rate (crier.yaml, line 1): give"),
      ("burst: 0", "burst (crier.yaml, line 1): give a whole number from 1 to 1000000"),
      ("volume: 101", "volume (crier.yaml, line 1): give a whole number from 0 to 100"),
      ("speakers: 0", "speakers (crier.yaml, line 1): give"), ("gap: 60001", "gap (crier.yaml, line 1): give"),
      ("chimes: refunded", "chimes (crier.yaml, line 1): give a kind and its sound, with commas between them"),
      ("chimes: refunded=a.wav,refunded=b.wav", "chimes (crier.yaml, line 1): give a kind and its sound"),
      ("chimes: bonus=none", "chimes (crier.yaml, line 1): give a kind and its sound, with commas between them"),
      (
        "chimes: {bonus: none}", "bonus (crier.yaml, line 1): give a kind and its sound, such as refunded: tone:falling"
      ),
      ("chimes: {refunded: 'a,b.wav'}", "refunded (crier.yaml, line 1): give a kind and its sound"),
      ("chimes: [refunded]", "chimes (crier.yaml, line 1): give exactly one value"),
      ("lead_in_ms: 2001", "lead_in_ms (crier.yaml, line 1): give a whole number from 0 to 2000"),
      ("wake_sound: noise", "wake_sound (crier.yaml, line 1): give one of silence, tone."),
      ("keep_awake_seconds: 0", "keep_awake_seconds (crier.yaml, line 1): give 1 to 86400 seconds, or always."),
      ("keep_awake_seconds: ever", "keep_awake_seconds (crier.yaml, line 1): give 1 to 86400 seconds, or always."),
      ("cache_mb: 0", "cache_mb (crier.yaml, line 1)"), ("url_days: 0", "url_days (crier.yaml, line 1)"),
      ("sounds_mb: -1", "sounds_mb (crier.yaml, line 1): give a whole number from 0 to 1000000000"),
      ("sounds_files: many", "sounds_files (crier.yaml, line 1): give a whole number from 0"),
      ("stop_seconds: 0", "stop_seconds (crier.yaml, line 1)"), ("connections: 15", "connections (crier.yaml, line 1)"),
      ("log_level: loud", "log_level (crier.yaml, line 1): give one of trace, debug, info"),
      ("public_url: pay.example", "public_url (crier.yaml, line 1): give the public base URL"),
      ("public_url: ftp://pay.example", "public_url (crier.yaml, line 1): give"),
      (
        "public_url: https://pay.example?a=b",
        "public_url (crier.yaml, line 1): give the public base URL, such as https://pay.example, without a query, a "
          + "fragment or a user."
      ),
      ("public_url: 'https://pay.example/crier?'", "public_url (crier.yaml, line 1): give"),
      ("public_url: 'https://pay.example/#top'", "public_url (crier.yaml, line 1): give"),
      ("public_url: 'https://pay.example/a b'", "public_url (crier.yaml, line 1): give"),
      ("public_url: https://li@pay.example", "public_url (crier.yaml, line 1): give"),
      ("group: ../etc", "group (crier.yaml, line 1): give an app group"),
      ("group: ''", "group (crier.yaml, line 1): give"),
      ("packs: [my-shop]", "packs (crier.yaml, line 1): give exactly one value"),
      (
        "packs: my-shop",
        "packs (crier.yaml, line 1): give a language and a pack's id for each choice, such as en-US=my-shop"
      ),
      ("packs:\n  en-US: [a]", "en-US (crier.yaml, line 2): give a language and the id of its pack"),
      ("packs:\n  en-US:", "en-US (crier.yaml, line 2): give a language"),
      ("packs:\n  en-US: ../shop", "en-US (crier.yaml, line 2): give a language"),
      ("packs:\n  en-US: a\n  EN-us: b", "packs (crier.yaml, line 1): give a language"),
      ("chime: [a]", "chime (crier.yaml, line 1): give"),
      ("hosts: [a, b]", "hosts (crier.yaml, line 1): give exactly one value"),
      (
        "hosts: https://pay.example",
        "hosts (crier.yaml, line 1): give names or addresses without ports, separated by commas, such as till.example, 192.0.2.7."
      ),
      ("hosts: 'pay.example:80'", "hosts (crier.yaml, line 1): give"),
      ("hosts: '*'", "hosts (crier.yaml, line 1): give"),
      ("groups: 'group.a ../etc'", "groups (crier.yaml, line 1): give app groups"),
      ("groups: [group.a]", "groups (crier.yaml, line 1): give exactly one value"),
      ("proxies: localhost", "proxies (crier.yaml, line 1): give addresses"),
      ("batches: 17", "batches (crier.yaml, line 1): give a whole number from 1 to 16"),
    ])
  func wrongSetting(text: String, words: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    try write(text + "\n", in: crier)
    for flags in [["--print-config"], []] {
      let result = try crier.serve(flags)
      #expect(result.status == 64 && result.output.isEmpty, "\(result.message)")
      #expect(result.message.hasPrefix("crier: \(words)"), "\(result.message)")
      #expect(result.message.hasSuffix(".\n") || result.message.hasSuffix("?\n"))
      #expect(!result.message.dropLast().contains("\n"))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: crier.home.path) == ["crier.yaml"])
  }

  @Test(
    "a settings file that is not a YAML list of names and values gives status 64 and is named",
    arguments: [
      "port: [", "port", "- port\n- host", "\tport: 1", "port: 1\n host: 2", "port: 1\nport: 2", "\u{1}",
      "a: 1\n---\nb: 2",
    ])
  func noYAML(text: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    try write(text, in: crier)
    let result = try crier.serve()
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.message.contains("crier.yaml"), "\(result.message)")
  }

  @Test(
    "the error for invalid YAML names the line and the cause",
    arguments: [
      ("port: 8080\nvolume 50\nrate: 5\n", "line 3"), ("port: 1\nhost: 'a\n", "line 3"), ("\tport: 1", "line 1"),
      ("port: 1\nhost: ::1\nport: 2", "(line 3: port occurs twice, first in line 1)"),
      ("port: 1\n\"port\": 2", "(line 2: port occurs twice, first in line 1)"),
      ("packs:\n  en-US: a\n  en-US: b", "(line 3: en-US occurs twice, first in line 2)"),
    ])
  func cause(text: String, words: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    try write(text, in: crier)
    let message = try crier.serve().message
    #expect(message.contains("is not valid YAML (line ") && message.contains(words), "\(message)")
  }

  @Test(
    "a host that is not an address is reported as such, before the service looks for keys",
    arguments: ["till.invalid", "300.1.1.1"])
  func noAddress(host: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.serve("--host", host, "--port", "0", "--output", "none")
    #expect(result.status == 69 && result.output.isEmpty)
    #expect(result.message.contains("\(host):0: this is not an address"), "\(result.message)")
  }

  @Test("a settings file that is missing or cannot be read gives status 64 and is named")
  func noFile() throws {
    let crier = try Command()
    defer { crier.remove() }
    let bytes = crier.directory.appending(path: "bytes.yaml")
    try Data([0xFF, 0xFE, 0x00]).write(to: bytes)
    for path in [crier.directory.appending(path: "missing.yaml").path, crier.directory.path, bytes.path] {
      for flags in [["--print-config"], []] {
        let result = try crier.serve(["--config", path] + flags)
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.message.contains(path) && result.message.contains("--config"), "\(result.message)")
      }
    }
    // The home folder's own settings file follows the same rule.
    try FileManager.default.createDirectory(
      at: crier.home.appending(path: "crier.yaml"), withIntermediateDirectories: true)
    #expect(try crier.serve().status == 64)
  }

  @Test(
    "an invalid environment variable gives status 64, and the message names the variable",
    arguments: [
      ("CRIER_PORT", "eighty", "port"), ("CRIER_VOLUME", "-1", "volume"), ("CRIER_RATE", "0", "rate"),
      ("CRIER_LOG_LEVEL", "INFO ", "log_level"), ("CRIER_GROUP", "..", "group"), ("CRIER_PORT", "", "port"),
    ])
  func wrongVariable(variable: String, value: String, name: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.serve("--print-config", environment: [variable: value])
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.message.hasPrefix("crier: \(name) (environment): give "), "\(result.message)")
  }
}
