// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import TextFormats

/// The types that describe a batch to clients and where batches are stored.
extension Batches {
  /// The status of a batch, as clients receive it.
  struct Status: Sendable, Hashable, Codable {
    enum State: String, Sendable, Codable { case running, done, failed, cancelled }

    /// A fault of a row.
    struct RowFault: Sendable, Hashable, Codable {
      var line: Int
      /// The number of the element in a JSON array, counted from 1; missing for lists in other formats.
      var element: Int?
      /// The id of the row; missing if the row has no id, or if the id could not be read.
      var id: String?
      /// The column or the key with the fault; null if the fault does not belong to one column.
      @ExplicitNull var column: String?
      var code: String
      var message: String
    }

    /// The maximum number of faults that are kept with the status. The result has all of them.
    static let mostFaults = 10

    var id: String
    /// The name of the list's file, if the sender gave it.
    @ExplicitNull var name: String? = nil
    var state = State.running
    /// The number of rows that were read so far.
    var rows = 0
    var done = 0
    var failed = 0
    var createdAt: Date
    @ExplicitNull var finishedAt: Date? = nil
    @ExplicitNull var error: ErrorReport? = nil
    /// The faults of the first faulty rows, in the order of their lines; nil in records of earlier versions.
    var faults: [RowFault]? = []

    /// Adds the fault of a row. Rows end in any order, so the faults with the lowest line numbers are kept.
    mutating func add(_ fault: RowFault) {
      var all = faults ?? []
      all.insert(fault, at: all.firstIndex { $0.line > fault.line } ?? all.endIndex)
      faults = Array(all.prefix(Self.mostFaults))
    }

    enum CodingKeys: String, CodingKey {
      case id, name, state, rows, done, failed, error, faults
      case createdAt = "created_at"
      case finishedAt = "finished_at"
    }
  }

  /// The stored record of a batch. Its list and its result are stored separately.
  struct Record: Codable {
    var account: String
    /// The host and port by which the sender called the service.
    var authority: String?
    var format: String
    var options: Requested
    var status: Status
    /// Whether the ledger has the clips of the result; nil in records of earlier versions.
    var areClipsNoted: Bool?
    /// The number of times that the batch was started since it last ended, or since the service last stopped it without
    /// a crash; nil for 0. See `InterruptedWork`.
    var starts: Int?
  }

  /// The options of the batch's clips, from the request and from the defaults of its sender's key.
  struct Requested: Sendable, Hashable, Codable {
    var method: String?
    var voice: String?
    var rate: Int?
    var pack: String?
    var format: String?
    var encoding: String?
    var sampleRate: Int?
    var group: String?
    var defaultLocale: String?
    var defaultPack: String?
    var defaultGroup: String?
    /// Whether unknown keys of a row are refused; nil in records of earlier versions.
    var isStrict: Bool?

    var unknownKeys: PayloadDecoder.UnknownKeys { isStrict == true ? .refuse : .warn }

    var options: AnnouncementRequest.Options {
      var options = AnnouncementRequest.Options()
      (options.method, options.voice, options.rate, options.pack) = (method, voice, rate, pack)
      (options.format, options.encoding, options.sampleRate, options.group) = (format, encoding, sampleRate, group)
      return options
    }

    var defaults: AnnouncementRequest.Defaults {
      AnnouncementRequest.Defaults(locale: defaultLocale, pack: defaultPack, group: defaultGroup)
    }
  }
}
