// SPDX-License-Identifier: Apache-2.0

import Foundation
import ServiceAccess
import Testing

@testable import crier

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("Home permissions")
struct HomePermissionsTests {
  private func fault(_ care: HomePermissions.Care, _ mode: mode_t, owner: uid_t = 1000, user: uid_t = 1000)
    -> HomePermissions.Fault?
  {
    HomePermissions.fault(care, mode: mode, owner: owner, user: user)
  }

  @Test("a secret file may be readable only by its user, and a trusted file may be readable by others")
  func modes() {
    for mode in [0o600, 0o400, 0o700] as [mode_t] {
      #expect(fault(.secret, mode) == nil && fault(.trusted, mode) == nil)
    }
    for mode in [0o644, 0o640, 0o604, 0o601, 0o710, 0o755] as [mode_t] {
      #expect(fault(.secret, mode) == .readable && fault(.trusted, mode) == nil)
    }
    // The sticky bit of folders such as /tmp keeps other users from removing files, but not from adding files.
    for mode in [0o620, 0o602, 0o622, 0o666, 0o777, 0o775, 0o1777] as [mode_t] {
      #expect(fault(.secret, mode) == .writable && fault(.trusted, mode) == .writable)
    }
  }

  @Test("a file in the home must belong to the user or to root")
  func owners() {
    for care in [HomePermissions.Care.secret, .trusted] {
      #expect(fault(care, 0o600, owner: 0) == nil && fault(care, 0o600, owner: 1001) == .foreign(owner: 1001))
      #expect(fault(care, 0o600, owner: 1000, user: 0) == .foreign(owner: 1000))
    }
  }

  @Test(
    "the message about an unsafe home names each file's fault and its reason, and gives a command with the typed path"
  )
  func message() {
    let error = UnsafeHome(findings: [
      .init(path: "./my home", isFolder: true, care: .trusted, fault: .writable),
      .init(path: "./my home/signing-secret", isFolder: false, care: .secret, fault: .readable),
      .init(path: "/srv/crier/crier.yaml", isFolder: false, care: .trusted, fault: .foreign(owner: 1001)),
      .init(path: "/srv/crier/first-key", isFolder: false, care: .secret, fault: .writable),
    ])
    #expect(
      error.description == """
        ./my home: other users of this machine can write to it, and could have put keys or settings there.
        ./my home/signing-secret: other users of this machine can read it, and it is secret.
        /srv/crier/crier.yaml: belongs to another user (id 1001), who could change it at any time.
        /srv/crier/first-key: other users of this machine can write to it, and could have changed it.
        Nothing was done. Check that the files' contents are your own, and then run:
          chmod go-w './my home'
          chmod go= './my home/signing-secret'
          sudo chown "$(id -un)" /srv/crier/crier.yaml
          chmod go= /srv/crier/first-key
        """)
  }
}

extension HomePermissionsTests {
  @Test("for a home of another user, the message says to run the command as that user, and does not suggest chown")
  func foreignHome() {
    func message(_ owner: String?) -> String {
      UnsafeHome(findings: [
        .init(
          path: "/srv/crier", isFolder: true, care: .trusted, fault: .foreign(owner: 999), isHome: true, owner: owner),
        .init(path: "/srv/crier/crier.yaml", isFolder: false, care: .trusted, fault: .foreign(owner: 999)),
      ]).description
    }
    #expect(
      message("crier") == """
        /srv/crier: belongs to another user (crier), who could change it at any time.
        Nothing was done. If this is the home of a service, run the command as the service's user:
          runuser -u crier -- crier …
        """)
    #expect(message(nil).contains("runuser -u USER -- crier") && !message(nil).contains("chown"))
  }
}

@Suite("Unsafe home", .timeLimit(.minutes(10)))
struct UnsafeHomeTests {
  private let crier: Command

  init() throws {
    crier = try Command()
    // This creates a home as the service leaves it, with all possible files.
    #expect(try crier("keys", "create").status == 0)
    let key = APIKey.make().text
    for (name, text) in [
      ("signing-secret", String(repeating: "x", count: 32)), ("first-key", key),
      ("first-key.header", "Authorization: Bearer \(key)\n"), ("crier.yaml", "volume: 90\n"),
      ("lexicon.csv", "locale,text,said\n"), ("packs.json", #"{"packs": {}}"#),
      ("speech-servers.json", #"{"verdicts": []}"#), ("Voices/pack/pack.json", "{}"),
      ("batches/a.list", "text\n"),
    ] {
      let file = crier.home.appending(path: name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      #expect(chmod(file.path, 0o600) == 0)
    }
    for folder in ["Voices", "Voices/pack", "batches"] {
      #expect(chmod(crier.home.appending(path: folder).path, 0o755) == 0)
    }
  }

  private func setMode(_ name: String, _ mode: mode_t) {
    #expect(chmod(crier.home.appending(path: name).path, mode) == 0)
  }

  @Test(
    "the service and all commands refuse an unsafe home and print the repair command, after which the home is accepted",
    arguments: [
      ("", 0o777, "chmod go-w"), ("", 0o1777, "chmod go-w"), ("", 0o770, "chmod go-w"),
      ("ledger.sqlite", 0o666, "chmod go="), ("ledger.sqlite", 0o644, "chmod go="),
      ("signing-secret", 0o644, "chmod go="), ("signing-secret", 0o660, "chmod go="),
      ("first-key", 0o640, "chmod go="), ("first-key.header", 0o604, "chmod go="),
      ("crier.yaml", 0o666, "chmod go-w"), ("lexicon.csv", 0o664, "chmod go-w"),
      ("packs.json", 0o664, "chmod go-w"), ("speech-servers.json", 0o664, "chmod go-w"),
      ("Voices", 0o777, "chmod go-w"),
      ("Voices/pack/pack.json", 0o622, "chmod go-w"), ("batches", 0o777, "chmod go-w"),
    ])
  func refused(name: String, mode: Int, command: String) throws {
    defer { crier.remove() }
    setMode(name, mode_t(mode))
    let typed = name.isEmpty ? crier.home.path : "\(crier.home.path)/\(name)"
    let commands = [
      ["serve"] + RunningService.flags, ["keys", "create"], ["keys", "list"], ["keys", "rotate", "abcd2345"],
      ["keys", "revoke", "abcd2345"], ["keys", "log"], ["queue", "--json"], ["queue", "pause"],
    ]
    for words in commands {
      let result = try crier.run(words, seconds: 60)
      #expect(result.status == 73 && result.output.isEmpty, "\(words): \(result.message)")
      #expect(result.message.hasPrefix("crier: \(typed): "), "\(result.message)")
      #expect(result.message.contains("\n  \(command) \(typed)\n"), "\(result.message)")
    }
    setMode(name, name.isEmpty || ["Voices", "batches"].contains(name) ? mode_t(mode) & 0o755 : mode_t(mode) & 0o700)
    #expect(try crier("keys", "list").status == 0)
  }

  @Test("a home may contain a dangling link to a voice pack, for example to a disk that is not connected")
  func danglingLink() throws {
    defer { crier.remove() }
    let link = crier.home.appending(path: "Voices/my-shop")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: crier.directory.appending(path: "not-connected"))
    let result = try crier("keys", "list")
    #expect(result.status == 0, "\(result.message)")
  }

  @Test("the message about an unsafe home names --home as it was typed")
  func typed() throws {
    defer { crier.remove() }
    setMode("", 0o777)
    let result = try crier.serve(["--home", "./home/"] + RunningService.flags)
    #expect(result.status == 73 && result.message.contains("\n  chmod go-w ./home/\n"), "\(result.message)")
  }

  @Test("a signing secret planted by another user is not used")
  func planted() throws {
    defer { crier.remove() }
    setMode("", 0o777)
    setMode("signing-secret", 0o666)
    let result = try crier.serve(RunningService.flags)
    #expect(result.status == 73)
    #expect(
      result.message.contains(
        "chmod go-w ") && result.message.contains("/signing-secret\n"), "all problems are reported at once")
  }

  @Test("a home and settings are accepted if others can only read them")
  func readable() throws {
    defer { crier.remove() }
    for (name, mode) in [("", 0o755), ("crier.yaml", 0o644), ("lexicon.csv", 0o644), ("Voices/pack/pack.json", 0o644)] {
      setMode(name, mode_t(mode))
    }
    let service = try RunningService(of: crier, RunningService.flags)
    #expect(try service.send("GET", "/healthz", key: "").status == 200)
  }

  @Test("crier serve --print-config prints the settings even of an unsafe home")
  func printing() throws {
    defer { crier.remove() }
    setMode("", 0o777)
    #expect(try crier.serve("--print-config").output.contains("volume: 90"))
  }

  @Test("other users cannot change a new home and its files, whatever the umask")
  func made() throws {
    crier.remove()
    let fresh = try Command()
    defer { fresh.remove() }
    // No process listens on this documentation address (RFC 5737). The service has written all files before it fails.
    let line = #"umask 0; "$0" keys create && "$0" serve --host 192.0.2.1 --port 0 --output null"#
    let process = try Spawned(
      URL(filePath: "/bin/sh"), ["-c", line, Command.program.path], environment: fresh.environment,
      directory: fresh.directory
    ) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    }
    #expect(process.wait() == 69)
    let names = ["."] + (FileManager.default.enumerator(atPath: fresh.home.path)?.compactMap { $0 as? String } ?? [])
    #expect(names.contains("signing-secret") && names.contains("ledger.sqlite"))
    for name in names {
      let attributes = try FileManager.default.attributesOfItem(atPath: fresh.home.appending(path: name).path)
      #expect(((attributes[.posixPermissions] as? Int) ?? 0o777) & 0o022 == 0, "\(name)")
    }
    #expect(try fresh("keys", "list").status == 0)
  }
}
