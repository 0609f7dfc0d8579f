// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Ledger
import ServiceAccess

extension Keys {
  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a key that takes the place of another, and prints it, this once.",
      discussion: """
        The new key has the account, scopes, limits and settings of the old one, and lives as long. Both are good until the \
        overlap is over; then the old one has expired.
        """)

    @Argument(help: "The old key's id, as crier keys list shows it.")
    var id: String

    @Option(help: "For how long both are good: such as 12h, 30m or 7d; 0s ends the old one at once.")
    var overlap = "24h"

    @Flag(help: "Print one line of JSON: id, key, scopes.")
    var json = false

    func validate() throws {
      try KeyID.check(id)
      _ = try seconds
    }

    private var seconds: TimeInterval {
      get throws {
        guard let seconds = KeyTimes.seconds(overlap) else {
          throw ValidationError("--overlap '\(overlap)' is no duration: give one such as 12h, 30m or 7d.")
        }
        return seconds
      }
    }

    func run() async throws {
      try await Failures.reported {
        let ledger = try CrierHome().openLedger()
        let key = APIKey.make()
        let rotated: (old: Ledger.Key, new: Ledger.Key)?
        do {
          rotated = try await ledger.rotateKey(id, to: key.id, digest: key.digest, overlap: try seconds)
        } catch let error as LedgerError where error.code == .keyNotInForce {
          throw KeyNotInForce(id: id)
        }
        guard let rotated else { throw NoKey(id: id) }
        do {
          try StandardOutput.write(
            json ? try CreatedKey(id: key.id, key: key.text, scopes: rotated.new.scopes).json : key.text)
        } catch {
          // Nobody has it, and nobody will.
          try await ledger.revokeKey(key.id)
          throw error
        }
        let end = rotated.old.expiresAt.map { $0.formatted(.iso8601) } ?? "now"
        Terminal.note(
          "Key \(key.id) takes the place of \(id), which expires \(end). It is shown this once: keep it now.")
      }
    }
  }
}

/// What is typed as a key's id.
enum KeyID {
  static func check(_ id: String) throws {
    guard APIKey.isID(id) else {
      // It is not repeated: it may be a key.
      throw ValidationError("ID is none: give the 8 letters and digits that crier keys list shows, not the key.")
    }
  }
}

/// A key that is to be rotated is none that anybody may use.
struct KeyNotInForce: Error, CustomStringConvertible {
  var id: String
  var description: String {
    "ID \(id): is revoked, has expired, or was rotated before; see crier keys list, and make another key."
  }
}
