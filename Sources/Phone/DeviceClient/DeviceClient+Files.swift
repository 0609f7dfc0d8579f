// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
public import Foundation
import SoundDownloads

extension DeviceClient {
  /// Downloads a file of the library by its digest: a clip, a voice pack's manifest, or a clip of a voice pack.
  ///
  /// The bytes go into a second file beside the given file. The name of the second file ends in `.part`. The second
  /// file is renamed to the given name when all bytes are on the disk and have the digest. On an error, the second file
  /// is removed, and an existing file is unchanged. Two downloads into the same file must not run at the same time.
  ///
  /// - Parameters:
  ///   - sha256: The digest in 64 lower-case hexadecimal digits.
  ///   - byteCount: The size of the file in bytes; nil if it is not known, as for the clips of a voice pack.
  ///   - file: The URL of the file to write. Its folder must exist.
  /// - Throws: ``DeviceClientError``.
  public func download(sha256: String, byteCount: Int?, to file: URL) async throws(DeviceClientError) {
    try await download(Self.path(sha256), sha256, byteCount, to: file)
  }

  private static func path(_ sha256: String) -> [String] { ["v1", "library", "files", sha256] }

  /// Returns the request for a file of the library, for a client that sends the request itself at a later time, such as
  /// a background `URLSession`. The header fields contain the phone's key. The addresses of the host are not checked.
  ///
  /// - Throws: ``DeviceClientError`` with the code `invalidURL`.
  public func request(forFile sha256: String) throws(DeviceClientError) -> (url: URL, fields: [String: String]) {
    guard IncrementalSHA256.isHexadecimalDigest(sha256) else { throw error(.invalidURL, .fetchingFile) }
    return try head(of: Self.call(Self.path(sha256)))
  }

  private static func call(_ path: [String]) -> DeviceCall {
    DeviceCall(action: .fetchingFile, path: path, accept: "audio/*, application/json, */*;q=0.1")
  }

  /// Downloads a clip by its name, for example the clip of an announcement whose signed URL has expired. In all other
  /// respects, this method works like ``download(sha256:byteCount:to:)``.
  ///
  /// - Parameter name: The clip's file name.
  /// - Throws: ``DeviceClientError``.
  public func download(
    clip name: String, sha256: String, byteCount: Int?, to file: URL
  ) async throws(DeviceClientError) {
    try await download(["v1", "clips", name], sha256, byteCount, to: file)
  }

  private func download(
    _ path: [String], _ sha256: String, _ byteCount: Int?, to file: URL
  ) async throws(DeviceClientError) {
    guard IncrementalSHA256.isHexadecimalDigest(sha256), byteCount ?? 0 >= 0 else {
      throw error(.invalidURL, .fetchingFile)
    }
    // The file gets its name only after the time limit was checked, so it never appears after this call has failed.
    let partial = try await limited(.fetchingFile) { client throws(DeviceClientError) in
      try await client.receive(path, sha256, byteCount, to: file)
    }
    try await onDisk { () throws(SystemError) in try partial.commit() }
  }

  private func receive(
    _ path: [String], _ sha256: String, _ byteCount: Int?, to file: URL
  ) async throws(DeviceClientError) -> PartialFile {
    let call = Self.call(path)
    var digest = IncrementalSHA256()
    let partial = try await onDisk { () throws(SystemError) in try PartialFile(file, calls: .system) }
    try await stream(call, atMost: byteCount ?? Self.maximumFileBytes, byteCount: byteCount) {
      piece throws(DeviceClientError) in
      digest.add(piece)
      try await onDisk { () throws(SystemError) in try partial.write(piece) }
    }
    guard digest.hexadecimalDigest() == sha256 else { throw error(.digestMismatch, .fetchingFile) }
    return partial
  }

  private func onDisk<Value: Sendable>(
    _ work: @Sendable () throws(SystemError) -> Value
  ) async throws(DeviceClientError) -> Value {
    do throws(SystemError) {
      return try await onWaitingThread(work)
    } catch {
      throw self.error(.diskFailure, .fetchingFile, systemError: error.number)
    }
  }
}
