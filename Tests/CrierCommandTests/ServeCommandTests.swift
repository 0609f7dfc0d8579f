// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import ServiceAccess
import SQLiteLedger
import Testing

@testable import crier

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("crier serve", .timeLimit(.minutes(10)))
struct ServeCommandTests {
  private static let body = #"{"id":"1","amount":"12.50","currency":"USD","locale":"en-US"}"#

  private struct Created: Decodable {
    var id: String
    var key: String
  }

  private func createKey(_ crier: Command, _ flags: String...) throws -> Created {
    let result = try crier.run(["keys", "create", "--json"] + flags)
    #expect(result.status == 0, "\(result.message)")
    return try JSONDecoder().decode(Created.self, from: Data(result.output.utf8))
  }

  private func shell(_ line: String, in crier: Command) throws -> (status: Int32, output: Data) {
    let output = crier.directory.appending(path: "shell-\(UUID().uuidString)")
    let process = try Spawned(
      URL(filePath: "/bin/sh"), ["-c", line], environment: ["PATH": "/usr/bin:/bin"], directory: crier.directory
    ) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.path, O_WRONLY | O_CREAT, 0o600)
    }
    return (process.wait(), try Data(contentsOf: output))
  }

  // MARK: Starting

  @Test("crier serve prints the console's address, the first key, and a curl command that works unchanged")
  func greeting() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier)
    let key = try #require(service.key)
    #expect(try APIKey(key).text == key)
    let file = crier.home.appending(path: "first-key")
    #expect(service.greeting.count == 3)
    #expect(service.greeting[0] == "Crier is at \(service.address)/#key=\(key)")
    #expect(service.greeting[1] == "Key: \(key) (also in \(file.path))")
    let line = try #require(service.greeting[2].wholeMatch(of: /Try: (curl .*)/)).1
    #expect(!line.contains("crier_"), "every user can see the arguments of a process")

    let first = try shell(String(line), in: crier)
    #expect(first.status == 0)
    let report = try JSONValue(first.output)
    let id = try #require(report["id"]?.string)
    #expect(id.hasPrefix("try-"))
    let url = try #require(report["clip"]?["url"]?.string)
    let clip = try Curl.send("GET", url, headers: [], body: nil, in: crier.directory)
    #expect(clip.status == 200 && clip.body.starts(with: Data("RIFF".utf8)))
    #expect(try service.send("GET", "/v1/announcements/\(id)").json()["delivery"]?["play"]?.object != nil)
    let again = try JSONValue(try shell(String(line), in: crier).output)
    let next = try #require(again["id"]?.string)
    #expect(next != id, "a repetition is a new announcement")
    #expect(try service.send("GET", "/v1/announcements/\(next)").json()["delivery"]?["play"]?.object != nil)

    let page = try Curl.send("GET", "\(service.address)/", headers: [], body: nil, in: crier.directory)
    #expect(page.status == 200 && page.header("Content-Type") == "text/html; charset=utf-8")
  }

  @Test("for a service without an output, the printed curl command requests no playback and works unchanged")
  func greetingWithoutOutput() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier, ["--port", "0", "--output", "none"])
    let line = try #require(service.greeting.last?.wholeMatch(of: /Try: (curl .*)/)).1
    let id = try #require(try JSONValue(try shell(String(line), in: crier).output)["id"]?.string)
    let delivery = try #require(try service.send("GET", "/v1/announcements/\(id)").json()["delivery"])
    #expect(delivery["clip"]?.object != nil && delivery["play"]?.object == nil)
  }

  @Test("without a terminal, a later start names the key's file, and the printed curl command works")
  func laterGreeting() throws {
    let crier = try Command()
    defer { crier.remove() }
    let home = crier.directory.appending(path: "Ann's \"home\"").path
    let first = try RunningService(of: crier, RunningService.flags + ["--home", home])
    first.signal(SIGKILL)
    _ = first.wait()
    let service = try RunningService(of: crier, RunningService.flags + ["--home", home])
    #expect(service.greeting.count == 3)
    #expect(service.greeting[0] == "Crier is at \(service.address)/")
    #expect(service.greeting[1] == "Key: in \(home)/first-key")
    #expect(!service.greeting.joined().contains("crier_"))
    let line = try #require(service.greeting[2].wholeMatch(of: /Try: (curl .*)/)).1
    #expect(try JSONValue(try shell(String(line), in: crier).output)["id"]?.string?.hasPrefix("try-") == true)
  }

  @Test("if a home of an earlier version has no header file for curl, the service adds it")
  func homeWithoutHeader() throws {
    let crier = try Command()
    defer { crier.remove() }
    let first = try RunningService(of: crier)
    first.signal(SIGKILL)
    _ = first.wait()
    let file = crier.home.appending(path: "first-key.header")
    try FileManager.default.removeItem(at: file)
    let service = try RunningService(of: crier)
    let key = try #require(service.key)
    #expect(try String(contentsOf: file, encoding: .utf8) == "Authorization: Bearer \(key)\n")
  }

  @Test("the service at once answers a request that waits for 100 Continue before it sends its body")
  func expectContinue() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier)
    let header = crier.home.appending(path: "first-key.header").path
    for (key, status) in [("-H @\(header)", "201"), ("", "401")] {
      let line = """
        curl -sS --max-time 20 -H 'Expect: 100-continue' --expect100-timeout 30 -o /dev/null -w '%{http_code}' \
        \(key) -H 'Content-Type: application/json' -d '\(Self.body)' \(service.address)/v1/announcements
        """
      let result = try shell(line, in: crier)
      // curl exits with 28 after a timeout.
      #expect(result.status == 0 && String(decoding: result.output, as: UTF8.self) == status)
    }
  }

  @Test("a crash of the service leaves no core file, whatever the user's limit")
  func noCoreFile() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier)
    #expect(service.coreLimits == ["0", "0"])
  }

  @Test("only its owner can read the first key, which is never logged and survives a restart")
  func firstKey() throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = crier.home.appending(path: "first-key")
    var keys: [String] = []
    for _ in 0..<2 {
      let service = try RunningService(of: crier, RunningService.flags, environment: ["CRIER_LOG_LEVEL": "trace"])
      let key = try #require(service.key)
      keys.append(key)
      #expect(try String(contentsOf: file, encoding: .utf8) == key + "\n")
      for kept in [file] + ["first-key.header", "signing-secret"].map({ crier.home.appending(path: $0) }) {
        let mode = try FileManager.default.attributesOfItem(atPath: kept.path)[.posixPermissions] as? Int
        #expect(mode == 0o600, "\(kept.lastPathComponent)")
      }
      #expect(try service.send("GET", "/v1/announcements").status == 200)
      #expect(try service.announce(Self.body).status < 300)
      service.signal(SIGTERM)
      #expect(service.wait() == 0)
      let log = try service.messages()
      #expect(!log.contains(key.suffix(43)) && !log.contains("12.50") && !log.contains("twelve"))
    }
    #expect(keys[0] == keys[1])
  }

  @Test("a first key that was revoked is not printed any more, and if all keys are revoked, no new key is created")
  func firstKeyRevoked() async throws {
    let crier = try Command()
    defer { crier.remove() }
    var service = try RunningService(of: crier)
    let first = try #require(service.key)
    let other = try createKey(crier)
    service.signal(SIGKILL)
    #expect(try crier("keys", "revoke", try APIKey(first).id).status == 0)
    service = try RunningService(of: crier)
    #expect(service.greeting == ["Crier is at \(service.address)/"])
    #expect(try service.send("GET", "/v1/announcements", key: first).code == "key_unknown")
    #expect(try service.send("GET", "/v1/announcements", key: other.key).status == 200)
    service.signal(SIGKILL)
    #expect(try crier("keys", "revoke", other.id).status == 0)
    service = try RunningService(of: crier)
    #expect(service.greeting == ["Crier is at \(service.address)/", Self.noKeyInForce])
    #expect(
      try await SQLiteLedger(at: crier.home.appending(path: "ledger.sqlite")).keys().map(\.id) == [
        APIKey(first).id, other.id,
      ])
  }

  @Test("if all keys have expired, a restart creates no key and says how to create one")
  func allKeysExpired() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let key = try createKey(crier, "--scope", "read")
    // The old key expires at once, because there is no overlap. Then its successor is revoked.
    let rotated = try crier("keys", "rotate", key.id, "--overlap", "0s", "--json")
    #expect(rotated.status == 0, "\(rotated.message)")
    let successor = try JSONDecoder().decode(Created.self, from: Data(rotated.output.utf8))
    #expect(try crier("keys", "revoke", successor.id).status == 0)
    let service = try RunningService(of: crier)
    #expect(service.greeting == ["Crier is at \(service.address)/", Self.noKeyInForce])
    #expect(!FileManager.default.fileExists(atPath: crier.home.appending(path: "first-key").path))
    #expect(try service.send("GET", "/v1/announcements", key: key.key).code == "key_expired")
  }

  private static let noKeyInForce = "Every key has expired or was revoked: create one with crier keys create."

  @Test(
    "on an address that other machines can reach, the service does not start without a key",
    arguments: ["0.0.0.0", "::"])
  func offLoopback(host: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.serve(["--host", host] + RunningService.flags)
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.message.hasPrefix("crier: --host \(host): ") && result.message.contains("crier keys create"))
    #expect(!FileManager.default.fileExists(atPath: crier.home.appending(path: "first-key").path))
  }

  @Test("a host name that begins like a loopback address is not a loopback address")
  func namesLikeLoopback() {
    for host in ["127.0.0.1.example", "127.example", "localhost.example", "127.0.0.1 ", "::2", ""] {
      #expect(!Serve.isLoopback(host), "\(host)")
    }
    for host in ["127.0.0.1", "127.8.9.10", "::1", "localhost"] { #expect(Serve.isLoopback(host), "\(host)") }
  }

  @Test("on an address that other machines can reach, the service starts with a key that is not revoked")
  func offLoopbackWithKey() throws {
    let crier = try Command()
    defer { crier.remove() }
    let created = try createKey(crier)
    let service = try RunningService(of: crier, ["--host", "0.0.0.0"] + RunningService.flags)
    #expect(service.greeting == ["Crier is at http://0.0.0.0:\(service.port)/"])
    #expect(try service.announce(Self.body, key: created.key).status == 201)
    service.signal(SIGTERM)
    #expect(service.wait() == 0)
    #expect(try crier("keys", "revoke", created.id).status == 0)
    #expect(try crier.serve(["--host", "0.0.0.0"] + RunningService.flags).status == 64)
  }

  @Test("crier serve ends with status 69 for a port that is in use and for an address of another machine")
  func cannotListen() throws {
    let (crier, other) = (try Command(), try Command())
    defer {
      crier.remove()
      other.remove()
    }
    let service = try RunningService(of: crier)
    let taken = try other.serve("--port", "\(service.port)", "--output", "null")
    #expect(taken.status == 69 && taken.output.isEmpty)
    #expect(taken.message.contains("cannot listen on 127.0.0.1:\(service.port): Address already in use"))
    #expect(taken.message.contains("--port"))
    #expect(try createKey(other).id.count == 8)
    // The first is a documentation address, and the second has a reserved top-level domain (RFC 5737, RFC 2606).
    for host in ["192.0.2.1", "shop.invalid"] {
      let result = try other.serve(["--host", host] + RunningService.flags)
      #expect(result.status == 69 && result.output.isEmpty, "\(result.message)")
      #expect(result.message.contains("cannot listen on \(host):") && result.message.contains("--host"))
    }
  }

  @Test("a wrong setting ends crier serve before it listens, and the message names the setting")
  func wrongFlags() throws {
    let crier = try Command()
    defer { crier.remove() }
    let cases: [(flags: [String], status: Int32, words: String)] = [
      (["--output", "nonsense"], 64, "nonsense"), (["--output", ""], 64, "output"),
      (["--output", "hw:1"], 64, "alsa:hw:1"),
      (["--locale", "tlh"], 64, "locale"), (["--locale", ""], 64, "locale"),
      (["--port", "eighty"], 64, "--port (flag): give a whole number from 0 to 65535"),
      (["--port", "65536"], 64, "--port (flag)"), (["--port=-1"], 64, "--port (flag)"), (["--port", ""], 64, "--port"),
      (["--host", ""], 64, "--host (flag)"), (["--home", ""], 64, "--home"), (["--config", ""], 64, "--config"),
      (["--data", "nowhere"], 69, "nowhere"), (["--ports", "1"], 64, "--ports"), (["8080"], 64, "8080"),
    ]
    for (flags, status, words) in cases {
      // The last of two equal flags counts.
      let result = try crier.serve(["--port", "0", "--output", "null"] + flags)
      #expect(result.status == status && result.output.isEmpty, "\(flags): \(result.message)")
      #expect(result.message.contains(words), "\(flags): \(result.message)")
    }
  }

  @Test("crier serve ends with status 73 if it cannot write to its home, and with 69 if its data lacks the console")
  func wrongFolders() throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = crier.directory.appending(path: "file")
    try Data().write(to: file)
    let result = try crier.serve(["--home", file.path] + RunningService.flags)
    #expect(result.status == 73 && result.message.contains(file.path), "\(result.message)")
    try FileManager.default.removeItem(at: crier.data.appending(path: "Console"))
    let without = try crier.serve(RunningService.flags)
    #expect(without.status == 69 && without.output.isEmpty)
    #expect(without.message.contains("Console") && without.message.contains("--data"), "\(without.message)")
  }

  @Test("crier serve writes all data to the folder of --home, which takes precedence over CRIER_HOME")
  func home() throws {
    let crier = try Command()
    defer { crier.remove() }
    let other = crier.directory.appending(path: "other home")
    let service = try RunningService(of: crier, RunningService.flags + ["--home", other.path])
    #expect(service.greeting[1].hasSuffix("(also in \(other.path)/first-key)"))
    let report = try service.announce(Self.body)
    #expect(report.status == 201)
    #expect(try report.json()["clip"]?["path"]?.string?.hasPrefix(other.path + "/containers/") == true)
    #expect(!FileManager.default.fileExists(atPath: crier.home.path))
    service.signal(SIGKILL)
    _ = service.wait()
    let same = try RunningService(of: crier, environment: ["CRIER_HOME": other.path])
    #expect(same.key == service.key)
  }

  // MARK: Keys

  @Test("a running service accepts a new key at once, and notices by itself that a key was revoked")
  func keys() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier)
    let created = try createKey(crier, "--scope", "read")
    let list = try service.send("GET", "/v1/announcements", key: created.key)
    #expect(list.status == 200)
    #expect(try service.announce(Self.body, key: created.key).code == "scope_missing")
    #expect(try crier("keys", "revoke", created.id).status == 0)
    try eventually("The revoked key is refused.") {
      let answer = try service.send("GET", "/v1/announcements", key: created.key)
      #expect(answer.status == 200 || answer.code == "key_unknown")
      return answer.status == 401
    }
    #expect(try service.send("GET", "/v1/announcements").status == 200)
  }
}
