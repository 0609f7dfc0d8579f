// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Whether a home folder is its user's alone to change: whoever else can put a file there puts a signing secret, a key or a
/// setting there.
///
/// The rules are a value; ``CrierHome/requirePrivate()`` looks at the files.
enum HomePermissions {
  /// How far a file of the home is to be kept.
  enum Care: Sendable, Hashable {
    /// Keys, and amounts with names: nobody else may read it or write to it.
    case secret
    /// Folders, settings, the lexicon and voice packs: nobody else may write to it.
    case trusted
  }

  /// What is wrong with a file or a folder.
  enum Fault: Sendable, Hashable {
    case foreign(owner: uid_t)
    case writable
    case readable
  }

  /// - Parameters:
  ///   - mode: the permission bits.
  ///   - owner: whose it is.
  ///   - user: who runs this program. Root's files are as good as the user's own.
  static func fault(_ care: Care, mode: mode_t, owner: uid_t, user: uid_t) -> Fault? {
    guard owner == user || owner == 0 else { return .foreign(owner: owner) }
    if mode & 0o022 != 0 { return .writable }
    return care == .secret && mode & 0o077 != 0 ? .readable : nil
  }
}

/// A home folder that others can change, or whose secrets they can read.
struct UnsafeHome: Error, Sendable, CustomStringConvertible {
  struct Finding: Sendable, Hashable {
    /// As the home folder was typed, and the file's name behind it.
    var path: String
    var isFolder: Bool
    var care: HomePermissions.Care
    var fault: HomePermissions.Fault
  }

  /// At least one.
  var findings: [Finding]

  var description: String {
    (findings.map(Self.sentence)
      + ["Nothing was done. See to it that what is there is yours, and then run:"]
      + findings.map { "  \(Self.command($0))" }).joined(separator: "\n")
  }

  private static func sentence(_ finding: Finding) -> String {
    switch finding.fault {
    case .foreign(let owner): "\(finding.path): belongs to another user (id \(owner)), who could change it at any time."
    case .writable where finding.isFolder:
      "\(finding.path): other users of this machine can write to it, and could have put keys or settings there."
    case .writable: "\(finding.path): other users of this machine can write to it, and could have changed it."
    case .readable: "\(finding.path): other users of this machine can read it, and it is secret."
    }
  }

  private static func command(_ finding: Finding) -> String {
    let path = Shell.quoted(finding.path)
    return switch (finding.fault, finding.care) {
    case (.foreign, _): "sudo chown \"$(id -un)\" \(path)"
    case (_, .secret): "chmod go= \(path)"
    case (_, .trusted): "chmod go-w \(path)"
    }
  }
}

/// Text for a line that somebody copies into a shell.
enum Shell {
  /// A word as it stands where it is plain, and else in quotation marks.
  static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "-_./:@%+=,".utf8.contains(byte)
      }
    }
    return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}

extension CrierHome {
  /// Looks at the home folder and at the files in it that are trusted or secret; what is not there is passed over.
  ///
  /// - Throws: ``UnsafeHome``.
  func requirePrivate() throws(UnsafeHome) {
    var files: [(name: String, care: HomePermissions.Care)] = [("", .trusted)]
    files += [ledger, signingSecret, firstKey, firstKeyHeader].map { ($0.lastPathComponent, .secret) }
    files += ["-wal", "-shm", "-journal"].map { ("\(ledger.lastPathComponent)\($0)", .secret) }
    files += [configuration, lexicon, accountWork, batches, previews].map { ($0.lastPathComponent, .trusted) }
    files += packFiles.map { ($0, .trusted) }
    let findings = files.compactMap { finding($0.name, $0.care) }
    guard findings.isEmpty else { throw UnsafeHome(findings: findings) }
  }

  /// The user's voice packs: what is in them is heard as amounts.
  private var packFiles: [String] {
    let name = voices.lastPathComponent
    let inside = FileManager.default.enumerator(atPath: voices.path(percentEncoded: false))?.compactMap {
      $0 as? String
    }
    return [name] + (inside ?? []).map { "\(name)/\($0)" }
  }

  /// - Parameter name: below the home; empty for the home itself.
  private func finding(_ name: String, _ care: HomePermissions.Care) -> UnsafeHome.Finding? {
    var status = stat()
    let file = name.isEmpty ? directory : directory.appending(path: name)
    // A link is followed: what it leads to is read.
    guard stat(file.path(percentEncoded: false), &status) == 0,
      let fault = HomePermissions.fault(
        care, mode: status.st_mode, owner: status.st_uid, user: geteuid())
    else { return nil }
    return UnsafeHome.Finding(
      path: name.isEmpty ? typed : typed.hasSuffix("/") ? typed + name : "\(typed)/\(name)",
      isFolder: status.st_mode & S_IFMT == S_IFDIR, care: care, fault: fault)
  }
}
