// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation
public import SoundLibrary

/// The request for a large file of the library.
///
/// Its header fields contain the phone's key. Neither the description nor a mirror of the value shows it.
public struct LargeFileRequest: Sendable, Hashable {
  /// The SHA-256 of the whole file, in 64 lower-case hexadecimal digits. ``LibraryArrivals`` identifies the file by
  /// this digest.
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

/// A client that fetches large files even while no program of the app runs, such as a background `URLSession`.
public protocol LargeFileFetching: Sendable {
  /// Begins to fetch a file, and returns at once. The result is passed to ``LibraryArrivals``, perhaps by another
  /// process.
  func begin(_ request: LargeFileRequest)
}

/// The list of files that were requested in the background. For each of them, there is an empty marker file, whose name
/// is the digest of the requested file. A marker is made or removed in one system call, so that an arriving file needs
/// no lock.
struct AskedFiles: Sendable {
  /// The smallest size in bytes of a large file: 12 s of 16-bit sound at 22,050 Hz.
  static let smallestBytes = 500_000
  /// The maximum number of files that are requested at the same time. Further files are fetched during the update.
  static let most = 50
  /// The time in seconds after which a file is requested again.
  static let patience: TimeInterval = 86_400

  /// The way in which a file is fetched.
  enum Way: Equatable {
    /// The file is fetched during the update.
    case atOnce
    /// The file was requested in the background, and has not arrived yet.
    case awaited
    /// The file is requested in the background now.
    case asking
  }

  let places: LibraryPlaces

  private func mark(_ sha256: String) -> URL { places.asked.appending(path: sha256, directoryHint: .notDirectory) }
  /// Returns the marker of a file that arrived damaged or did not arrive. The next update fetches such a file itself,
  /// so that the update gets the error.
  private func failure(_ sha256: String) -> URL { mark(sha256).appendingPathExtension("failed") }

  func isAsked(_ sha256: String) -> Bool { Self.exists(mark(sha256)) }

  /// Decides how a file is fetched, and records that it is requested if it is fetched in the background.
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

  /// Removes the markers of a file that is in place, was fetched during an update, or whose download was cancelled.
  func forget(_ sha256: String) {
    for file in [mark(sha256), failure(sha256)] { try? FileManager.default.removeItem(at: file) }
  }

  func fail(_ sha256: String) {
    guard isAsked(sha256) else { return }
    try? FileManager.default.moveItem(at: mark(sha256), to: failure(sha256))
  }

  /// Removes the markers of all files that are no longer awaited. If such a file arrives later, it is discarded.
  func forgetAll(but awaited: Set<String>) {
    for name in LibraryPlaces.names(in: places.asked) where !awaited.contains(name.prefix { $0 != "." }.description) {
      try? FileManager.default.removeItem(at: places.asked.appending(path: name))
    }
  }

  private static func exists(_ file: URL) -> Bool {
    FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
  }
}

/// Receives the results of a ``LargeFileFetching``. No update needs to run. The calls block the thread, but take no
/// lock.
public struct LibraryArrivals: Sendable {
  private let asked: AskedFiles

  /// - Parameter container: The container of the app group; the same as that of the ``LibraryCopy``.
  public init(container: GroupContainer) { asked = AskedFiles(places: LibraryPlaces(container)) }

  /// Receives a file that has arrived. The next update puts it into place.
  ///
  /// If the file is no longer awaited, it stays where it is. If it is damaged, or if the status of the answer is not
  /// 200, the next update fetches the file itself.
  ///
  /// - Parameters:
  ///   - file: The file. It is moved if it is accepted.
  ///   - sha256: The digest of ``LargeFileRequest``.
  ///   - status: The HTTP status of the service's answer.
  /// - Returns: Whether the file was accepted.
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

  /// Records that a download has ended without a file. If it was cancelled, the next update requests the file again.
  /// Otherwise, the next update fetches the file itself.
  ///
  /// - Parameter sha256: The digest of ``LargeFileRequest``.
  public func fail(sha256: String, isCancelled: Bool) {
    guard IncrementalSHA256.isHexadecimalDigest(sha256) else { return }
    if isCancelled { asked.forget(sha256) } else { asked.fail(sha256) }
  }

  /// Returns the digest of a file of at most 16 MiB. The file is read in pieces, because an extension has little
  /// memory.
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
