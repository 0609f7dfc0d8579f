// SPDX-License-Identifier: Apache-2.0

extension InstallationDiagnosis {
  /// The free space below which nothing can be written, in bytes. `/readyz` and `GET /v1/shop` use the same limits.
  public static let leastFree: Int64 = 8 << 20
  /// The free space below which a busy day may fill the disk, in bytes.
  public static let lowFree: Int64 = 1 << 30
  /// The same two limits for the number of files that can still be created.
  static let (leastFiles, lowFiles): (Int64, Int64) = (100, 10_000)
  /// The length of the secret that signs URLs, in bytes.
  static let secretBytes = 32

  static func settings(_ facts: SettingsFacts, _ commands: RemedyCommands) -> InstallationCheck {
    let check = "Correct it, and then check the settings:\n\(commands.crier("serve --print-config"))"
    var problems = facts.warnings.map {
      InstallationProblem(.settingIgnored, $0, remedy: commands.crier("serve --print-config"))
    }
    if let fault = facts.fault { problems.append(InstallationProblem(.settingsUnusable, fault, remedy: check)) }
    if let fault = facts.chimeFault { problems.append(InstallationProblem(.chimeUnusable, fault, remedy: check)) }
    for fault in facts.providerKeyFaults {
      problems.append(
        InstallationProblem(
          .providerKeyUnusable, fault, remedy: "Mend or replace the key file, and start the service again."))
    }
    if let fault = facts.speechServerFault {
      problems.append(
        InstallationProblem(
          .speechServerUnusable, fault, remedy: "Correct the setting 'speech_servers', and restart the service."))
    }
    if let fault = facts.paymentProviderFault {
      problems.append(
        InstallationProblem(
          .paymentProvidersUnusable, "No new webhook of a payment provider is accepted: \(fault)",
          remedy: commands.paymentProviders.lines))
    }
    return InstallationCheck(.settings, facts.hasFile ? facts.file : "no settings file; the defaults apply", problems)
  }

  static func home(_ facts: HomeFacts, _ commands: RemedyCommands) -> InstallationCheck {
    switch facts.place {
    case .missing(let maker):
      return InstallationCheck(
        .home, commands.home, .homeMissing, "There is no such folder.",
        remedy: "If another folder is meant, name it with --home. If the path is right, make the folder:\n"
          + commands.makeHome(maker))
    case .notAFolder:
      return InstallationCheck(
        .home, commands.home, .homeNotAFolder, "There is a file in place of the folder.",
        remedy: "Name the folder with --home.")
    case .unreachable:
      return InstallationCheck(
        .home, commands.home, .homeUnreachable, "This user may not enter the folder, or one above it.",
        remedy: "Run the command as the service's user:\n\(commands.asUser("USER"))")
    case .folder(let owner, let mode):
      let octal = String(mode, radix: 8)
      let found =
        "\(commands.home), owner \(owner), mode \(String(repeating: "0", count: max(0, 4 - octal.count)))\(octal)"
      if let foreign = facts.foreignOwner {
        return InstallationCheck(
          .home, found, .foreignOwner, "The folder belongs to another user, who could change it at any time.",
          remedy: "If this is the home of a service, run the command as the service's user:\n"
            + commands.asUser(foreign))
      }
      var problems = facts.unsafeFiles
      if !facts.isWritable {
        problems.append(
          InstallationProblem(
            .homeNotWritable, "This user may not write to the folder.", remedy: "chmod u+rwx \(commands.folder)"))
      }
      if let bytes = facts.secretBytes, bytes < secretBytes {
        problems.append(
          InstallationProblem(
            .signingSecretDamaged, "signing-secret has \(bytes) bytes instead of \(secretBytes).",
            remedy:
              "Restore the file from a backup. Without a backup, remove it; all URLs of clips then become invalid:\n"
              + "rm \(commands.file("signing-secret"))"))
      }
      return InstallationCheck(.home, found, problems)
    }
  }

  static func disk(_ facts: DiskFacts?, _ commands: RemedyCommands) -> InstallationCheck {
    guard let facts else { return InstallationCheck(skipping: .disk, because: "there is no home folder") }
    var problems: [InstallationProblem] = []
    if let network = facts.network {
      problems.append(
        InstallationProblem(
          .networkFileSystem, "The home is on a network file system (\(network)), on which the ledger does not work.",
          remedy: "Stop the service, move the home to a local disk, and name it with --home."))
    }
    if facts.isReadOnly {
      problems.append(
        InstallationProblem(
          .diskReadOnly, "The file system is mounted read-only, for example after a disk error.",
          remedy:
            "Look for errors of the disk with dmesg. After an error, stop the service, unmount the file system, "
            + "and check it with fsck. If there was none, mount it again:\n"
            + "mount -o remount,rw \"$(findmnt -n -o TARGET -T \(commands.folder))\""))
    }
    let room = commands.diskRoom.lines
    if let free = facts.freeBytes, free < lowFree {
      let isFull = free < leastFree
      problems.append(
        InstallationProblem(
          isFull ? .diskFull : .diskLow,
          isFull
            ? "The disk is full: nothing more can be accepted." : "Little space is left for clips and the ledger.",
          remedy: room))
    }
    if let files = facts.freeFiles, files < lowFiles {
      let isFull = files < leastFiles
      problems.append(
        InstallationProblem(
          isFull ? .diskFull : .diskLow,
          isFull ? "No more files can be made on the disk." : "Only \(files) more files can be made on the disk.",
          remedy: room))
    }
    guard let free = facts.freeBytes, let total = facts.totalBytes else {
      problems.append(
        InstallationProblem(
          .diskUnknown, "The free space cannot be read.", remedy: "df \(commands.folder)"))
      return InstallationCheck(.disk, "free space unknown", problems)
    }
    return InstallationCheck(.disk, "\(free.bytesText) free of \(total.bytesText)", problems)
  }

  static func ledger(_ facts: LedgerFacts, _ home: HomeFacts, _ commands: RemedyCommands) -> InstallationCheck {
    let path = "ledger.sqlite"
    switch facts {
    case .missing: return InstallationCheck(.ledger, "none yet; the service makes it at its first start")
    case .database(let facts): return database(facts, commands)
    case .unknown: return InstallationCheck(skipping: .ledger, because: "the settings cannot be used")
    case .skipped:
      return InstallationCheck(
        skipping: .ledger,
        because: home.foreignOwner == nil ? "there is no home that can be read" : "the home belongs to another user")
    case .sound(let bytes, let isOpen, _, _, let setAside):
      return InstallationCheck(
        .ledger,
        "\(path), \(bytes.bytesText), every page checked (SQLite's quick check)\(isOpen ? "; with its log" : "")",
        setAside == 0 ? [] : [setAsideProblem(setAside, commands)])
    case .unreadable(let obstacle): return InstallationCheck(.ledger, path, [problem(obstacle, commands)])
    }
  }

  static func setAsideProblem(_ count: Int, _ commands: RemedyCommands) -> InstallationProblem {
    InstallationProblem(
      .workSetAside,
      "The service ended twice in a row without being stopped, during the same "
        + "\(count == 1 ? "delivery" : "\(count) deliveries").",
      remedy: commands.workSetAside.lines)
  }

  private static func problem(
    _ obstacle: LedgerFacts.Obstacle, _ commands: RemedyCommands
  ) -> InstallationProblem {
    switch obstacle {
    case .damaged:
      InstallationProblem(
        .ledgerDamaged, "The ledger is damaged, or is not a database. It was not changed.",
        remedy: commands.restoreLedger)
    case .newer:
      InstallationProblem(
        .ledgerNewer, "A newer version of Crier wrote the ledger. It was not changed.",
        remedy: "Install that version again. To see the version of this program: crier --version")
    case .older:
      InstallationProblem(
        .ledgerOlder,
        "An older version of Crier wrote the ledger; the ledger must be brought up to date before it can be read.",
        remedy: "Back up the home. This command then brings the ledger up to date, as starting the service does:\n"
          + commands.crier("keys list"))
    case .foreign:
      InstallationProblem(
        .ledgerForeign, "The file is a database of another program.",
        remedy: "Name the right home with --home, or move the file away:\n"
          + "mv -n \(commands.file("ledger.sqlite")) \(commands.file("ledger.sqlite.other"))")
    case .unindexed:
      InstallationProblem(
        .ledgerLogUnindexed,
        "The ledger has a log with changes, but the log's index (-shm) is missing. Reading the ledger would make "
          + "a new index.",
        remedy: "This command reads the log into the ledger, as starting the service does:\n"
          + commands.crier("keys list"))
    case .other(let reason):
      InstallationProblem(
        .ledgerUnreadable, "The ledger cannot be opened: \(reason).",
        remedy: "Look at the owner and the mode of the file:\nls -l \(commands.file("ledger.sqlite"))")
    }
  }

  static func keys(
    _ ledger: LedgerFacts, _ settings: SettingsFacts, _ commands: RemedyCommands
  ) -> InstallationCheck {
    let create = commands.crier("keys create")
    guard let keys = ledger.contents?.keys else {
      return InstallationCheck(skipping: .keys, because: "the ledger cannot be read")
    }
    let found = "\(keys.inForce) in force, \(keys.ended) expired or revoked"
    if keys.inForce > 0 { return InstallationCheck(.keys, found) }
    if settings.isReachable {
      return InstallationCheck(
        .keys, found, .noKey, "Other machines can reach the service, and no key of a backend is in force.",
        remedy: create)
    }
    guard keys.ended > 0 else { return InstallationCheck(.keys, "none yet; the service makes one at its first start") }
    return InstallationCheck(
      .keys, found, .noKeyInForce, "Every key has expired or was revoked, so the service refuses every request.",
      remedy: create)
  }
}
