// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation
import Ledger

extension StoredAnnouncement {
  /// What is heard for an announcement.
  public enum Content: Sendable, Hashable {
    case announcement(Announcement, AnnouncementRequest.Options, AnnouncementRequest.Defaults)
    /// A sound file as it stands.
    case file(URL)
  }

  /// What kind of payload an entry has is told by its account and not by the payload: nobody outside can send one that
  /// has a file of this machine read. Names that begin with `crier:` are given to nobody.
  static let files = "crier:files"

  /// The accounts of entries that a player makes itself.
  static let summaries = "crier:summary"
  static let replays = "crier:replay"

  /// Whether it is heard once more: "again" is heard before it.
  public var isReplay: Bool { account == Self.replays || account.hasPrefix("\(Self.replays):") }

  /// A replay has its original's payload, so its account says of which kind that is.
  func replayAccount() -> String {
    if isReplay { return account }
    return [Self.files, Self.summaries].contains(account) ? "\(Self.replays):\(account)" : Self.replays
  }

  private struct FilePayload: Codable {
    var file: String
    var title: String?
  }

  /// A sound file to be played in its turn: information, so that money goes before it.
  ///
  /// - Parameters:
  ///   - file: read when its turn comes near, by whichever process plays the lane; so its path is made absolute.
  ///   - title: what people are told that plays; nil for the file's name.
  public init(file: URL, title: String? = nil, id: String, expiresAt: Date? = nil) {
    let path = file.absoluteURL.standardizedFileURL.path(percentEncoded: false)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    // A string encodes.
    let payload = (try? encoder.encode(FilePayload(file: path, title: title))) ?? Data()
    self.init(account: Self.files, id: id, category: .information, payload: payload, expiresAt: expiresAt)
  }

  /// - Throws: `AnnouncementError` for a payload that cannot be read.
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

  /// What people are told that plays, where a file came with it.
  public var title: String? {
    guard case .file? = try? content else { return nil }
    return try? JSONDecoder().decode(FilePayload.self, from: payload).title
  }

  /// The one announcement that stands for these payments: how many there are, and their sum in each currency.
  ///
  /// - Returns: nil when there can be none, since one of them is no payment received, or a sum is too large to be said.
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
