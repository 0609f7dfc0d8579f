// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import Testing

/// A file of the checkout that a check compares with its results, or rewrites on request.
///
/// `make wording` requests the rewriting. People review the difference before they keep it.
enum Recorded {
  private static let isWriting = ProcessInfo.processInfo.environment["CRIER_RECORD"] != nil

  /// Expects the file to contain these lines, and reports the first lines that differ.
  static func expect(_ lines: [String], in path: String) throws {
    let file = Checkout.installation.data.appending(path: path)
    let text = lines.joined(separator: "\n") + "\n"
    if isWriting {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      return
    }
    let kept = try String(contentsOf: file, encoding: .utf8)
    guard kept != text else { return }
    let difference = text.split(separator: "\n", omittingEmptySubsequences: false)
      .difference(from: kept.split(separator: "\n", omittingEmptySubsequences: false))
    let shown = difference.prefix(20).map { change in
      switch change {
      case .insert(_, let line, _): "now: \(line)"
      case .remove(_, let line, _): "kept: \(line)"
      }
    }
    Issue.record("\(path) differs; run make wording and read the difference:\n\(shown.joined(separator: "\n"))")
  }
}
