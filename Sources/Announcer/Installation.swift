// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Where the program's own files are: its data (`Templates/`, `Voices/`, `Console/`) and the speaker.
public struct Installation: Sendable, Hashable {
  /// Holds `Templates/` and `Voices/`.
  public var data: URL
  public var speaker: URL

  public var templates: URL { data.appending(path: "Templates", directoryHint: .isDirectory) }

  /// The service's console and its contract for programs.
  public var console: URL { data.appending(path: "Console", directoryHint: .isDirectory) }

  /// Voice packs, one folder each.
  public var voices: URL { data.appending(path: "Voices", directoryHint: .isDirectory) }

  /// Looks where the contract says: the folder asked for, `CRIER_DATA`, `../share/crier` beside the executable's
  /// folder, and the checkout that the executable was built in. Nothing needs to be there: what is missing is said by
  /// whoever needs it.
  ///
  /// - Parameters:
  ///   - data: as asked for with `--data`.
  ///   - executable: the running program, links resolved.
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
