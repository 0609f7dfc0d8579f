// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Ledger
import LedgerMoving
import PostgreSQL

struct LedgerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ledger",
    abstract: "Moves the ledger of announcements between SQLite and PostgreSQL.",
    discussion: """
      EXAMPLES
        crier ledger move /var/lib/crier postgresql://crier@db1.example/crier --password-file /etc/crier/password
      """,
    subcommands: [Move.self])

  struct Move: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Copies a ledger into an empty one of the other kind, and compares all rows.",
      discussion: """
        One of FROM and TO is a home folder, whose ledger is the file ledger.sqlite. The other one is the address of a \
        PostgreSQL database. TO must be empty: a home folder without a ledger, or a database without rows of one. FROM \
        is not changed.

        Stop the service and all other commands first; the command refuses to move a ledger that is in use. When all \
        rows are copied, they are read again on both sides and compared. Only then does the new ledger exist: if the \
        command fails or is killed, TO has no rows. The other files of the home folder, such as clips and settings, \
        are not moved.

        The command prints the number of rows and the digest of each table. The digest is the same in both kinds of \
        ledgers, so two moves can be compared.

        EXAMPLES
          crier ledger move /var/lib/crier postgresql:///crier?host=/run/postgresql
          crier ledger move postgresql://crier@db1.example/crier /srv/crier --password-file /etc/crier/password
        """)

    @Argument(help: "The ledger to be copied: a home folder, or an address that begins with postgresql://.")
    var from: String

    @Argument(help: "The place of the new ledger: a home folder, or an address that begins with postgresql://.")
    var to: String

    @Option(
      help: "A file with the password for PostgreSQL in its only line, which only its owner may read.",
      completion: .file())
    var passwordFile: String?

    @Flag(help: "Print one line of JSON: the tables, each with its name, rows and sha256.")
    var json = false

    func validate() throws {
      if passwordFile == "" { throw ValidationError("--password-file is empty: name a file.") }
      for (argument, text) in [("FROM", from), ("TO", to)] where text.isEmpty {
        throw ValidationError("\(argument) is empty: name a home folder or an address that begins with postgresql://.")
      }
      guard Self.isAddress(from) != Self.isAddress(to) else {
        throw ValidationError(
          "FROM and TO are both \(Self.isAddress(from) ? "addresses" : "folders"): "
            + "give one home folder and one address that begins with postgresql://.")
      }
    }

    func perform() async throws {
      let move = try self.move()
      let steps = StepDisplays()
      defer { steps.end() }
      let report = try await Interruption.cancelling {
        try await move.run { progress in steps.show(progress) }
      }
      steps.end()
      if json {
        try StandardOutput.write(try report.jsonLine)
      } else {
        for table in report.tables { try StandardOutput.write("\(table.name) \(table.rows) \(table.sha256)") }
      }
      let next =
        switch move {
        case .intoDatabase: "Give the service this address in the setting 'ledger', and move ledger.sqlite away."
        case .intoFile: "Remove the setting 'ledger' of the service, and do not use the database any more."
        }
      Terminal.note("Moved \(report.rows) rows, which are the same on both sides. \(next)")
    }

    /// Reads the arguments.
    private func move() throws -> LedgerMove {
      Self.isAddress(to)
        ? .intoDatabase(from: try file(from), to: try address(to, "TO"))
        : .intoFile(from: try address(from, "FROM"), to: try file(to))
    }

    /// Returns the ledger's file in a home folder that no other user can change.
    private func file(_ typed: String) throws -> URL {
      let name = "ledger.sqlite"
      // The file itself names its folder.
      let folder = typed.hasSuffix("/\(name)") ? String(typed.dropLast(name.count)) : typed == name ? "." : typed
      let home = CrierHome(folder)
      try home.requirePrivate()
      return home.ledgerFile
    }

    private func address(_ typed: String, _ argument: String) throws -> PostgreSQLAddress {
      do {
        return try PostgreSQLAddress(typed, passwordFile: passwordFile.map { URL(filePath: $0) })
      } catch {
        throw CommandError(64, "\(argument): \(error)")
      }
    }

    private static func isAddress(_ text: String) -> Bool { text.contains("://") }
  }
}

/// The progress of the two steps of a move, one after the other.
private struct StepDisplays: Sendable {
  private let copying = StepProgress(name: "Copying rows")
  private let checking = StepProgress(name: "Comparing rows")

  func show(_ progress: LedgerMove.Progress) {
    switch progress.step {
    case .copying: copying.show(progress.rows, of: progress.total)
    case .checking:
      copying.end()
      checking.show(progress.rows, of: progress.total)
    }
  }

  func end() {
    copying.end()
    checking.end()
  }
}
