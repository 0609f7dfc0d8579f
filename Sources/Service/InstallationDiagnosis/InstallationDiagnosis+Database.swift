// SPDX-License-Identifier: Apache-2.0

extension InstallationDiagnosis {
  static func database(_ facts: DatabaseFacts, _ commands: RemedyCommands) -> InstallationCheck {
    let server = "PostgreSQL server \(facts.server)"
    let answer: DatabaseFacts.Answer
    switch facts.outcome {
    case .failed(let problem): return InstallationCheck(.ledger, server, [problem])
    case .answered(let found): answer = found
    }
    var problems: [InstallationProblem] = []
    var found = "\(server), version \(answer.version), \(answer.bytes.bytesText), answered in \(answer.milliseconds) ms"
    switch answer.tables {
    case .current: break
    case .none: found += "; no tables yet, the service makes them at its first start"
    case .newer: found += "; a newer version of Crier has changed the tables, which this version can use"
    case .older(let missing):
      problems.append(
        InstallationProblem(
          .ledgerOlder,
          "An older version of Crier made the tables: \(missing) \(missing == 1 ? "change is" : "changes are") missing.",
          remedy:
            "Back up the database. This command then brings the tables up to date, as starting the service does:\n"
            + commands.crier("keys list")))
    case .foreign:
      problems.append(
        InstallationProblem(
          .ledgerForeign, "The database has the tables of another program.",
          remedy: "Create a database for Crier alone, and give its address in the setting 'ledger'."))
    }
    if answer.isStandby {
      problems.append(
        InstallationProblem(
          .ledgerReadOnly, "No server of the setting 'ledger' accepts changes. This one is a standby.",
          remedy: "Give all servers in the setting 'ledger', so that the service finds the one that accepts changes."))
    }
    if let settings = answer.unsafeSettings {
      problems.append(
        InstallationProblem(
          .ledgerNotDurable,
          "The server confirms commits before they are on its disk (\(settings)): a loss of power forgets payments that "
            + "were answered with 201.",
          remedy:
            "Set fsync and synchronous_commit to on: in postgresql.conf, and, if they have settings of their own, for "
            + "the role and the database. Reload the server, and restart the service."))
    }
    if let count = answer.contents?.setAside, count > 0 { problems.append(setAsideProblem(count, commands)) }
    for difference in answer.differences {
      if difference.isOfUpgrade {
        // The other things that an upgrade changes follow from the version.
        guard difference.thing == "version" else { continue }
        found += "; the machines have different versions of Crier, as during an upgrade: \(difference.machinesText)"
      } else {
        problems.append(nodesProblem(difference, commands))
      }
    }
    return InstallationCheck(.ledger, found, problems)
  }

  /// Returns the problem of two clocks that differ; nil if they agree.
  ///
  /// - Parameter seconds: The number of seconds by which the clock of the ledger's server is ahead.
  static func clockProblem(serverAheadBy seconds: Int) -> InstallationProblem? {
    guard abs(seconds) > tolerance else { return nil }
    return InstallationProblem(
      .clockDiffers,
      "The clock of the ledger's server is \(duration(abs(seconds))) \(seconds > 0 ? "ahead of" : "behind") this "
        + "machine's, so one of them is wrong.",
      remedy: "Let a time service set both clocks:\ntimedatectl set-ntp true")
  }
}
