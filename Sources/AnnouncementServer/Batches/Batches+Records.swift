// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation

/// What is told and kept of a batch.
extension Batches {
  /// What is told of a batch.
  struct Status: Sendable, Hashable, Codable {
    enum State: String, Sendable, Codable { case running, done, failed, cancelled }
    struct Fault: Sendable, Hashable, Codable {
      var code: String
      var message: String
    }

    var id: String
    var state = State.running
    /// Rows that were read so far.
    var rows = 0
    var done = 0
    var failed = 0
    var createdAt: Date
    var finishedAt: Date?
    var error: Fault?

    enum CodingKeys: String, CodingKey {
      case id, state, rows, done, failed, error
      case createdAt = "created_at"
      case finishedAt = "finished_at"
    }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(id, forKey: .id)
      try fields.encode(state, forKey: .state)
      try fields.encode(rows, forKey: .rows)
      try fields.encode(done, forKey: .done)
      try fields.encode(failed, forKey: .failed)
      try fields.encode(createdAt, forKey: .createdAt)
      try fields.encode(finishedAt, forKey: .finishedAt)
      try fields.encode(error, forKey: .error)
    }
  }

  /// What is kept of a batch beside its list and its result.
  struct Record: Codable {
    var account: String
    /// What the sender calls the service.
    var authority: String?
    var format: String
    var options: Requested
    var status: Status
    /// Whether the ledger has the clips of its result; nil in what an earlier version wrote.
    var areClipsNoted: Bool?
  }

  /// How its clips are to be made, as the request and its sender's key have it.
  struct Requested: Sendable, Hashable, Codable {
    var method: String?
    var voice: String?
    var rate: Int?
    var pack: String?
    var format: String?
    var encoding: String?
    var group: String?
    var defaultLocale: String?
    var defaultPack: String?
    var defaultGroup: String?
    /// Whether keys that nobody reads are refused; nil in what an earlier version wrote.
    var isStrict: Bool?

    var unknownKeys: PayloadDecoder.UnknownKeys { isStrict == true ? .refuse : .warn }

    var options: AnnouncementRequest.Options {
      var options = AnnouncementRequest.Options()
      (options.method, options.voice, options.rate, options.pack) = (method, voice, rate, pack)
      (options.format, options.encoding, options.group) = (format, encoding, group)
      return options
    }

    var defaults: AnnouncementRequest.Defaults {
      AnnouncementRequest.Defaults(locale: defaultLocale, pack: defaultPack, group: defaultGroup)
    }
  }
}
