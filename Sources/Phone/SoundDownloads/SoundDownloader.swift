// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
public import Foundation
public import HostAddresses
public import SoundLibrary

/// A sound that was downloaded into the library.
public struct DownloadedSound: Sendable, Hashable {
  /// The name in `Library/Sounds`, for `UNNotificationContent.sound`.
  public var name: String
  /// The URL of the file.
  public var file: URL
  /// Whether the file was written now; false if the server said that the stored file is current.
  public var isNew: Bool
}

/// The file that a download must produce, as described by the sender of the URL.
public struct ExpectedSound: Sendable, Hashable {
  /// The SHA-256 of the whole file, in 64 lower-case hexadecimal digits.
  public var sha256: String
  /// The size in bytes.
  public var byteCount: Int

  public init(sha256: String, byteCount: Int) {
    self.sha256 = sha256
    self.byteCount = byteCount
  }

  /// Returns whether the bytes have the expected size and digest.
  public func matches(_ bytes: [UInt8]) -> Bool {
    bytes.count == byteCount && IncrementalSHA256.hexadecimalDigest(of: bytes) == sha256
  }
}

/// Downloads sounds by their URLs into the `Library/Sounds` of a group container.
///
/// An existing file stays until the new file is complete and was checked. If an error occurs, the library is unchanged.
///
/// Callers that ask for the same URL and name at the same time share one download. A caller whose task is cancelled
/// stops waiting, and the others still get the sound.
public final class SoundDownloader: Sendable {
  private let library: SoundLibrary
  private let sender: RequestSender
  private let rules: DownloadRules
  private let clock: any Clock<Duration>
  private let check: @Sendable ([UInt8]) throws -> Void
  private let records: DownloadRecords
  private let flights = SharedFlights<DownloadID, DownloadedSound>()
  /// The publications of this downloader. A download is not published if all its callers have left.
  public let publications = Publications()

  /// - Parameters:
  ///   - fetcher: The client that sends the requests.
  ///   - resolver: The source of the hosts' addresses, which are checked before each request.
  ///   - clock: The clock that measures ``DownloadRules/longest``.
  ///   - check: Throws an error if the bytes are not a sound that the phone can play. The text of this error becomes a
  ///     part of the download's error.
  public init(
    library: SoundLibrary, fetcher: any SoundFetching, resolver: any HostResolving = SystemHostResolver(),
    rules: DownloadRules = DownloadRules(), clock: any Clock<Duration> = ContinuousClock(),
    check: @escaping @Sendable ([UInt8]) throws -> Void
  ) {
    self.library = library
    sender = RequestSender(fetcher, resolver, rules)
    self.rules = rules
    self.clock = clock
    self.check = check
    records = DownloadRecords(library: library)
  }

  /// The number of callers that wait for downloads.
  var waiting: Int { flights.waiting }

  /// Downloads a sound, or asks the server whether the stored one has changed.
  ///
  /// - Parameters:
  ///   - url: The sound's URL.
  ///   - name: The file name in the library, as for `SoundLibrary.publish(_:as:)`. Its extension must be that of the
  ///     sound's format. If it is nil, the name is the SHA-256 of the URL with the format's extension. If the library
  ///     exceeds its budget, a file with such a digest may be removed like a rendered clip; a file with a given name
  ///     stays.
  ///   - expected: The file that the server must send; nil to accept any sound. Without an expected file, the name must
  ///     not be a name that a rendered clip can have.
  ///   - limit: The maximum size in bytes; it applies if it is less than that of the rules. If several callers wait for
  ///     the same download, the limit of the first caller applies.
  /// - Throws: ``DownloadError``.
  public func download(
    _ url: URL, as name: String? = nil, expecting expected: ExpectedSound? = nil, atMost limit: Int? = nil
  ) async throws(DownloadError) -> DownloadedSound {
    try rules.check(url)
    // Without an expected file, a sound of unknown origin could get the name of a rendered clip and be heard for an
    // amount.
    if let name, !SoundLibrary.isClipName(name) || expected == nil && SoundLibrary.isRenderedClip(name) {
      throw DownloadError(.invalidName, host: url.shownHost)
    }
    let rules = rules.limited(to: limit)
    let outcome = await flights.outcome(for: DownloadID(url, name, expected)) { flight in
      let end = Task.detached { [clock, rules, flights] in
        do { try await clock.sleep(for: rules.longest) } catch { return }
        flights.interrupt(flight, with: DownloadError(.tookTooLong, host: url.shownHost))
      }
      let work = Task.detached {
        self.flights.end(flight, with: await self.fly(flight, rules))
      }
      return [end, work]
    }
    return try outcome.get()
  }

  private typealias Flight = SharedFlights<DownloadID, DownloadedSound>.Flight

  private func fly(_ flight: Flight, _ rules: DownloadRules) async -> Result<DownloadedSound, DownloadError> {
    do throws(DownloadError) {
      return .success(try await transfer(flight, rules))
    } catch {
      return .failure(error)
    }
  }

  private func transfer(
    _ flight: Flight, _ rules: DownloadRules
  ) async throws(DownloadError) -> DownloadedSound {
    let id = flight.key
    // An expected file is known by its digest, so the server need not be asked whether a stored file has changed.
    let stored = id.expected == nil ? await onWaitingThread { self.records.current(id) } : nil
    var transfer = Transfer(id.url, storedTag: stored?.entityTag, rules: rules)
    while true {
      switch try await request(&transfer, rules) {
      case .readBody:
        let whole = transfer
        return try await onWaitingThread { () throws(DownloadError) in try self.publish(whole, flight) }
      case .keepStored:
        if let stored, let kept = try await keep(stored, transfer) { return kept }
        transfer.forgetStored()
      case .request: break
      }
    }
  }

  /// Sends one request and receives its answer.
  ///
  /// - Returns: The next step: ``Transfer/Next/readBody`` if the whole body has been read.
  private func request(
    _ transfer: inout Transfer, _ rules: DownloadRules
  ) async throws(DownloadError) -> Transfer.Next {
    let request = SoundRequest(
      url: transfer.url, fields: transfer.fields, addresses: [], mostBytes: rules.mostBytes)
    var next = Transfer.Next.request
    let end = try await sender.send(request, translating: { $0 }) { answer throws(DownloadError) in
      next = try transfer.receiveHead(status: answer.status, fields: answer.fields)
      return next == .readBody
    } piece: { piece throws(DownloadError) in
      try transfer.receive(piece)
    }
    switch end {
    case .noAnswer(let failure): try transfer.fail(failure)
    case .head: return next
    case .body(let failure): if try transfer.endBody(failure) { return .readBody }
    }
    return .request
  }

  /// Returns the stored sound; nil if it was removed in the meantime.
  private func keep(
    _ stored: DownloadRecord, _ transfer: Transfer
  ) async throws(DownloadError) -> DownloadedSound? {
    let (library, name) = (library, stored.name)
    return try await onWaitingThread { () throws(DownloadError) -> DownloadedSound? in
      do throws(SoundLibraryError) {
        guard try library.use(name) else { return nil }
        return DownloadedSound(name: name, file: try library.url(for: name), isNew: false)
      } catch {
        throw transfer.error(.notPublished, reason: error.description)
      }
    }
  }

  private func publish(_ transfer: Transfer, _ flight: Flight) throws(DownloadError) -> DownloadedSound {
    let id = flight.key
    guard let kind = SoundKind(transfer.bytes) else { throw transfer.error(.notASound) }
    let name = id.fileName(kind)
    guard kind.isExtension(of: name) else { throw transfer.error(.wrongExtension) }
    guard id.expected.map({ $0.matches(transfer.bytes) }) ?? true else { throw transfer.error(.wrongDigest) }
    do {
      try check(transfer.bytes)
    } catch {
      throw transfer.error(.contentRefused, reason: "\(error)")
    }
    return try publications.run { () throws(DownloadError) in
      guard flights.commit(flight) else { throw transfer.error(.cancelled) }
      let file: URL
      do throws(SoundLibraryError) {
        file = try library.publish(transfer.bytes, as: name)
      } catch {
        throw transfer.error(.notPublished, reason: error.description)
      }
      if id.expected == nil { records.store(id, name: name, entityTag: transfer.entityTag, bytes: transfer.bytes) }
      return DownloadedSound(name: name, file: file, isNew: true)
    }
  }
}
