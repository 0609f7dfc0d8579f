// SPDX-License-Identifier: Apache-2.0

import InstallationDiagnosis

extension InstallationFacts {
  /// An installation without a problem.
  static var healthy: InstallationFacts {
    InstallationFacts(
      settings: SettingsFacts(file: "/srv/crier/crier.yaml", hasFile: true),
      home: HomeFacts(place: .folder(owner: "crier", mode: 0o700), secretBytes: 32),
      disk: DiskFacts(freeBytes: 12 << 30, totalBytes: 40 << 30, freeFiles: 1_000_000),
      ledger: .sound(bytes: 1_234_567, isOpen: false, keys: LedgerFacts.Keys(inForce: 2, ended: 1)),
      phraseBooks: PhraseBookFacts(folder: "/usr/share/crier/Templates", locales: ["en-US", "zh-CN"]),
      console: ConsoleFacts(folder: "/usr/share/crier/Console", isComplete: true),
      engine: .ready(identity: "espeak-ng-1.51-8c1f5e0d9b7a6432", milliseconds: 41),
      packs: VoicePackFacts(packs: [
        VoicePackFacts.Pack(
          id: "my-shop", isUsers: true, condition: .sound(digest: "0123456789abcdef", locale: "en-US", lacking: 0))
      ]),
      output: OutputFacts(
        name: "default", servers: ["PipeWire"], cards: 1, outcome: .silencePlayed(milliseconds: 112)),
      port: PortFacts(authority: "127.0.0.1:8080", outcome: .free),
      pushes: PushFacts(
        apps: 1, usesApple: true,
        servers: [PushFacts.Server(name: "api.push.apple.com:443", outcome: .connected(milliseconds: 87))]),
      speechServers: [
        SpeechServerFacts(
          id: "joe", saysAmounts: nil, locales: ["en-US"],
          outcome: .answered(
            identity: "piper 1.8.0, en_US-joe-medium", milliseconds: 3, tested: ["en-US"]))
      ],
      unit: UnitFacts(
        name: "crier.service", isClosed: false, dropIn: "/usr/share/crier/Deployment/network.conf"),
      clock: ClockFacts(now: 1_795_000_000, ledgerChangedAt: 1_794_999_000, isSynchronized: true),
      openFiles: OpenFileFacts(limit: 65_536, own: 136, leastConnections: 16, connections: 8_192))
  }

  /// Returns the diagnosis of a healthy installation after a change.
  static func diagnosis(_ change: (inout InstallationFacts) -> Void) -> InstallationDiagnosis {
    var facts = healthy
    change(&facts)
    return InstallationDiagnosis(of: facts, home: "/srv/my home")
  }
}

extension InstallationDiagnosis {
  subscript(part: InstallationCheck.Part) -> InstallationCheck? { checks.first { $0.part == part } }

  var problems: [InstallationProblem] { checks.flatMap(\.problems) }
}

extension LedgerFacts {
  /// A ledger on a server without a problem, after a change.
  static func answered(_ change: (inout DatabaseFacts.Answer) -> Void = { _ in }) -> LedgerFacts {
    var answer = DatabaseFacts.Answer(
      version: "15.14", milliseconds: 12, bytes: 1_234_567, tables: .current,
      contents: Contents(keys: Keys(inForce: 2, ended: 1)))
    change(&answer)
    return .database(DatabaseFacts(server: "db1.example:5432", outcome: .answered(answer)))
  }

  /// A ledger on a server that cannot be used.
  static func failed(_ problem: InstallationProblem) -> LedgerFacts {
    .database(DatabaseFacts(server: "db1.example:5432", outcome: .failed(problem)))
  }
}
