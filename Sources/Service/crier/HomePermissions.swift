// SPDX-License-Identifier: Apache-2.0

import Foundation
import InstallationDiagnosis
import TextFormats

/// The permission rules for a home folder. Only its user may change it: anyone else who can write files there could
/// plant a signing secret, a key or a setting.
///
/// The rules are a pure value; ``CrierHome/requirePrivate()`` checks the files.
enum HomePermissions {
  /// How strictly a file in the home folder must be protected.
  enum Care: Sendable, Hashable {
    /// Keys, amounts and names: no other user may read or write the file.
    case secret
    /// Folders, settings, the lexicon and voice packs: no other user may write to the file.
    case trusted
  }

  /// A problem with the permissions of a file or a folder.
  enum Fault: Sendable, Hashable {
    case foreign(owner: uid_t)
    case writable
    case readable
  }

  /// - Parameters:
  ///   - mode: The permission bits.
  ///   - owner: The file's owner.
  ///   - user: The user who runs this program. Files of root are trusted like the user's own.
  static func fault(_ care: Care, mode: mode_t, owner: uid_t, user: uid_t) -> Fault? {
    guard owner == user || owner == 0 else { return .foreign(owner: owner) }
    if mode & 0o022 != 0 { return .writable }
    return care == .secret && mode & 0o077 != 0 ? .readable : nil
  }
}

/// The error for a home folder that other users can change, or whose secrets they can read.
struct UnsafeHome: Error, Sendable, CustomStringConvertible {
  struct Finding: Sendable, Hashable {
    /// The path of the home folder as the user typed it, followed by the file's name.
    var path: String
    var isFolder: Bool
    var care: HomePermissions.Care
    var fault: HomePermissions.Fault
    /// Whether this is the home folder itself.
    var isHome = false
    /// The name of the owner's account; nil if the owner has no account.
    var owner: String?

    /// Whether the home folder belongs to a user who is neither root nor the user of this program.
    var isForeignHome: Bool {
      if case .foreign = fault { isHome } else { false }
    }
  }

  /// The problems found; at least one.
  var findings: [Finding]

  var description: String { text(consequence: "Nothing was done.") }

  /// Returns the text of the error.
  ///
  /// - Parameter consequence: A sentence that says what was not done.
  func text(consequence: String) -> String {
    if let foreign = findings.first(where: { $0.isForeignHome }) {
      // The owner of the home is the user of the service. A home that is given to another user locks out the service.
      let owner = foreign.owner ?? "its owner"
      return """
        \(foreign.path): belongs to another user (\(owner)), who could change it at any time.
        \(consequence) If this is the home of a service, run the command as the service's user:
          runuser -u \(Shell.quoted(foreign.owner ?? "USER")) -- crier …
        """
    }
    return
      (findings.map(Self.sentence)
      + ["\(consequence) Check that the files' contents are your own, and then run:"]
      + findings.map { "  \(Self.command($0))" }).joined(separator: "\n")
  }

  static func sentence(_ finding: Finding) -> String {
    switch finding.fault {
    case .foreign(let owner): "\(finding.path): belongs to another user (id \(owner)), who could change it at any time."
    case .writable where finding.isFolder:
      "\(finding.path): other users of this machine can write to it, and could have put keys or settings there."
    case .writable: "\(finding.path): other users of this machine can write to it, and could have changed it."
    case .readable: "\(finding.path): other users of this machine can read it, and it is secret."
    }
  }

  static func command(_ finding: Finding) -> String {
    let path = Shell.quoted(finding.path)
    return switch (finding.fault, finding.care) {
    case (.foreign, _): "sudo chown \"$(id -un)\" \(path)"
    case (_, .secret): "chmod go= \(path)"
    case (_, .trusted): "chmod go-w \(path)"
    }
  }
}

extension CrierHome {
  /// Checks the permissions of the home folder and of its trusted and secret files. Missing files are skipped.
  ///
  /// - Throws: ``UnsafeHome``.
  func requirePrivate() throws(UnsafeHome) {
    let findings = unsafeFiles
    guard findings.isEmpty else { throw UnsafeHome(findings: findings) }
  }

  /// The home folder and its trusted and secret files whose permissions break the rules. Missing files are skipped.
  var unsafeFiles: [UnsafeHome.Finding] {
    var files: [(name: String, care: HomePermissions.Care)] = [("", .trusted)]
    files += [ledgerFile, signingSecret, firstKey, firstKeyHeader].map { ($0.lastPathComponent, .secret) }
    files += ["-wal", "-shm", "-journal"].map { ("\(ledgerFile.lastPathComponent)\($0)", .secret) }
    files += [
      configuration, lexicon, chosenPacks, speechServerVerdicts, accountWork, batches, previews, playerPreferences,
    ].map { ($0.lastPathComponent, .trusted) }
    files += packFiles.map { ($0, .trusted) }
    return files.compactMap { finding($0.name, $0.care) }
  }

  /// Whether a file or folder does not exist. A file that this user may not reach is not missing.
  static func isMissing(_ file: URL) -> Bool {
    guard access(file.path(percentEncoded: false), F_OK) != 0 else { return false }
    return errno == ENOENT || errno == ENOTDIR
  }

  /// The files of the user's voice packs. They must be protected because amounts are spoken with them.
  private var packFiles: [String] {
    let name = voices.lastPathComponent
    let inside = FileManager.default.enumerator(atPath: voices.path(percentEncoded: false))?.compactMap {
      $0 as? String
    }
    return [name] + (inside ?? []).map { "\(name)/\($0)" }
  }

  /// - Parameter name: The file's path relative to the home folder, or empty for the folder itself.
  private func finding(_ name: String, _ care: HomePermissions.Care) -> UnsafeHome.Finding? {
    // Links are followed, because the program reads their targets.
    let file = (name.isEmpty ? directory : directory.appending(path: name)).resolvingSymlinksInPath()
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false)),
      // If the resolved file is still a link, its target does not exist, for example because a disk is not connected.
      attributes[.type] as? FileAttributeType != .typeSymbolicLink,
      let mode = attributes[.posixPermissions] as? Int, let owner = attributes[.ownerAccountID] as? Int,
      let fault = HomePermissions.fault(care, mode: mode_t(mode), owner: uid_t(owner), user: geteuid())
    else { return nil }
    return UnsafeHome.Finding(
      path: name.isEmpty ? typed : typed.hasSuffix("/") ? typed + name : "\(typed)/\(name)",
      isFolder: attributes[.type] as? FileAttributeType == .typeDirectory, care: care, fault: fault,
      isHome: name.isEmpty, owner: attributes[.ownerAccountName] as? String)
  }
}
