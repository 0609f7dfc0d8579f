// SPDX-License-Identifier: Apache-2.0

import TextFormats

/// The conclusions from the facts about an installation: a verdict for each part, and for each problem the command that
/// fixes it.
public struct InstallationDiagnosis: Sendable, Hashable, Encodable {
  /// One check for each part, in the order of ``InstallationCheck/Part``.
  public let checks: [InstallationCheck]

  /// - Parameter home: The path of the home folder as the user typed it, for the commands.
  public init(of facts: InstallationFacts, home: String) {
    let commands = RemedyCommands(home: home)
    checks = [
      Self.settings(facts.settings, commands), Self.home(facts.home, commands), Self.disk(facts.disk, commands),
      Self.ledger(facts.ledger, facts.home, commands), Self.keys(facts.ledger, facts.settings, commands),
      Self.phraseBooks(facts.phraseBooks, commands), Self.console(facts.console), Self.engine(facts.engine),
      Self.sandbox(facts.engine), Self.packs(facts.packs, commands), Self.output(facts.output, commands),
      Self.port(facts.port, commands), Self.pushes(facts.pushes, facts.settings),
      Self.speechServers(facts.speechServers, commands),
      Self.network(facts.unit, facts.pushes, facts.ledger), Self.clock(facts.clock), Self.openFiles(facts.openFiles),
    ]
  }

  /// The worst verdict of all parts. A skipped part does not count, because another part has the fault.
  public var verdict: InstallationCheck.Verdict {
    let verdicts = checks.map(\.verdict)
    return verdicts.contains(.fault) ? .fault : verdicts.contains(.warning) ? .warning : .ok
  }

  /// The exit status of `crier doctor`: 0 without a fault, 73 if the home, its disk or the ledger has a fault, and 69
  /// for any other fault. With faults of both kinds it is 73, because nothing can be stored without a home.
  public var exitStatus: Int32 {
    let faults = checks.filter { $0.verdict == .fault }
    return faults.isEmpty ? 0 : faults.contains(where: \.part.holdsData) ? 73 : 69
  }

  /// The report for a person: the lines of each check, and a line that counts the problems.
  public var lines: [String] { checks.flatMap(\.lines) + [summary] }

  private var summary: String {
    func count(_ severity: InstallationProblem.Severity) -> Int {
      checks.reduce(0) { $0 + $1.problems.count { $0.severity == severity } }
    }
    func text(_ number: Int, _ noun: String) -> String {
      "\(number == 0 ? "no" : "\(number)") \(noun)\(number == 1 ? "" : "s")"
    }
    let skipped = checks.count { $0.verdict == .skipped }
    return "\(checks.count) checks: \(text(count(.fault), "fault")), \(text(count(.warning), "warning"))"
      + (skipped == 0 ? "." : ", \(skipped) skipped.")
  }

  private enum CodingKeys: String, CodingKey {
    case verdict, checks
    case exitStatus = "exit_status"
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(verdict, forKey: .verdict)
    try fields.encode(exitStatus, forKey: .exitStatus)
    try fields.encode(checks, forKey: .checks)
  }
}

/// The commands that only `crier doctor` uses.
extension RemedyCommands {
  /// The command for a home folder that belongs to another user.
  func asUser(_ owner: String) -> String { "runuser -u \(Shell.quoted(owner)) -- \(crier("doctor"))" }

  /// The command that makes a home folder for the user who is to own it.
  func makeHome(_ maker: HomeFacts.Maker) -> String {
    switch maker {
    case .thisUser: "install -d -m 700 \(folder)"
    case .root: "sudo install -d -m 700 -o \"$(id -un)\" -g \"$(id -gn)\" \(folder)"
    case .rootFor(let account): "install -d -m 700 -o \(Shell.quoted(account)) -g \(Shell.quoted(account)) \(folder)"
    }
  }

  /// The commands that put a backup in the place of the ledger. They keep the damaged ledger.
  var restoreLedger: String {
    """
    Stop the service, keep the damaged files, and copy the ledger of the last backup to their place:
    mkdir \(file("damaged")) && mv \(file("ledger.sqlite"))* \(file("damaged")) && \
    cp -a BACKUP/ledger.sqlite \(folder)
    """
  }
}

extension Int64 {
  /// The number of bytes as a text for people, such as `12.3 GiB`.
  var bytesText: String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var (tenths, unit) = (self, 0)
    if tenths < 1024 { return "\(tenths) bytes" }
    while tenths >= 1024 * 1024, unit < units.count - 2 { (tenths, unit) = (tenths / 1024, unit + 1) }
    tenths = tenths * 10 / 1024
    return "\(tenths / 10).\(tenths % 10) \(units[unit + 1])"
  }
}
