// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension APNSSimulator {
  /// Everything that decides how a simulator answers.
  ///
  /// The default is a simulator on a free port of 127.0.0.1 that accepts every well-formed token of a device, every
  /// topic and every well-formed provider token, and has no faults.
  public struct Configuration: Sendable {
    /// The port to listen on; 0 chooses a free one.
    public var port = 0
    /// The number of threads that serve connections. Each connection belongs to one of them.
    public var threads = 1
    /// The provider tokens that are accepted.
    public var keys = Keys.any
    /// The bundle ids of the apps that may be pushed to; `nil` allows all of them. A topic with a suffix, such as
    /// `.pushkit.fileprovider`, belongs to the app before the suffix.
    public var topics: Set<String>?
    /// The devices that exist; `nil` makes a device for each well-formed token when the first push to it arrives.
    public var devices: [Device]?
    /// The number of streams that a client may have open on a connection.
    public var maxConcurrentStreams = 1_000
    /// Whether a connection allows only one stream until it has seen a valid provider token, as Apple's servers do.
    public var hasStrictStreams = false
    /// The shortest time between two new provider tokens of a key, in seconds. 0 allows any number of them.
    public var tokenUpdateInterval = 20 * 60
    /// The time before each answer, in milliseconds.
    public var answerDelay = 0
    /// The faults of requests.
    public var faults = Faults.none
    /// The probability, from 0 to 1, that a push changes places with the next one to the same device.
    public var reorderRate = 0.0
    /// The longest time for which a push waits for the one it changes places with, in milliseconds.
    public var reorderPatience = 200
    /// The probability, from 0 to 1, that an accepted push is never delivered.
    public var dropRate = 0.0
    /// The seed of all random decisions: reordered pushes, dropped pushes, and faults by rate.
    public var seed: UInt64 = 1
    /// Whether ``APNSSimulator/deliveries(to:)`` remembers delivered pushes. Streams of pushes do not need it.
    public var remembersDeliveries = true
    /// The number of pushes that ``APNSSimulator/record`` remembers. When the record is full, the oldest push is
    /// forgotten, and counts as a new push if it comes again.
    public var recordSize = 100_000
    /// The file of the certificate authority, as PEM. Its private key is in a file beside it, with the suffix `.key`
    /// and readable by its owner only. If both files exist, the authority is used again; if neither does, a new one is
    /// written. Without a file, the authority exists for one simulator.
    public var certificateAuthorityFile: URL?
    /// Whether a request without `apns-push-type` is refused. By default it is accepted, and its type follows from its
    /// topic and its payload.
    public var requiresPushType = false
    /// Returns the time, in milliseconds since 1970.
    public var now: @Sendable () -> Int64 = { Int64(Date.now.timeIntervalSince1970 * 1000) }

    public init() {}
  }

  /// The provider tokens that a simulator accepts.
  public enum Keys: Sendable {
    /// Every well-formed provider token that is not too old. Its signature is not verified.
    case any
    /// Provider tokens that one of these keys signed.
    case listed([ProviderKey])
  }

  /// A device, named by one of its tokens.
  public struct Device: Sendable {
    /// The state of a token at the push service.
    public enum State: Sendable, Equatable {
      /// The token is valid.
      case active
      /// The app was removed at this time, in milliseconds since 1970.
      case unregistered(since: Int64)
      /// The token expired at this time, in milliseconds since 1970.
      case expired(since: Int64)
      /// The token belongs to the other environment: sandbox instead of production, or the reverse.
      case wrongEnvironment
    }

    /// The token, in lowercase hexadecimal digits.
    public let token: String
    /// The topics that the token is for; `nil` allows all of them.
    public var topics: Set<String>?
    public var state: State
    /// Whether the device is connected. While it is not, the newest push of each topic waits for it.
    public var isOnline: Bool

    public init(_ token: String, topics: Set<String>? = nil, state: State = .active, isOnline: Bool = true) {
      (self.token, self.topics, self.state, self.isOnline) = (token.lowercased(), topics, state, isOnline)
    }
  }
}
