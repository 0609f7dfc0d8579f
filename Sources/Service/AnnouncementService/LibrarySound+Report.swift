// SPDX-License-Identifier: Apache-2.0

package import Announcer
package import Ledger

extension LibrarySound {
  /// The file of a clip that was rendered into the folder of an app group.
  package init(_ report: ClipReport, group: String) {
    self.init(name: report.clip.name, group: group, sha256: report.clip.sha256, bytes: report.clip.bytes)
  }
}
