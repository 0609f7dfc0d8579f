// SPDX-License-Identifier: Apache-2.0

// A user of a ledger that tests kill.
//
// - `accept FILE` accepts announcements from four tasks until it is killed, and prints each number after its
//   acceptance.
// - `answer FILE [ACCOUNT]` does the same, and stores an answer with each announcement.
// - `sit FILE LANE` takes exclusive control of a lane, prints `seated`, and waits with the ledger open.
// - `open FILE COUNT` opens and closes the ledger repeatedly.

import Foundation
import Ledger
import PlaybackOrder
import SQLiteLedger

let arguments = CommandLine.arguments

func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

guard arguments.count >= 3 else {
  FileHandle.standardError.write(Data("usage: ledger-writer accept|answer|sit|open FILE [ACCOUNT|LANE|COUNT]\n".utf8))
  exit(64)
}
let file = URL(filePath: arguments[2])

switch arguments[1] {
case "accept", "answer":
  let ledger = try SQLiteLedger(at: file)
  let run = UUID().uuidString
  let account = arguments[1] == "answer" && arguments.count > 3 ? arguments[3] : ""
  try await withThrowingTaskGroup { group in
    for task in 0..<4 {
      group.addTask {
        for index in 0... {
          let id = "\(run)-\(task)-\(index)"
          let new = StoredAnnouncement(
            account: account, id: id, lane: "lane", category: .payment, payload: Data("{}".utf8))
          guard arguments[1] == "answer" else {
            say("\(try await ledger.accept(new).number) \(id)")
            continue
          }
          let answer = NewAnswer(
            account: account, key: id, bodyDigest: Data(count: 32), id: id, status: 201, report: Data(id.utf8),
            rendered: [:])
          let stored = try await ledger.accept(answer: answer, playing: new)
          say("\(stored.acceptance?.number ?? 0) \(id)")
        }
      }
    }
    try await group.waitForAll()
  }
case "sit":
  let ledger = try SQLiteLedger(at: file)
  let seat = try ledger.takeSeat(lane: arguments[3])
  say("seated")
  _ = try FileHandle.standardInput.readToEnd()
  withExtendedLifetime((ledger, seat)) {}
case "open":
  for _ in 0..<(Int(arguments[3]) ?? 0) { _ = try await SQLiteLedger(at: file).counts(lane: nil) }
default:
  exit(64)
}
