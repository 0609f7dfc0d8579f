// SPDX-License-Identifier: Apache-2.0

import InstallationDiagnosis
import Testing

@Suite("Diagnosis of a ledger on a server")
struct DatabaseDiagnosisTests {
  private func diagnosis(
    _ change: @escaping (inout DatabaseFacts.Answer) -> Void = { _ in }
  ) -> InstallationDiagnosis {
    InstallationFacts.diagnosis { $0.ledger = .answered(change) }
  }

  @Test(
    "the report on a ledger on a server has the server's address and version, the ledger's size and the answer's delay")
  func good() {
    let diagnosis = diagnosis()
    #expect(
      diagnosis[.ledger]?.found
        == "PostgreSQL server db1.example:5432, version 15.14, 1.1 MiB, answered in 12 ms")
    #expect(diagnosis[.keys]?.found == "2 in force, 1 expired or revoked")
    #expect(diagnosis.verdict == .ok)
  }

  @Test("a database without tables is not a problem, and its keys count as none")
  func noTables() {
    let diagnosis = diagnosis { ($0.tables, $0.contents) = (.none, nil) }
    #expect(diagnosis[.ledger]?.found.hasSuffix("; no tables yet, the service makes them at its first start") == true)
    #expect(diagnosis[.keys]?.found == "none yet; the service makes one at its first start")
    #expect(diagnosis.verdict == .ok)
  }

  @Test("tables of a newer version are mentioned, and are not a problem")
  func newer() {
    let diagnosis = diagnosis { $0.tables = .newer }
    #expect(diagnosis[.ledger]?.found.contains("a newer version of Crier has changed the tables") == true)
    #expect(diagnosis.verdict == .ok)
  }

  @Test("missing changes of the tables are counted, and the keys are not checked")
  func older() {
    for (count, words) in [(1, "1 change is missing"), (3, "3 changes are missing")] {
      let diagnosis = diagnosis { ($0.tables, $0.contents) = (.older(missing: count), nil) }
      #expect(diagnosis.problems.first?.message.contains(words) == true)
      #expect(diagnosis[.keys]?.verdict == .skipped && diagnosis.verdict == .warning)
    }
  }

  @Test("a server that may forget payments after a loss of power is a fault, and the report names the settings")
  func notDurable() {
    let diagnosis = diagnosis { $0.unsafeSettings = "fsync=on, synchronous_commit=off" }
    #expect(diagnosis.exitStatus == 73)
    #expect(
      diagnosis.problems.map(\.message) == [
        "The server confirms commits before they are on its disk (fsync=on, synchronous_commit=off): a loss of power "
          + "forgets payments that were answered with 201."
      ])
  }

  private typealias Difference = DatabaseFacts.Difference

  @Test(
    "something that is not the same on all machines is a warning with the machines and with what to do",
    arguments: [
      ("signing_secret", "The signing secret", "Copy the file signing-secret"),
      ("push_keys", "The apps and keys of the setting apns", ".p8"),
      ("providers", "providers.yaml", "Copy providers.yaml"), ("lexicon", "The lexicon", "Copy lexicon.csv"),
      ("packs", "The own voice packs", "packs.json"), ("tones", "The tones", "Library/Sounds"),
      ("chimes", "The chimes", "chime"), ("speech_servers", "The speech servers", "speech-servers.json"),
      ("engine", "What comes with the program", "Install the same packages"),
      ("setting:locale", "The setting locale", "crier serve --print-config --home '/srv/my home'"),
      ("something_new", "The setting something_new", "crier.yaml"),
    ])
  func differences(thing: String, subject: String, remedy: String) throws {
    let diagnosis = diagnosis {
      $0.differences = [Difference(thing: thing, machines: [["shop-1", "shop-2"], ["shop-3"]], isOfUpgrade: false)]
    }
    let problem = try #require(diagnosis.problems.first)
    #expect(diagnosis.problems.count == 1 && problem.code == .nodesDiffer && problem.severity == .warning)
    #expect(problem.message.hasPrefix(subject), "\(problem.message)")
    #expect(problem.message.hasSuffix("Machines with the same: shop-1, shop-2; shop-3."))
    #expect(problem.remedy.contains(remedy), "\(problem.remedy)")
    #expect(diagnosis.exitStatus == 0)
  }

  @Test("an upgrade that is under way is mentioned, and is not a problem")
  func upgrade() {
    let diagnosis = diagnosis {
      $0.differences = [
        Difference(thing: "program_files", machines: [["shop-1"], ["shop-2"]], isOfUpgrade: true),
        Difference(thing: "version", machines: [["shop-1"], ["shop-2"]], isOfUpgrade: true),
      ]
    }
    #expect(diagnosis.verdict == .ok)
    #expect(
      diagnosis[.ledger]?.found.hasSuffix(
        "; the machines have different versions of Crier, as during an upgrade: shop-1; shop-2") == true)
  }

  @Test("if the database cannot be used, the reason is a fault of the ledger, and the keys are not checked")
  func failed() {
    let problem = InstallationProblem(.ledgerUnreachable, "It is down.", remedy: "Start it.")
    let diagnosis = InstallationFacts.diagnosis { $0.ledger = .failed(problem) }
    #expect(diagnosis[.ledger]?.found == "PostgreSQL server db1.example:5432")
    #expect(diagnosis.problems == [problem] && diagnosis.exitStatus == 73)
    #expect(diagnosis[.keys]?.verdict == .skipped)
  }

  @Test("if the settings cannot be used, the ledger is not looked for")
  func unknown() {
    let diagnosis = InstallationFacts.diagnosis {
      $0.settings.fault = "leger: is not a setting"
      $0.ledger = .unknown
    }
    #expect(diagnosis[.ledger]?.found == "the settings cannot be used" && diagnosis[.ledger]?.verdict == .skipped)
    #expect(diagnosis[.keys]?.verdict == .skipped && diagnosis.problems.map(\.code) == [.settingsUnusable])
  }

  @Test("the clock of the ledger's server is compared with that of the machine")
  func clock() {
    for (seconds, words) in [(180, "3 minutes ahead of this machine's"), (-7_200, "2 hours behind this machine's")] {
      let diagnosis = InstallationFacts.diagnosis { $0.clock.serverAheadBy = seconds }
      #expect(diagnosis.problems.first?.message.contains(words) == true && diagnosis.exitStatus == 0)
    }
  }

  @Test("webhook endpoints of a ledger on a server count for the check of the unit's network")
  func webhooks() {
    let diagnosis = InstallationFacts.diagnosis {
      $0.pushes = PushFacts()
      $0.ledger = .answered { $0.contents?.webhookEndpoints = 1 }
      $0.unit?.isClosed = true
    }
    #expect(diagnosis.problems.first?.message.hasSuffix("so webhooks wait.") == true)
  }

  @Test("a unit that blocks the ledger's server and the pushes is reported as two problems")
  func unit() {
    let diagnosis = InstallationFacts.diagnosis {
      $0.unit?.isClosed = true
      $0.unit?.blockedLedgerHosts = ["db1.example", "db2.example"]
    }
    #expect(
      diagnosis[.network]?.problems.map(\.message) == [
        "The unit does not let the service connect to the ledger's server db1.example, db2.example (IPAddressDeny), so "
          + "the service does not start.",
        "The unit lets the service connect to no machine on the internet (IPAddressDeny), so pushes wait.",
      ])
  }
}
