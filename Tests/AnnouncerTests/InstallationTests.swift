// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import Testing

@Suite("Where the program's own files are")
struct InstallationTests {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: UUID().uuidString, directoryHint: .isDirectory)

  /// Makes a program in a checkout, and returns its path.
  private func program() throws -> URL {
    for name in ["Templates", "Readers", ".build"] {
      try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
    }
    return folder.appending(path: ".build/crier")
  }

  private func path(_ url: URL) -> String { url.standardizedFileURL.path(percentEncoded: false) }

  @Test("a data folder with reader files uses its own reader files")
  func ownReaders() throws {
    let program = try program()
    defer { try? FileManager.default.removeItem(at: folder) }
    let data = folder.appending(path: "own", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: data.appending(path: "Readers"), withIntermediateDirectories: true)
    let installation = Installation(data: data.path(percentEncoded: false), environment: [:], executable: program)
    #expect(path(installation.readers) == path(data.appending(path: "Readers", directoryHint: .isDirectory)))
  }

  @Test("a data folder of a version without reader files uses the program's reader files")
  func olderFolder() throws {
    let program = try program()
    defer { try? FileManager.default.removeItem(at: folder) }
    let data = folder.appending(path: "own", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: data.appending(path: "Templates"), withIntermediateDirectories: true)
    let installation = Installation(
      data: nil, environment: ["CRIER_DATA": data.path(percentEncoded: false)], executable: program)
    #expect(path(installation.templates) == path(data.appending(path: "Templates", directoryHint: .isDirectory)))
    #expect(path(installation.readers) == path(folder.appending(path: "Readers", directoryHint: .isDirectory)))
  }
}
