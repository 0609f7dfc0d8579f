// SPDX-License-Identifier: Apache-2.0

import TextFormats

extension InstallationDiagnosis {
  static func pushes(_ facts: PushFacts?, _ settings: SettingsFacts) -> InstallationCheck {
    guard let facts else { return InstallationCheck(skipping: .pushes, because: "the settings cannot be used") }
    guard facts.apps > 0 else { return InstallationCheck(.pushes, "none: the setting 'apns' is empty") }
    guard settings.providerKeyFaults.isEmpty else {
      return InstallationCheck(skipping: .pushes, because: "a provider key cannot be used")
    }
    var problems: [InstallationProblem] = []
    var found = ["\(facts.apps) app\(facts.apps == 1 ? "" : "s")"]
    for server in facts.servers {
      switch server.outcome {
      case .connected(let milliseconds):
        found.append("\(server.name) connected in \(milliseconds) ms (TLS, HTTP/2; no key was sent)")
      case .failed(let reason):
        found.append("\(server.name) not connected")
        problems.append(
          InstallationProblem(
            .pushServerUnreachable, "No connection can be opened, so pushes wait: \(reason)",
            remedy: RemedyCommands.pushServer(server.name).lines))
      }
    }
    if let fault = facts.publicURLFault {
      problems.append(
        InstallationProblem(
          .publicURLUnusable, fault,
          remedy: "Set public_url in the settings, such as public_url: https://pay.example, and restart the service."))
    }
    return InstallationCheck(.pushes, found.joined(separator: "; "), problems)
  }

  static func speechServers(_ facts: [SpeechServerFacts]?, _ commands: RemedyCommands) -> InstallationCheck {
    guard let facts else { return InstallationCheck(skipping: .speechServers, because: "the settings cannot be used") }
    guard !facts.isEmpty else {
      return InstallationCheck(.speechServers, "none: the setting 'speech_servers' is empty")
    }
    var problems: [InstallationProblem] = []
    var found: [String] = []
    for server in facts {
      switch server.outcome {
      case .answered(let identity, let milliseconds, let tested):
        found.append("\(server.id): \(identity), answered in \(milliseconds) ms")
        let untested = server.saysAmounts == nil ? server.locales.filter { !tested.contains($0) } : []
        for locale in untested {
          problems.append(
            InstallationProblem(
              .speechServerUntested,
              "This version of the voice was not tested in \(locale), or has failed the test, so it says no "
                + "amounts in this language.",
              remedy: commands.crier("voices test \(Shell.quoted(server.id)) --locale \(Shell.quoted(locale))")))
        }
      case .failed(let reason):
        found.append("\(server.id): no answer")
        problems.append(
          InstallationProblem(
            .speechServerFailing, "Another voice speaks: \(reason)",
            remedy: "Start the speech server, or correct its entry in the setting 'speech_servers'."))
      }
    }
    return InstallationCheck(.speechServers, found.joined(separator: "; "), problems)
  }

  static func network(_ unit: UnitFacts?, _ pushes: PushFacts?, _ ledger: LedgerFacts) -> InstallationCheck {
    guard let unit else {
      return InstallationCheck(.network, "no unit of systemd is found that runs the service of this home")
    }
    var senders: [String] = []
    if let pushes, pushes.usesApple { senders.append("pushes") }
    if let contents = ledger.contents, contents.webhookEndpoints > 0 { senders.append("webhooks") }
    let found = unit.isClosed ? "\(unit.name): no connections to the internet" : "\(unit.name): open"
    let remedy =
      "Install the drop-in that opens the unit's network, as root:\n" + unit.openingCommands.joined(separator: "\n")
    let someRemedy =
      "Add the addresses with IPAddressAllow= in systemctl edit \(Shell.quoted(unit.name)). Or: \(remedy)"
    var problems: [InstallationProblem] = []
    if !unit.blockedLedgerHosts.isEmpty {
      problems.append(
        InstallationProblem(
          .unitNetworkClosed,
          "The unit does not let the service connect to the ledger's server "
            + "\(unit.blockedLedgerHosts.joined(separator: ", ")) (IPAddressDeny), so the service does not start.",
          remedy: someRemedy))
    }
    if unit.isClosed, !senders.isEmpty {
      problems.append(
        InstallationProblem(
          .unitNetworkClosed,
          "The unit lets the service connect to no machine on the internet (IPAddressDeny), so "
            + "\(senders.joined(separator: " and ")) wait.", remedy: remedy))
    } else if !unit.blockedServers.isEmpty {
      problems.append(
        InstallationProblem(
          .unitNetworkClosed,
          "The unit does not let the service connect to \(unit.blockedServers.joined(separator: ", ")) (IPAddressDeny), "
            + "so pushes wait.", remedy: someRemedy))
    }
    return InstallationCheck(.network, found, problems)
  }
}
