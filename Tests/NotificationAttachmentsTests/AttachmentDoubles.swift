// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DownloadTestSupport
import FileSystem
import Foundation
import SoundDownloads

@testable import NotificationAttachments

/// A fresh folder for attachments, which is removed when the test is over.
final class TemporaryFolder: Sendable {
  let root: URL
  /// The folder of the downloader. The downloader makes it.
  let attachments: URL

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "notification-attachments-\(UUID().uuidString)")
    attachments = root.appending(path: "tmp", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  /// The sizes of all files in the folder of the downloader, also of hidden ones.
  var sizes: [Int] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: attachments.path)) ?? []
    return names.map { name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: attachments.appending(path: name).path)
      return attributes?[.size] as? Int ?? -1
    }
  }

  func write(_ bytes: [UInt8], as name: String) throws -> URL {
    let file = root.appending(path: name)
    try Data(bytes).write(to: file)
    return file
  }

  func downloader(
    _ fetcher: ScriptedFetcher, rules: DownloadRules = DownloadRules(), clock: HeldClock = HeldClock(),
    calls: FileSystemCalls = .system
  ) -> AttachmentDownloader {
    AttachmentDownloader(
      folder: attachments, fetcher: fetcher, resolver: TableResolver(), rules: rules, clock: clock, calls: calls)
  }
}

enum Sample {
  static let request = AttachmentRequest(url: url("https://sounds.example/a.jpg"))

  /// A URL made of a constant text.
  static func url(_ text: String) -> URL {
    guard let url = URL(string: text) else { preconditionFailure("The text is not a URL.") }
    return url
  }

  /// The first bytes of a file of a format.
  static func start(_ kind: AttachmentKind) -> [UInt8] {
    switch kind {
    case .jpeg: [0xFF, 0xD8, 0xFF, 0xE0, 0, 0x10] + Array("JFIF".utf8) + [0, 1]
    case .png: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
    case .gif: Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0]
    case .wav: Array("RIFF".utf8) + [0x24, 0, 0, 0] + Array("WAVE".utf8)
    case .aiff: Array("FORM".utf8) + [0, 0, 0, 0x2E] + Array("AIFF".utf8)
    case .mp3: Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 0x23] + [0x54, 0x53]
    case .m4a: box("M4A ")
    case .mpeg4: box("mp42")
    case .quickTime: box("qt  ")
    case .mpeg: [0, 0, 1, 0xBA, 0x44, 0, 4, 0, 4, 1, 0, 0x89]
    case .avi: Array("RIFF".utf8) + [0x24, 0, 0, 0] + Array("AVI ".utf8)
    }
  }

  /// The start of a file type box with a major brand.
  static func box(_ brand: String) -> [UInt8] { [0, 0, 0, 0x20] + Array("ftyp\(brand)".utf8) }

  /// A file of a format with a number of bytes.
  static func file(_ kind: AttachmentKind = .jpeg, _ count: Int = 1000) -> [UInt8] {
    let start = start(kind)
    return start + (start.count..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
  }
}

/// Returns the error of a download that must fail.
func failure(_ download: () async throws -> DownloadedAttachment) async -> DownloadError? {
  do {
    _ = try await download()
    return nil
  } catch {
    return error as? DownloadError
  }
}
