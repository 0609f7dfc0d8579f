// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation
public import SoundLibrary

/// The request for a large file of the library.
///
/// Its header fields contain the phone's key. Neither the description nor a mirror of the value shows it.
public struct LargeFileRequest: Sendable, Hashable {
  /// SHA-256 over the whole file, in 64 lower-case hexadecimal digits. It names the file in ``LibraryArrivals``.
  public var sha256: String
  /// The size in bytes.
  public var byteCount: Int
  public var url: URL
  /// The header fields.
  public var fields: [String: String]
}

extension LargeFileRequest: CustomStringConvertible, CustomReflectable {
  public var description: String { "the request for \(sha256)" }
  public var customMirror: Mirror { Mirror(self, children: ["sha256": sha256], displayStyle: .struct) }
}

/// A client that fetches large files while no program of the app need run, such as a background `URLSession`.
public protocol LargeFileFetching: Sendable {
  /// Begins to fetch a file, and returns at once. Its end is given to ``LibraryArrivals``, perhaps in another process.
  func begin(_ request: LargeFileRequest)
}

/// The files that were asked for in the background, as empty files whose names are digests. They are made and removed in
/// single steps, so that an arrival needs no lock.
struct AskedFiles: Sendable {
  /// The size in bytes from which on a file is large: 12 s of sound at 22,050 Hz.
  static let smallestBytes = 500_000
  /// The number of files that are asked for at the same time. Others are fetched at once.
  static let most = 50
  /// The time in seconds after which a file is asked for again.
  static let patience: TimeInterval = 86_400

  /// How a file is fetched.
  enum Way: Equatable {
    /// Within the update.
    case atOnce
    /// It was asked for, and has not come yet.
    case awaited
    /// In the background, from now on.
    case asking
  }

  let places: LibraryPlaces

  private func mark(_ sha256: String) -> URL { places.asked.appending(path: sha256, directoryHint: .notDirectory) }
  /// The mark of a file that came damaged or not at all. The next update fetches it itself, and so has its error.
  private func failure(_ sha256: String) -> URL { mark(sha256).appendingPathExtension("failed") }

  func isAsked(_ sha256: String) -> Bool { Self.exists(mark(sha256)) }

  /// Decides how a file is fetched, and notes that it is asked for.
  func way(of sha256: String, _ byteCount: Int, at now: Date) -> Way {
    guard byteCount >= Self.smallestBytes, !Self.exists(failure(sha256)) else { return .atOnce }
    let mark = mark(sha256)
    let attributes = try? FileManager.default.attributesOfItem(atPath: mark.path(percentEncoded: false))
    if let date = attributes?[.modificationDate] as? Date {
      if abs(now.timeIntervalSince(date)) < Self.patience { return .awaited }
    } else if LibraryPlaces.names(in: places.asked).count >= Self.most {
      return .atOnce
    }
    return (try? Data().write(to: mark)) == nil ? .atOnce : .asking
  }

  /// Forgets a file, because it is in place or was fetched at once, or its download was cancelled.
  func forget(_ sha256: String) {
    for file in [mark(sha256), failure(sha256)] { try? FileManager.default.removeItem(at: file) }
  }

  func fail(_ sha256: String) {
    guard isAsked(sha256) else { return }
    try? FileManager.default.moveItem(at: mark(sha256), to: failure(sha256))
  }

  /// Forgets all files but those that are still awaited. What comes of the others is discarded.
  func forgetAll(but awaited: Set<String>) {
    for name in LibraryPlaces.names(in: places.asked) where !awaited.contains(name.prefix { $0 != "." }.description) {
      try? FileManager.default.removeItem(at: places.asked.appending(path: name))
    }
  }

  private static func exists(_ file: URL) -> Bool {
    FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
  }
}

/// Takes what comes of the downloads of a ``LargeFileFetching``. No update needs to run. The calls block the thread, and
/// take no lock.
public struct LibraryArrivals: Sendable {
  private let asked: AskedFiles

  /// - Parameter container: The container of the app group, as of the ``LibraryCopy``.
  public init(container: GroupContainer) { asked = AskedFiles(places: LibraryPlaces(container)) }

  /// Takes a file that has come. The next update puts it into its place.
  ///
  /// A file that nobody waits for any more is left where it is. If it is damaged, or the answer has another status than
  /// 200, the next update fetches the file itself.
  ///
  /// - Parameters:
  ///   - file: The file, which is moved if it is taken.
  ///   - sha256: The digest of ``LargeFileRequest``.
  ///   - status: The status of the service's answer.
  /// - Returns: Whether the file was taken.
  public func receive(_ file: URL, sha256: String, status: Int) -> Bool {
    guard IncrementalSHA256.isHexadecimalDigest(sha256), asked.isAsked(sha256) else { return false }
    let place = asked.places.fetched(sha256)
    guard status == 200, Self.digest(of: file) == sha256,
      (try? FileManager.default.moveItem(at: file, to: place)) != nil
    else {
      asked.fail(sha256)
      return false
    }
    return true
  }

  /// Notes that a download has ended without a file. After a cancellation, the next update asks for it again; otherwise,
  /// it fetches the file itself.
  ///
  /// - Parameter sha256: The digest of ``LargeFileRequest``.
  public func fail(sha256: String, isCancelled: Bool) {
    guard IncrementalSHA256.isHexadecimalDigest(sha256) else { return }
    if isCancelled { asked.forget(sha256) } else { asked.fail(sha256) }
  }

  /// Returns the digest of a file of at most 16 MiB. It is read in pieces, because an extension has little memory.
  private static func digest(of file: URL) -> String? {
    guard let open = try? ReadableFile(path: file.path(percentEncoded: false)) else { return nil }
    var (digest, offset) = (IncrementalSHA256(), 0)
    while offset <= SoundLibrary.maximumClipBytes {
      guard let piece = try? open.read(64 << 10, at: offset) else { return nil }
      if piece.isEmpty { return digest.hexadecimalDigest() }
      digest.add(piece)
      offset += piece.count
    }
    return nil
  }
}
