// SPDX-License-Identifier: Apache-2.0

import Announcements
public import Foundation
public import HostAddresses
public import ServiceAccess

/// The settings of the service. Every setting has a default that suits a shop.
public struct ServiceSettings: Sendable {
  /// The name or address of this machine on which the service listens.
  public var host = "127.0.0.1"
  /// The port on which the service listens; 0 for any free port.
  public var port = 8080
  /// The public base URL of the service for the URLs of clips, such as `https://pay.example`; nil to use the host and
  /// port by which each client calls the service.
  public var publicURL: String?
  /// Further names and addresses of the service, without ports, by which clients may open its console and its metrics.
  public var hosts: [String] = []
  /// The locale used when neither the announcement nor its key names one.
  public var locale = PhraseBooks.usualLocale
  /// The time zone of the shop, in which its days and hours begin.
  public var timeZone = TimeZone.current
  public var group = "group.crier"
  /// The other app groups that a request may name; nil for all groups that have a folder when the service starts. In
  /// addition, a request may name the group of its key.
  public var groups: [String]?
  /// The rate limit of keys that have no limit of their own.
  public var rate: RateLimit
  /// The limits of the work for each account.
  public var work = WorkLimits()
  /// The rate of 401 responses that an address may receive; nil for no limit. Requests with a valid key are not
  /// limited.
  public var keyFailures: RateLimit?
  /// The addresses of the proxies whose `X-Forwarded-For` is trusted to name the client.
  public var proxies: Set<IPAddress> = Set(["127.0.0.1", "::1"].compactMap(IPAddress.init(_:)))
  /// Whether the player takes over the announcements that wait on outputs without a player, such as the output of
  /// earlier settings. If false, the announcements wait, and the service reports them.
  public var takesOver = true
  /// The limits that cause alarms.
  public var alarms = AlarmSettings()
  /// The maximum size of the clips that are kept in memory, in bytes.
  public var cacheBytes = 64 << 20
  /// The lifetime of the signed URL of a clip, in seconds.
  public var urlLifetime: TimeInterval = 7 * 86_400
  /// The time within which a request must arrive completely and a client must continue to read its response, in
  /// seconds.
  public var requestDeadline: TimeInterval = 30
  /// The time within which the service must have stopped, in seconds.
  public var stopDeadline: TimeInterval = 10
  /// The time for which finished announcements, responses and events, and clips that nobody asks for, are kept, in
  /// seconds.
  public var retention: TimeInterval = 30 * 86_400
  /// The maximum size of all sounds in the folder of an app group, in bytes; nil for no limit. The default has room for
  /// the clips of 20,000 announcements a day, each with 190 kB on average, for the seven days of their links.
  public var mostSoundBytes: Int? = 30 << 30
  /// The maximum number of sounds in the folder of an app group; nil for no limit.
  public var mostSounds: Int? = 200_000
  /// The time after which an idle stream sends a heartbeat, in seconds. Proxies close a stream that is silent for a
  /// minute.
  public var heartbeat: TimeInterval = 15
  /// The time between two pushes of changes of the library to a device and container, in seconds.
  public var libraryPushInterval: TimeInterval = 300
  /// The maximum number of open connections.
  public var mostConnections = 8_192

  /// The time for which a clip is kept after its last use, in seconds: as long as a link to the clip is valid. The
  /// retention time also limits the life of a link, because clips contain names and notes.
  public var clipLifetime: TimeInterval { min(urlLifetime, retention) }

  /// Returns whether a text is a name or an address in the form of ``hosts``. An IPv6 address may have brackets or not.
  public static func isHost(_ text: String) -> Bool {
    let isPlain = Authority(text).map { $0.port == nil } ?? false
    return isPlain || Authority.isAddress(text)
  }

  /// The host and port on which the service listens, in the form used in a URL.
  var authority: String { authority(port: port) }

  /// Returns the host with a port in the form used in a URL, with brackets around an IPv6 address.
  public func authority(port: Int) -> String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// - Parameter rate: The rate limit of keys that have no limit of their own.
  public init(rate: RateLimit) {
    self.rate = rate
    keyFailures = try? RateLimit(rate: 10, burst: 50)
  }
}
