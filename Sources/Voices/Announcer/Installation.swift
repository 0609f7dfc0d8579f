// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The places of the program's own files: its data (`Templates/`, `Readers/`, `Tones/`, `Voices/`, `Console/`) and the
/// speaker program.
public struct Installation: Sendable, Hashable {
  /// The data folder, which contains `Templates/` and `Voices/`.
  public var data: URL
  public var speaker: URL

  /// The folder that contains the readers of amounts, which check the words: `Readers/` in the data folder. If another
  /// data folder is used and has no readers, for example because it was made for an earlier version, the program's own
  /// readers are used.
  public var readers: URL

  public var templates: URL { data.appending(path: "Templates", directoryHint: .isDirectory) }

  /// The folder that contains the descriptions of Crier's own tones.
  public var tones: URL { data.appending(path: "Tones", directoryHint: .isDirectory) }

  /// The folder that contains the service's web console and its OpenAPI document.
  public var console: URL { data.appending(path: "Console", directoryHint: .isDirectory) }

  /// The systemd drop-in file that gives the service's unit access to the network. It has no effect until it is
  /// installed.
  public var networkDropIn: URL { data.appending(path: "Deployment/network.conf", directoryHint: .notDirectory) }

  /// The folder that contains the voice packs. Each pack is a folder of its own.
  public var voices: URL { data.appending(path: "Voices", directoryHint: .isDirectory) }

  /// Finds the data folder. There are four sources, and the first one that applies is used: the folder given with
  /// `--data`, `CRIER_DATA`, `../share/crier` relative to the executable's folder, and the checkout in which the
  /// executable was built. The folders need not exist: a missing file is reported when it is needed.
  ///
  /// - Parameters:
  ///   - data: The folder given with the option `--data`.
  ///   - executable: The running program, with links in its path resolved.
  public init(data: String?, environment: [String: String], executable: URL) {
    let folder = executable.resolvingSymlinksInPath().deletingLastPathComponent()
    let prefix = folder.deletingLastPathComponent()
    let installed = prefix.appending(path: "share/crier", directoryHint: .isDirectory)
    let own =
      Self.exists(installed.appending(path: "Templates"))
      ? installed
      : Self.ancestors(of: folder).first { Self.exists($0.appending(path: "Templates")) } ?? installed
    if let asked = data ?? environment["CRIER_DATA"], !asked.isEmpty {
      self.data = URL(filePath: asked, directoryHint: .isDirectory)
    } else {
      self.data = own
    }
    let readers = self.data.appending(path: "Readers", directoryHint: .isDirectory)
    self.readers = Self.exists(readers) ? readers : own.appending(path: "Readers", directoryHint: .isDirectory)
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
