// SPDX-License-Identifier: Apache-2.0

extension InstallationDiagnosis {
  /// The earliest time that a correct clock can show, in seconds since 1970: the beginning of 2026, before this program
  /// was written. A machine without a battery for its clock starts in 1970.
  static let earliest = 1_767_225_600
  /// The largest difference between two clocks that is not a fault, in seconds.
  static let tolerance = 60

  static func output(_ facts: OutputFacts?, _ commands: RemedyCommands) -> InstallationCheck {
    guard let facts else { return InstallationCheck(skipping: .sound, because: "the settings cannot be used") }
    let servers = facts.servers.isEmpty ? "no sound server" : facts.servers.joined(separator: " and ")
    let found = "output \(facts.name), \(servers)"
    switch facts.outcome {
    case .none: return InstallationCheck(.sound, "output none: the service plays nothing")
    case .noDevice: return InstallationCheck(.sound, "output \(facts.name), which needs no device")
    case .silencePlayed(let milliseconds):
      return InstallationCheck(.sound, "\(found); silence played in \(milliseconds) ms")
    case .notTried(let reason): return InstallationCheck(skipping: .sound, because: reason)
    case .played(let process, nil):
      return InstallationCheck(.sound, "output \(facts.name), in use by the player (process \(process)); not tried")
    case .played(let process, let code?):
      return InstallationCheck(
        .sound, found, .outputUnusable, "The player (process \(process)) waits for its device (\(code)).",
        remedy: commands.deviceLost.lines)
    case .invalidName(let reason, let remedy):
      return InstallationCheck(
        .sound, found, .outputInvalid, "Unknown output “\(facts.name)”: \(reason).", remedy: sentence(remedy))
    case .busy(let reason):
      return InstallationCheck(
        .sound, found, .outputBusy, "Another program uses the device and does not share it: \(reason).",
        remedy: "Find the program, or set the output to a PCM that mixes sounds:\nfuser -v /dev/snd/pcm*")
    case .failed(let reason, let remedy):
      let cards = facts.cards == 0 && facts.servers.isEmpty ? " This machine has no sound card either." : ""
      return InstallationCheck(
        .sound, found, .outputUnusable, "A moment of silence could not be played: \(reason).\(cards)",
        remedy: sentence(remedy)
          + " For a service that plays nothing, set the output to none. These PCMs exist:\naplay -L")
    }
  }

  static func port(_ facts: PortFacts?, _ commands: RemedyCommands) -> InstallationCheck {
    guard let facts else { return InstallationCheck(skipping: .port, because: "the settings cannot be used") }
    let number = facts.authority.split(separator: ":").last.map(String.init) ?? facts.authority
    let other = "give the service another port: \(commands.crier("serve --port 8081"))"
    switch facts.outcome {
    case .any: return InstallationCheck(.port, "\(facts.authority): any free port")
    case .free: return InstallationCheck(.port, "\(facts.authority) is free; no service runs there")
    case .service("ready", _, _):
      return InstallationCheck(.port, "\(facts.authority): a service of Crier answers, and is ready")
    case .service(let status, let failing, let refusal):
      var problems: [InstallationProblem] = []
      if let refusal {
        problems.append(
          InstallationProblem(
            .pushRefused, "APNs refuses all pushes to an app, so its phones stay silent. \(refusal)",
            remedy: "After a change of the setting 'apns', restart the service. docs/push.md explains each reason."))
      }
      let others = failing.filter { refusal == nil || $0 != "pushes" }
      if refusal == nil || !others.isEmpty {
        let isDegraded = status == "degraded" || status == "stopping"
        problems.append(
          InstallationProblem(
            isDegraded ? .serviceDegraded : .serviceUnready,
            "A service of Crier answers, and says that it is \(status)\(others.isEmpty ? "" : " (\(others.joined(separator: ", ")))").",
            remedy: "Correct the faults of the other checks, and ask the service again:\n"
              + "curl -sS http://\(facts.authority)/readyz"))
      }
      return InstallationCheck(.port, facts.authority, problems)
    case .otherProgram:
      return InstallationCheck(
        .port, facts.authority, .portTaken, "Another program listens on the port.",
        remedy: "Find the program, or \(other)\nss -ltnp 'sport = :\(number)'")
    case .notPermitted:
      return InstallationCheck(
        .port, facts.authority, .portNotPermitted, "This user may not listen on the port.",
        remedy: "Ports below 1024 belong to root. Put a proxy before the service, or \(other)")
    case .unusable(let reason):
      return InstallationCheck(
        .port, facts.authority, .addressUnusable, "The service cannot listen there: \(reason).",
        remedy: "Correct the setting 'host'. These are the machine's addresses:\nip -brief address")
    }
  }

  static func clock(_ facts: ClockFacts) -> InstallationCheck {
    let synchronization = "timedatectl set-ntp true"
    let set = "Set the clock, best by a time service:\n\(synchronization)"
    let found =
      switch facts.isSynchronized {
      case true: "synchronised by a time service"
      case false: "not synchronised by a time service"
      default: "set"
      }
    if facts.now < earliest {
      return InstallationCheck(
        .clock, found, .clockBehind, "The clock shows a time before this version of Crier was made.", remedy: set)
    }
    if let changed = facts.ledgerChangedAt, changed > facts.now + tolerance {
      return InstallationCheck(
        .clock, found, .clockBehind,
        "The ledger was last changed \(duration(changed - facts.now)) after the time that the clock shows, so the clock is "
          + "wrong now, or was wrong at that change.", remedy: set)
    }
    var problems = facts.serverAheadBy.flatMap(clockProblem(serverAheadBy:)).map { [$0] } ?? []
    if facts.isSynchronized == false {
      problems.append(
        InstallationProblem(
          .clockNotSynchronized,
          "The kernel reports that no time service synchronises the clock. If the clock is wrong by more than 300 s, "
            + "signed requests are refused.",
          remedy: "On this machine, or on the host of this container:\n\(synchronization)"))
    }
    return InstallationCheck(.clock, found, problems)
  }

  /// Returns a number of seconds in a unit that fits, such as `3 days`.
  static func duration(_ seconds: Int) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")]
    let (size, name) = units.first { seconds >= $0.0 } ?? (1, "second")
    let count = seconds / size
    return "\(count) \(name)\(count == 1 ? "" : "s")"
  }

  static func openFiles(_ facts: OpenFileFacts) -> InstallationCheck {
    let needed = facts.own + facts.leastConnections
    let wanted = facts.own + facts.connections
    let found = "\(facts.limit) allowed to this user"
    guard facts.limit < wanted else { return InstallationCheck(.openFiles, found) }
    let raise = "For a service, set LimitNOFILE=65536 in its unit (systemctl edit crier). In this shell:\nulimit -n "
    if facts.limit < needed {
      return InstallationCheck(
        .openFiles, found, .openFilesTooFew, "The service needs \(needed) open files, and does not start with fewer.",
        remedy: raise + "\(wanted)")
    }
    return InstallationCheck(
      .openFiles, found, .openFilesLow,
      "The limit suffices for \(facts.limit - facts.own) connections; the setting 'connections' allows "
        + "\(facts.connections).", remedy: raise + "\(wanted)")
  }
}
