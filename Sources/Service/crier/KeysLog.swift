// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Ledger

extension Keys {
  struct Log: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists administrative actions: time, actor, action and subject.",
      discussion: """
        The log has four kinds of actions: keys that were created, rotated and revoked, and codes for signing in; \
        webhook endpoints that were registered, removed and enabled; actions of keys with the scope admin or operator \
        on the player and its output, announcements, batches, clips, voices, voice packs, phones and support bundles; \
        and clips removed by crier sounds prune. It has no amounts, names, keys or URLs. Entries are kept for at least \
        365 days.
        """)

    @Flag(help: "Print one line of JSON for each action.")
    var json = false

    @OptionGroup var home: HomeOptions

    func perform() async throws {
      let ledger = try await home.folder.openLedger()
      var last: Int64 = 0
      while true {
        let acts = try await ledger.administrativeActs(after: last)
        for act in acts {
          let line = ActLine(act)
          try StandardOutput.write(json ? try line.jsonLine : line.text)
        }
        guard let next = acts.last?.number else { break }
        last = next
      }
      if last == 0 { Terminal.note("There are no administrative actions yet.") }
    }
  }
}

/// One action as a line of `crier keys log`.
private struct ActLine: Encodable {
  var at: Date
  var actor: String
  var action: String
  var subject: String?

  init(_ act: Ledger.AdministrativeAct) {
    (at, actor, action, subject) = (act.at, act.actor, act.action.rawValue, act.subject)
  }

  var text: String {
    [at.formatted(.iso8601), Terminal.printable(actor), action, Terminal.printable(subject ?? "-")]
      .joined(separator: "\t")
  }
}
