// SPDX-License-Identifier: Apache-2.0

// Measures the ledger.
//
//   ledger-bench [FOLDER] [SECONDS]              acceptances per second of a ledger in SQLite with full durability, and how
//                                                many synchronisations per second the same disk makes in the same minute
//   ledger-bench prepare ADDRESS                 makes the tables of a ledger in a PostgreSQL database
//   ledger-bench answers LEDGER TASKS SECONDS    answers that are stored with their announcements, TASKS at a time
//   ledger-bench load ADDRESS SHOPS RATE SECONDS [PRUNED]
//                                                what a service does for RATE payments per second, and the removal of
//                                                everything that ended before PRUNED, in ms since 1970
//
// FOLDER is the temporary folder by default. SECONDS is the time for each figure, 5 by default. LEDGER is the address of
// a PostgreSQL database, or a folder for a ledger in SQLite. `scripts/bench-ledger` and `scripts/simulate-ledger-load`
// start a server, and run the last three commands. These print lines of names and values.

import Foundation
import Ledger
import PostgreSQL
import PostgreSQLLedger
import SQLiteLedger

struct BadArguments: Error {}

/// Opens the ledger in a PostgreSQL database.
func openPostgreSQL(_ address: String) async throws -> PostgreSQLLedger {
  // The folder is for the locked files of players, and this program has no player.
  let folder = FileManager.default.temporaryDirectory.appending(path: "ledger-bench")
  return try await PostgreSQLLedger(address: PostgreSQLAddress(address), home: folder)
}

func open(_ place: String) async throws -> any Ledger.Store {
  if place.hasPrefix("postgres") { return try await openPostgreSQL(place) }
  return try SQLiteLedger(at: URL(filePath: place).appending(path: "ledger-\(UUID().uuidString).sqlite"))
}

func number(_ text: String) throws -> Double {
  guard let number = Double(text), number > 0 else { throw BadArguments() }
  return number
}

let arguments = Array(CommandLine.arguments.dropFirst())
do {
  switch (arguments.first, arguments.count) {
  case ("prepare", 2):
    let ledger = try await openPostgreSQL(arguments[1])
    await ledger.close()
  case ("answers", 4):
    let answers = StoredAnswers(ledger: try await open(arguments[1]))
    try await answers.store(tasks: Int(number(arguments[2])), seconds: try number(arguments[3]))
  case ("load", 5...6):
    let load = PaymentLoad(
      ledger: try await openPostgreSQL(arguments[1]), shops: Int(try number(arguments[2])),
      rate: try number(arguments[3]))
    let pruned = try arguments.dropFirst(5).first.map { Date(timeIntervalSince1970: try number($0) / 1000) }
    try await load.run(seconds: try number(arguments[4]), pruningBefore: pruned)
  case ("prepare", _), ("answers", _), ("load", _):
    throw BadArguments()
  default:
    try await SQLiteFigures(
      in: arguments.first.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory,
      seconds: try arguments.dropFirst().first.map(number) ?? 5
    ).print()
  }
} catch is BadArguments {
  print("usage: ledger-bench [FOLDER] [SECONDS], or prepare ADDRESS, or answers LEDGER TASKS SECONDS,")
  print("       or load ADDRESS SHOPS RATE SECONDS [PRUNED]")
  exit(64)
}
