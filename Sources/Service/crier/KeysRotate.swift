// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Ledger
import ServiceAccess

extension Keys {
  struct Rotate: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Creates a key that replaces another key, and prints it. The key cannot be shown again.",
      discussion: """
        The new key has the account, scopes, limits, settings and expiry of the old one. Both keys are valid during \
        the overlap. When it ends, the old key expires.
        """)

    @Argument(help: "The id of the key to replace, as crier keys list shows it.")
    var id: String

    @Option(help: "The time during which both keys are valid, such as 12h, 30m or 7d; 0s ends the old key at once.")
    var overlap = "24h"

    @Flag(help: "Print one line of JSON: id, key, scopes.")
    var json = false

    @OptionGroup var home: HomeOptions

    func validate() throws {
      try KeyID.check(id)
      _ = try seconds
    }

    private var seconds: TimeInterval {
      get throws {
        guard let seconds = KeyTimes.seconds(overlap) else {
          throw ValidationError("--overlap '\(overlap)' is not a duration: give one such as 12h, 30m or 7d.")
        }
        return seconds
      }
    }

    func perform() async throws {
      let ledger = try await home.folder.openLedger()
      let key = APIKey.make()
      let rotated: (old: Ledger.Key, new: Ledger.Key)?
      do {
        rotated = try await ledger.rotateKey(id, to: key.id, digest: key.digest, overlap: try seconds)
      } catch let error as LedgerError where error.code == .keyNotInForce {
        throw CommandError(
          65, "ID \(id): this key was revoked, has expired or was already rotated; create one with crier keys create."
        )
      }
      guard let rotated else { throw CommandError.noKey(id) }
      do {
        try StandardOutput.write(
          json ? try CreatedKey(id: key.id, key: key.text, scopes: rotated.new.scopes).jsonLine : key.text)
      } catch {
        // The key was not shown, so nobody can ever use it.
        try await ledger.revokeKey(key.id)
        throw error
      }
      let end = rotated.old.expiresAt.map { $0.formatted(.iso8601) } ?? "now"
      Terminal.note(
        "Key \(key.id) replaces \(id), which expires \(end). Store it now, it is not shown again.")
    }
  }
}

/// The check of a key's id on the command line.
enum KeyID {
  static func check(_ id: String) throws {
    guard APIKey.isID(id) else {
      // The message does not repeat the argument, because it may be a key.
      throw ValidationError("ID is not an id: give the 8 letters and digits that crier keys list shows, not the key.")
    }
  }
}
