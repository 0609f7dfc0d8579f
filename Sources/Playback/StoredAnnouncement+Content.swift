// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation
import Ledger

extension StoredAnnouncement {
  /// The content that is played for an announcement.
  public enum Content: Sendable, Hashable {
    case announcement(Announcement, AnnouncementRequest.Options, AnnouncementRequest.Defaults)
    /// A sound file, played unchanged.
    case file(URL)
  }

  /// The account of entries for sound files. The account determines the kind of payload, and accounts that begin with
  /// `crier:` are reserved, so no outside request can make the player read a file of this machine.
  static let files = "crier:files"

  /// The accounts of entries that the player creates itself.
  static let summaries = "crier:summary"
  static let replays = "crier:replay"

  /// Whether the announcement is a replay, which is played after the word "again".
  public var isReplay: Bool { account == Self.replays || account.hasPrefix("\(Self.replays):") }

  /// Returns the account of a replay's entry. It contains the kind of the original, because the replay has the
  /// original's payload.
  func replayAccount() -> String {
    if isReplay { return account }
    return [Self.files, Self.summaries].contains(account) ? "\(Self.replays):\(account)" : Self.replays
  }

  private struct FilePayload: Codable {
    var file: String
    var title: String?
  }

  /// Creates an announcement of a sound file. It is information, so money goes before it.
  ///
  /// - Parameters:
  ///   - file: The sound file. The process that plays the lane reads it shortly before its turn, so its path is made
  ///     absolute.
  ///   - title: The title for people; nil for the file's name.
  public init(file: URL, title: String? = nil, id: String, expiresAt: Date? = nil) {
    let path = file.absoluteURL.standardizedFileURL.path(percentEncoded: false)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    // Encoding a string cannot fail.
    let payload = (try? encoder.encode(FilePayload(file: path, title: title))) ?? Data()
    self.init(account: Self.files, id: id, category: .information, payload: payload, expiresAt: expiresAt)
  }

  /// - Throws: `AnnouncementError` if the payload cannot be read.
  public var content: Content {
    get throws(AnnouncementError) {
      let source = account.hasPrefix("\(Self.replays):") ? String(account.dropFirst(Self.replays.count + 1)) : account
      switch source {
      case Self.summaries:
        return .announcement(
          .summary(try PaymentSummary(json: payload)), AnnouncementRequest.Options(), AnnouncementRequest.Defaults())
      case Self.files:
        guard let file = try? JSONDecoder().decode(FilePayload.self, from: payload).file else {
          throw AnnouncementError(
            .payloadMalformed, "file", "is missing", remedy: "give the path of a sound file")
        }
        return .file(URL(filePath: file))
      default:
        let request = try PayloadDecoder.storedRequest(payload)
        return .announcement(request.announcement, request.options, request.defaults)
      }
    }
  }

  /// The title for people, if a file has one.
  public var title: String? {
    guard case .file? = try? content else { return nil }
    return try? JSONDecoder().decode(FilePayload.self, from: payload).title
  }

  /// Makes the single announcement that stands for these payments. It says their number and their sum in each currency.
  ///
  /// - Returns: The announcement, or nil if one of them is not a received payment or if a sum is too large to be
  ///   spoken.
  public static func summary(of payments: [StoredAnnouncement]) -> StoredAnnouncement? {
    var received: [Payment] = []
    for stored in payments {
      guard case .announcement(.payment(let payment), _, _) = try? stored.content else { return nil }
      received.append(payment)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    guard let summary = PaymentSummary(of: received), let payload = try? encoder.encode(summary)
    else { return nil }
    return StoredAnnouncement(account: summaries, id: UUID().uuidString, category: .payment, payload: payload)
  }
}
