// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The locations of the program's own files: its data (`Templates/`, `Voices/`, `Console/`) and the speaker program.
public struct Installation: Sendable, Hashable {
  /// The folder that holds `Templates/` and `Voices/`.
  public var data: URL
  public var speaker: URL

  public var templates: URL { data.appending(path: "Templates", directoryHint: .isDirectory) }

  /// The service's web console and its OpenAPI document.
  public var console: URL { data.appending(path: "Console", directoryHint: .isDirectory) }

  /// The voice packs, one folder each.
  public var voices: URL { data.appending(path: "Voices", directoryHint: .isDirectory) }

  /// Finds the data folder. The first of these is used: the requested folder, `CRIER_DATA`, `../share/crier` beside the
  /// executable's folder, and the checkout that the executable was built in. The folders need not exist: a missing file
  /// is reported when it is needed.
  ///
  /// - Parameters:
  ///   - data: The folder given with `--data`.
  ///   - executable: The running program, with links resolved.
  public init(data: String?, environment: [String: String], executable: URL) {
    let folder = executable.resolvingSymlinksInPath().deletingLastPathComponent()
    let prefix = folder.deletingLastPathComponent()
    let installed = prefix.appending(path: "share/crier", directoryHint: .isDirectory)
    if let asked = data ?? environment["CRIER_DATA"], !asked.isEmpty {
      self.data = URL(filePath: asked, directoryHint: .isDirectory)
    } else if Self.exists(installed.appending(path: "Templates")) {
      self.data = installed
    } else {
      self.data = Self.ancestors(of: folder).first { Self.exists($0.appending(path: "Templates")) } ?? installed
    }
    let beside = folder.appending(path: "speaker")
    speaker = Self.exists(beside) ? beside : prefix.appending(path: "libexec/crier/speaker")
  }

  private static func exists(_ url: URL) -> Bool {
    FileManager.default.fileExists(atPath: url.path(percentEncoded: false))
  }

  private static func ancestors(of folder: URL) -> [URL] {
    var folders = [folder]
    while let last = folders.last, last.pathComponents.count > 1 { folders.append(last.deletingLastPathComponent()) }
    return folders
  }
}
