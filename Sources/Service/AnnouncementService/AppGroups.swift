// SPDX-License-Identifier: Apache-2.0

package import Announcements
package import Announcer
package import Foundation
import SoundLibrary

/// The app groups that have folders for clips. They come from the settings and from keys, which the operator controls.
/// A request can select one of these groups but cannot create one.
package struct AppGroups: Sendable {
  /// The maximum number of existing group folders that are accepted if the settings list no groups. If there are more,
  /// somebody other than the operator may have created them, so none of them is accepted.
  package static let mostFound = 64
  /// The maximum number of groups that an error message names.
  private static let mostListed = 8

  /// The group of a request if neither the request nor its key names a group.
  package let standard: String
  /// The groups in the settings, or the groups whose folders were found. The standard group is always included.
  package let own: Set<String>
  /// Whether more than ``mostFound`` folders were found, so that none of them is accepted.
  package let hasTooManyFolders: Bool

  /// - Parameters:
  ///   - listed: The groups in the settings besides the standard one; nil to accept the groups that have a folder.
  ///   - containers: The folder that contains a folder for each group.
  package init(standard: String, listed: [String]?, containers: URL) {
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

  /// Returns the group of a request.
  ///
  /// - Parameters:
  ///   - requested: The group that the request names, if any.
  ///   - defaults: The defaults of the sender's key.
  /// - Throws: `AnnouncerError` with `optionInvalid` if the group belongs neither to the service nor to the key.
  package func group(_ requested: String?, _ defaults: AnnouncementRequest.Defaults) throws(AnnouncerError) -> String {
    guard let requested else { return defaults.group ?? standard }
    if own.contains(requested) || requested == defaults.group { return requested }
    let choices = own.union([defaults.group].compactMap(\.self)).sorted()
    let rest = choices.count - Self.mostListed
    throw AnnouncerError(
      .optionInvalid, "group", "is not a group of this service",
      remedy: "choose one of \(choices.prefix(Self.mostListed).joined(separator: ", "))"
        + (rest > 0 ? " and \(rest) more" : "") + ", or add it to the setting 'groups'")
  }
}
