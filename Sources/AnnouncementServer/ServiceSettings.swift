// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import ServiceAccess

/// How the service behaves; every value has a default that a shop can live with.
public struct ServiceSettings: Sendable {
  /// A name or an address of this machine.
  public var host = "127.0.0.1"
  /// 0 for any that is free.
  public var port = 8080
  /// What the world calls the service, as `https://pay.example`, for the URLs of clips; nil to go by what each caller
  /// calls it.
  public var publicURL: String?
  /// Further names and addresses of the service, without ports, by which its console and its metrics may be asked for.
  public var hosts: [String] = []
  /// Of announcements that name none, and whose key has none.
  public var locale = "en-US"
  public var group = "group.crier"
  /// The other app groups that a request may name; nil for those that have a folder when the service starts. A key's own
  /// group may be named beside them.
  public var groups: [String]?
  /// Of keys that have no limit of their own.
  public var rate: RateLimit
  /// Of each account.
  public var work = WorkLimits()
  /// How many answers of 401 an address may have; nil for as many as come. Whoever has a good key is not limited by it.
  public var keyFailures: RateLimit?
  /// Whose `X-Forwarded-For` says who calls.
  public var proxies: Set<IPAddress> = Set(["127.0.0.1", "::1"].compactMap(IPAddress.init(_:)))
  /// Clips that are kept in memory, in bytes.
  public var cacheBytes = 64 << 20
  /// Of a signed URL of a clip, in seconds.
  public var urlLifetime: TimeInterval = 7 * 86_400
  /// In which a request must come whole, and a reader must read on, in seconds.
  public var requestDeadline: TimeInterval = 30
  /// In which the service must have stopped, in seconds.
  public var stopDeadline: TimeInterval = 10
  /// What ended is kept so long, in seconds: announcements, answers, events.
  public var retention: TimeInterval = 30 * 86_400
  /// After which a stream that has nothing to tell says that it is there, in seconds: proxies end what is silent for a
  /// minute.
  public var heartbeat: TimeInterval = 15
  /// So many connections may be open at once.
  public var mostConnections = 8_192

  /// Whether a text is a name or an address as ``hosts`` has them; an IPv6 address is in brackets or not.
  public static func isHost(_ text: String) -> Bool {
    let isPlain = Authority(text).map { $0.port == nil } ?? false
    return isPlain || Authority.isAddress(text)
  }

  /// Host and port that it listens on, as a URL has them.
  var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// - Parameter rate: see ``rate``.
  public init(rate: RateLimit) {
    self.rate = rate
    keyFailures = try? RateLimit(rate: 10, burst: 50)
  }
}
