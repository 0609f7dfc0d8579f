// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What an announcement's clip is made from. A node that does not have the file can make the same clip again.
public struct ClipSource: Sendable, Hashable {
  /// The voice that spoke.
  public enum Voice: Sendable, Hashable {
    /// The engine spoke all words.
    case engine
    case pack(id: String)
    /// The clip is in another language than the report's, for a phone with that language. The ledger does not know its
    /// voice.
    case unknown
  }

  /// The account that announced the clip.
  public var account: String
  /// The announcement as JSON: exactly the bytes that were sent.
  public var payload: Data
  /// The sender's default of the voice pack at the time of acceptance.
  public var defaultPack: String?
  /// The language of the words, as a BCP 47 tag, unless the payload names one.
  public var locale: String
  public var voice: Voice

  public init(account: String, payload: Data, defaultPack: String? = nil, locale: String, voice: Voice) {
    (self.account, self.payload, self.defaultPack) = (account, payload, defaultPack)
    (self.locale, self.voice) = (locale, voice)
  }

  /// The maximum number of announcements of a clip that are returned as its sources.
  package static let most = 4

  /// - Returns: nil if the payload is not stored.
  package init?(row: some StoredRow) throws {
    guard let payload: Data = try row.optional("payload") else { return nil }
    let (isDecided, pack): (Int, String?) = (try row.value("decided"), try row.optional("pack"))
    self.init(
      account: try row.value("account"), payload: payload, defaultPack: try row.optional("default_pack"),
      locale: try row.value("locale"), voice: isDecided == 0 ? .unknown : pack.map { .pack(id: $0) } ?? .engine)
  }
}

extension NewAnswer {
  /// The part of a request from which the clip of its answer is made.
  public struct Source: Sendable, Hashable {
    /// The announcement as JSON, at most 1 MiB: exactly the bytes that were sent.
    public var payload: Data
    /// The id of the voice pack for a payload that names none, at most 255 bytes of UTF-8 without a zero byte.
    public var defaultPack: String?

    public init(payload: Data, defaultPack: String? = nil) { (self.payload, self.defaultPack) = (payload, defaultPack) }
  }
}

extension Array<ClipSource> {
  /// Returns the sources, each once.
  package var withoutRepetitions: [ClipSource] {
    var known: Set<ClipSource> = []
    return filter { known.insert($0).inserted }
  }
}
