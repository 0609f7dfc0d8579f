// SPDX-License-Identifier: Apache-2.0

import SoundLibrary

/// The warning about an app group with a name that no group on iOS can have. Such a group is not refused, because its
/// folder works on this machine.
enum GroupWarning {
  /// Returns a warning for each group whose name does not begin with `group.`.
  ///
  /// - Parameter source: The option or the setting that names the groups.
  static func texts(about groups: [String], in source: String) -> [String] {
    groups.filter { !GroupContainer.hasGroupPrefix($0) }.map {
      "\(source): \(Terminal.printable($0)) does not begin with \"group.\", as every app group on iOS does; a phone has "
        + "no such group."
    }
  }

  /// Writes the warnings to standard error.
  static func note(about groups: [String], in source: String) {
    for text in texts(about: groups, in: source) { Terminal.note("crier: \(text)") }
  }
}
