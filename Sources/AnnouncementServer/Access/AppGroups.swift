// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundLibrary

/// The app groups whose folders clips are put into and looked for in. They are the operator's: those of the settings and
/// those of keys. A request chooses among them and makes none.
struct AppGroups: Sendable {
  /// Where the settings list none, so many folders that are there count as the operator's. Where there are more, somebody
  /// else may have made them, and none of them counts.
  static let mostFound = 64
  /// So many are named in an error.
  private static let mostTold = 8

  /// Of requests that name none and whose key has none.
  let standard: String
  /// The settings' groups, or the folders that were found; the standard one among them.
  let own: Set<String>
  /// Whether there are so many folders that none of them counts.
  let hasTooManyFolders: Bool

  /// - Parameters:
  ///   - listed: the settings' groups beside the standard one; nil for those that have a folder.
  ///   - containers: holds a folder for each group.
  init(standard: String, listed: [String]?, containers: URL) {
    self.standard = standard
    if let listed {
      own = Set(listed + [standard])
      hasTooManyFolders = false
      return
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: containers.path(percentEncoded: false))) ?? []
    let found = names.filter(GroupContainer.isGroupName)
    hasTooManyFolders = found.count > Self.mostFound
    own = Set((hasTooManyFolders ? [] : found) + [standard])
  }

  /// The group of a request.
  ///
  /// - Parameters:
  ///   - requested: the one that it names.
  ///   - defaults: what its sender's key has.
  /// - Throws: `AnnouncerError` with `optionInvalid` for a group that is neither the service's nor the key's.
  func group(_ requested: String?, _ defaults: AnnouncementRequest.Defaults) throws(AnnouncerError) -> String {
    guard let requested else { return defaults.group ?? standard }
    if own.contains(requested) || requested == defaults.group { return requested }
    let choices = own.union([defaults.group].compactMap(\.self)).sorted()
    let rest = choices.count - Self.mostTold
    throw AnnouncerError(
      .optionInvalid, "group", "is none of this service's groups",
      remedy: "leave it out, or choose one of \(choices.prefix(Self.mostTold).joined(separator: ", "))"
        + (rest > 0 ? " and \(rest) more" : ""))
  }
}
