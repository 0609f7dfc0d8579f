// SPDX-License-Identifier: Apache-2.0

import DownloadTestSupport
import Foundation
import SoundLibrary

@testable import SoundDownloads

/// A sound library in a fresh folder, which is removed when the test is over.
final class TemporaryLibrary: Sendable {
  let root: URL
  let library: SoundLibrary

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "sound-downloads-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    library = SoundLibrary(container: try GroupContainer(containers: root, group: "group.crier"))
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  /// All files in `Library/Sounds`, also hidden ones, with their bytes.
  var files: [String: [UInt8]] { Self.files(in: library.soundsDirectory) }

  /// The records of downloads.
  var records: [String: [UInt8]] { Self.files(in: DownloadRecords(library: library).folder) }

  private static func files(in folder: URL) -> [String: [UInt8]] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    var files: [String: [UInt8]] = [:]
    for name in names { files[name] = (try? Data(contentsOf: folder.appending(path: name))).map { Array($0) } ?? [] }
    return files
  }
}

enum Sample {
  /// A URL made of a constant text.
  static func url(_ text: String) -> URL {
    guard let url = URL(string: text) else { preconditionFailure("The text is not a URL.") }
    return url
  }

  /// A WAV file whose header is true.
  ///
  /// - Parameter seed: Different seeds give different samples.
  static func wav(_ sampleBytes: Int = 1000, seed: UInt8 = 1) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
    let format: [UInt8] = [1, 0, 1, 0, 0x22, 0x56, 0, 0, 0x44, 0xAC, 0, 0, 2, 0, 16, 0]
    let samples = (0..<sampleBytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) }
    let content = Array("WAVEfmt ".utf8) + number(16) + format + Array("data".utf8) + number(sampleBytes) + samples
    return Array("RIFF".utf8) + number(content.count) + content
  }

  struct LyingHeader: Error, CustomStringConvertible {
    var description: String { "The header declares another length." }
  }

  /// A content check: the header must declare the file's real length.
  static let check: @Sendable ([UInt8]) throws -> Void = { bytes in
    let declared = (0..<4).reduce(0) { $0 | Int(bytes[4 + $1]) << ($1 * 8) }
    guard declared == bytes.count - 8 else { throw LyingHeader() }
  }
}

/// Returns the error of a download that must fail.
func failure(_ download: () async throws -> DownloadedSound) async -> DownloadError? {
  do {
    _ = try await download()
    return nil
  } catch {
    return error as? DownloadError
  }
}
