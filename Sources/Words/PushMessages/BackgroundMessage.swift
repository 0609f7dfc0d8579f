// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The payload of a background push, which wakes the app for a moment so that it downloads clips ahead of their use.
///
/// The priority of such a push must be 5 or 1, which ``PushRequest`` checks. iOS delivers only a few background pushes
/// an hour, or none, so nothing may depend on their delivery.
public struct BackgroundMessage: Sendable, Hashable {
  /// The clips to download, the most wanted first.
  public var clips: [PushedClip]

  public init(clips: [PushedClip]) { self.clips = clips }

  /// Reads the clips from a payload that the app received. Unknown keys are ignored.
  ///
  /// - Returns: nil if the payload has no list `prefetch` in `crier`.
  /// - Throws: ``PushMessageError`` with `contentInvalid` or `clipInvalid`.
  public init?(payload: Data) throws(PushMessageError) {
    struct Outer: Decodable {
      struct Content: Decodable { var prefetch: [PushedClip]? }
      var crier: Content?
    }
    guard let clips = try decodedPayload(Outer.self, from: payload).crier?.prefetch else { return nil }
    self.clips = clips
  }

  /// Returns the payload, of any size.
  public func encoded() -> Data { payloadData(Payload(clips: clips)) }

  /// Returns the payload in at most 4,096 bytes, with as many of the first clips as fit.
  ///
  /// - Returns: The payload and the number of clips that were left out at the end.
  /// - Throws: ``PushMessageError`` with `messageTooLarge` if the first clip alone does not fit.
  public func fitted() throws(PushMessageError) -> (body: Data, leftOut: Int) {
    var count = clips.count
    while true {
      let data = payloadData(Payload(clips: Array(clips.prefix(count))))
      if data.count <= PushRequest.largestBody { return (data, clips.count - count) }
      guard count > 1 else {
        throw PushMessageError(
          .messageTooLarge,
          "has \(data.count) bytes with one clip; APNs accepts at most \(PushRequest.largestBody), so shorten the "
            + "clip's URL")
      }
      // Each clip has more than 100 bytes, so a long list is first cut to the number of clips that could fit.
      count = min(count - 1, PushRequest.largestBody / 100)
    }
  }

  private struct Payload: Encodable {
    struct Notification: Encodable {
      enum CodingKeys: String, CodingKey { case contentAvailable = "content-available" }
      var contentAvailable = 1
    }
    struct Content: Encodable { var prefetch: [PushedClip] }

    var aps = Notification()
    var crier: Content?

    init(clips: [PushedClip]) { crier = clips.isEmpty ? nil : Content(prefetch: clips) }
  }
}
