// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import Ledger
import Logging
import NIOCore

/// Clips whose files this node does not have, made again from what the ledger stores of their announcements.
///
/// The clips are kept in memory and not published. At each request the ledger is asked first, so that the clip of a
/// removed announcement is not served, whichever node removed it. A file in the folder would stay there.
final class RemadeClips: Sendable {
  private let ledger: any Ledger.BatchStore
  private let announcer: Announcer
  private let locale: String
  private let work: AccountWork
  private let metrics: ServiceMetrics
  private let logger: Logger
  private let flights = SingleFlight<String, Clips.File?>()
  private let files: RecentlyUsed<String, Clips.File>

  /// - Parameters:
  ///   - locale: The service's own default locale.
  ///   - cacheBytes: The capacity of the cache of these clips, in bytes.
  init(
    _ ledger: any Ledger.BatchStore, announcer: Announcer, locale: String, work: AccountWork, cacheBytes: Int,
    metrics: ServiceMetrics, logger: Logger
  ) {
    (self.ledger, self.announcer, self.locale, self.work) = (ledger, announcer, locale, work)
    (self.metrics, self.logger) = (metrics, logger)
    files = RecentlyUsed(capacityBytes: cacheBytes)
  }

  /// Returns a clip by its name. Simultaneous requests for a clip share one rendering.
  ///
  /// - Returns: Nil if no announcement in the ledger has the clip, or if this node makes another clip of it.
  /// - Throws: `LedgerError`; ``AccountWork/Refusal`` if the account that announced the clip has no more work.
  func file(named name: String) async throws -> Clips.File? {
    guard Clips.isName(name), let mediaType = Clips.mediaType(ofFileNamed: name) else { return nil }
    let sources = try await ledger.clipSources(name)
    guard !sources.isEmpty else {
      files.remove(name)
      return nil
    }
    if let known = files.value(for: name) { return known }
    let file = try await flights.value(for: name) { [self] in try await make(name, mediaType, from: sources) }.value
    // An announcement may have been removed while its clip was made.
    guard let file, try await !ledger.clipSources(name).isEmpty else { return nil }
    return file
  }

  private func make(_ name: String, _ mediaType: String, from sources: [ClipSource]) async throws -> Clips.File? {
    var refusal: AccountWork.Refusal?
    var hasFailed = false
    for source in sources {
      do {
        guard let clip = try await clip(name, from: source) else { continue }
        let file = Clips.File(
          bytes: ByteBuffer(bytes: clip.bytes), digest: clip.report.clip.sha256, mediaType: mediaType)
        files.insert(
          file, for: name, bytes: RecentlyUsed<String, Clips.File>.entryBytes + file.bytes.storageCapacity + 2_048)
        metrics.count(remaking: .made)
        return file
      } catch let error as AccountWork.Refusal {
        refusal = error
      } catch {
        hasFailed = true
        logger.info("A clip could not be made again.", metadata: ["error": "\(Problem.loggable(error))"])
      }
    }
    metrics.count(remaking: refusal != nil ? .refused : hasFailed ? .failed : .differs)
    if let refusal { throw refusal }
    return nil
  }

  private func clip(_ name: String, from source: ClipSource) async throws -> RenderedClip? {
    let request = try PayloadDecoder.storedRequest(source.payload)
    var options = try RenderOptions(
      request.options, defaults: AnnouncementRequest.Defaults(pack: source.defaultPack),
      base: RenderOptions(defaultLocale: locale))
    switch source.voice {
    case .engine: options = options.again(in: source.locale, pack: nil)
    case .pack(let id): options = options.again(in: source.locale, pack: id)
    case .unknown: options.defaultLocale = source.locale
    }
    return try await announcer.renderAgain(
      name, of: request.announcement, options: options, permit: work.permit(source.account))
  }
}
