// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger

/// The known facts about the shop at one moment. ``ShopState`` draws the conclusions.
struct ShopFacts: Sendable, Hashable {
  /// A failure: the time since which it lasts, and the code of its cause.
  struct Outage: Sendable, Hashable {
    var since: Date?
    var cause: String?
    /// The number of affected pushes or endpoints.
    var count: Int?
  }

  /// The webhook endpoints of an account that need attention.
  struct Endpoints: Sendable, Hashable {
    /// The endpoints to which no connection can be opened.
    var unreachable: Outage?
    var disabled = 0
    var disabledSince: Date?
  }

  /// The number of announcements that wait for the speaker.
  var waiting = 0
  var pause: Ledger.Pause?
  var deviceLoss: Outage?
  /// The error that prevents the next announcement although the device works.
  var blockage: Outage?
  /// Whether the service has an output, but none of its players plays there.
  var isPlayerMissing = false
  /// The number of announcements that wait on outputs without a player.
  var unplayed = 0
  /// The server of APNs that cannot be reached.
  var pushServer: String?
  var pushOutage: Outage?
  /// The app whose pushes have been refused for the longest time.
  var pushStop: Outage?
  /// The endpoints that need attention, by account.
  var endpoints: [String: Endpoints] = [:]
  var areProvidersInvalid = false
  /// The speech server that has failed for the longest time, with the number of speech servers that fail.
  var speechServerOutage: Outage?
  /// The free space on the disk, in bytes; nil if a folder is missing.
  var freeBytes: Int64? = .max
  /// The code of the engine's error.
  var engineFault: String?
  /// The code of the ledger's error.
  var ledgerFault: String?
  /// The number of deliveries that are set aside.
  var setAside = 0
  /// The alarms that have begun.
  var alarms: [Alarm: Date] = [:]
  /// The times at which problems were first seen, for problems without a time of their own.
  var firstSeen: [ShopProblem.Code: Date] = [:]
}

/// A problem of the shop that a person should fix. It contains no amounts, payers or tokens.
struct ShopProblem: Sendable, Hashable {
  /// The codes for programs. Problems with the same level are listed in the order of these codes.
  enum Code: String, Sendable, Hashable, CaseIterable, Encodable {
    case deviceLost = "device_lost"
    case playerUnavailable = "player_unavailable"
    case engineUnavailable = "engine_unavailable"
    case ledgerUnavailable = "ledger_unavailable"
    case diskFull = "disk_full"
    case notPlayed = "not_played"
    case pushUnreachable = "push_unreachable"
    case pushRefused = "push_refused"
    case providersInvalid = "providers_invalid"
    case paused
    case queueLong = "queue_long"
    case shopSilent = "shop_silent"
    case webhookUnreachable = "webhook_unreachable"
    case webhookDisabled = "webhook_disabled"
    case speechServerFailing = "speech_server_failing"
    case setAside = "set_aside"
    case diskLow = "disk_low"

    /// The level of every problem with this code.
    var level: Level {
      switch self {
      case .deviceLost, .playerUnavailable, .engineUnavailable, .ledgerUnavailable, .diskFull, .notPlayed,
        .pushUnreachable, .pushRefused, .providersInvalid:
        .bad
      case .paused, .queueLong, .shopSilent, .webhookUnreachable, .webhookDisabled, .speechServerFailing, .setAside,
        .diskLow:
        .attention
      }
    }
  }

  enum Level: String, Sendable, Hashable, Encodable {
    /// Payments may be announced late, or may soon not be announced.
    case attention
    /// Payments are not announced, or are not announced in all configured ways.
    case bad
  }

  var code: Code
  var level: Level { code.level }
  var since: Date?
  /// The name of the key that paused, or the command.
  var by: String?
  /// The number of announcements, pushes, endpoints, speech servers or deliveries that the problem is about.
  var count: Int?
  var cause: String?
}
