// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The paths of an installation, as texts for people.
public enum InstallationPath {
  /// Returns a folder's path without the slash at its end.
  public static func text(_ folder: URL) -> String {
    let path = folder.path(percentEncoded: false)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
