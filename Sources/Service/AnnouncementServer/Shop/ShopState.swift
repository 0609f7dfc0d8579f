// SPDX-License-Identifier: Apache-2.0

import Foundation
import InstallationDiagnosis
import Ledger
import PushDelivery
import TextFormats

/// The state of the whole shop, as one caller may see it: the worst state of the service, the speaker, pauses, pushes,
/// webhooks, providers and the disk.
///
/// It is a value that is computed from facts.
struct ShopState: Sendable, Hashable {
  enum Level: String, Sendable, Hashable, Encodable { case good, attention, bad }

  /// The viewer of the state. The names of an account's keys and its webhook endpoints are visible only to this account
  /// and to administrators.
  struct Viewer: Sendable, Hashable {
    var account: String
    var isAdmin: Bool

    /// A viewer who sees everything.
    static let all = Viewer(account: "", isAdmin: true)

    func sees(_ other: String?) -> Bool { isAdmin || other == nil || other == account }
  }

  let state: Level
  /// The problems, the worst first.
  let problems: [ShopProblem]
  /// The number of announcements that wait for the speaker.
  let waiting: Int
  /// The server of APNs that cannot be reached.
  private let pushServer: String?

  init(of facts: ShopFacts, for viewer: Viewer) {
    var found: [ShopProblem.Code: ShopProblem] = [:]
    func note(
      _ code: ShopProblem.Code, since: Date? = nil, by: String? = nil, count: Int? = nil, cause: String? = nil
    ) {
      found[code] = ShopProblem(
        code: code, since: since ?? facts.firstSeen[code], by: by, count: count, cause: cause)
    }
    if let pause = facts.pause {
      note(.paused, since: pause.since, by: viewer.sees(pause.account) ? pause.by : nil, count: facts.waiting)
    }
    if let loss = facts.deviceLoss { note(.deviceLost, since: loss.since, count: facts.waiting, cause: loss.cause) }
    if facts.isPlayerMissing { note(.playerUnavailable, count: facts.waiting) }
    if facts.unplayed > 0 { note(.notPlayed, count: facts.unplayed) }
    if let code = facts.engineFault { note(.engineUnavailable, cause: code) }
    if let code = facts.ledgerFault { note(.ledgerUnavailable, cause: code) }
    if let free = facts.freeBytes {
      if free < InstallationDiagnosis.leastFree {
        note(.diskFull)
      } else if free < InstallationDiagnosis.lowFree {
        note(.diskLow)
      }
    } else {
      note(.diskFull, cause: "folder_missing")
    }
    if let blockage = facts.blockage {
      note(Self.code(ofBlockage: blockage.cause), since: blockage.since, count: facts.waiting, cause: blockage.cause)
    }
    if let outage = facts.pushOutage {
      note(.pushUnreachable, since: outage.since, count: outage.count, cause: outage.cause)
    }
    if let stop = facts.pushStop { note(.pushRefused, since: stop.since, count: stop.count, cause: stop.cause) }
    Self.noteEndpoints(facts.endpoints.filter { viewer.sees($0.key) }.map(\.value), note)
    if facts.areProvidersInvalid { note(.providersInvalid, cause: "settings_invalid") }
    if let outage = facts.speechServerOutage {
      note(.speechServerFailing, since: outage.since, count: outage.count, cause: outage.cause)
    }
    if facts.setAside > 0 { note(.setAside, count: facts.setAside) }
    if let since = facts.alarms[.queueLong] { note(.queueLong, since: since, count: facts.waiting) }
    if let since = facts.alarms[.shopSilent] { note(.shopSilent, since: since) }

    let all = ShopProblem.Code.allCases.compactMap { found[$0] }
    problems = all.filter { $0.level == .bad } + all.filter { $0.level == .attention }
    state = problems.first.map { $0.level == .bad ? .bad : .attention } ?? .good
    (waiting, pushServer) = (facts.waiting, facts.pushServer)
  }

  private typealias Note = (ShopProblem.Code, Date?, String?, Int?, String?) -> Void

  private static func noteEndpoints(_ endpoints: [ShopFacts.Endpoints], _ note: Note) {
    let unreachable = endpoints.compactMap(\.unreachable)
    if let longest = unreachable.min(by: { $0.since ?? .distantFuture < $1.since ?? .distantFuture }) {
      note(.webhookUnreachable, longest.since, nil, unreachable.reduce(0) { $0 + ($1.count ?? 1) }, longest.cause)
    }
    let disabled = endpoints.reduce(0) { $0 + $1.disabled }
    if disabled > 0 { note(.webhookDisabled, endpoints.compactMap(\.disabledSince).min(), nil, disabled, nil) }
  }

  /// Returns the problem that keeps the next announcement from beginning. Any error that is not one of the disk or the
  /// ledger is an error of making the sound.
  private static func code(ofBlockage cause: String?) -> ShopProblem.Code {
    guard let cause, let error = LedgerError.Code(rawValue: cause) else { return .engineUnavailable }
    return error == .diskFull ? .diskFull : .ledgerUnavailable
  }

  private func remedy(of problem: ShopProblem, _ commands: RemedyCommands) -> Remedy {
    switch problem.code {
    case .deviceLost: commands.deviceLost
    case .playerUnavailable: commands.playerUnavailable
    case .engineUnavailable, .ledgerUnavailable: commands.doctor
    case .webhookUnreachable: commands.webhookUnreachable
    case .diskFull, .diskLow: commands.diskRoom
    case .notPlayed: commands.notPlayed
    case .pushUnreachable: pushServer.map { RemedyCommands.pushServer($0) } ?? commands.doctor
    case .pushRefused: commands.pushRefused(problem.cause.map { PushOutcomeText.text(of: .failed, reason: $0) })
    case .providersInvalid: commands.paymentProviders
    case .paused: commands.paused
    case .queueLong: commands.queueLong
    case .shopSilent: commands.shopSilent
    case .webhookDisabled: commands.webhookDisabled
    case .speechServerFailing: commands.speechServers
    case .setAside: commands.workSetAside
    }
  }

  /// Returns the state as it is answered, with the remedy of each problem.
  func report(_ commands: RemedyCommands) -> some Encodable {
    Report(
      state: state,
      problems: problems.map { problem in
        Report.Line(
          code: problem.code, level: problem.level, since: problem.since, by: problem.by, count: problem.count,
          remedy: remedy(of: problem, commands), cause: problem.cause)
      }, waiting: waiting)
  }

  private struct Report: Encodable {
    struct Line: Encodable {
      var code: ShopProblem.Code
      var level: ShopProblem.Level
      @ExplicitNull var since: Date?
      @ExplicitNull var by: String?
      @ExplicitNull var count: Int?
      var remedy: Remedy
      @ExplicitNull var cause: String?
    }

    var state: Level
    var problems: [Line]
    var waiting: Int
  }
}
