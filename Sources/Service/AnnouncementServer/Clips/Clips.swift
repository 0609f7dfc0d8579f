// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import ConcurrencySupport
import Crypto
import Foundation
import HTTPTypes
import Logging
import NIOCore
import SoundLibrary
import TextFormats

/// The service's clips. Simultaneous requests for the same clip share one rendering, and clips that are requested often
/// are kept in memory.
final class Clips: Sendable {
  /// The file of a clip and its header fields for responses.
  struct File: Sendable {
    var bytes: ByteBuffer
    /// The entity tag with its quotation marks. It depends only on the bytes, so equal bytes have the same tag wherever
    /// they were made.
    var etag: String
    var mediaType: String
    /// The header fields of every response with the file or a part of it.
    var fields: HTTPFields
    let use = Use()

    init(bytes: ByteBuffer, digest: String, mediaType: String) {
      self.bytes = bytes
      self.mediaType = mediaType
      etag = "\"\(digest)\""
      fields = [
        .contentType: mediaType, .eTag: etag, .acceptRanges: "bytes",
        .cacheControl: "private, max-age=31536000, immutable",
      ]
    }
  }

  /// A clip with its report and its file.
  struct Made: Sendable {
    var report: ClipReport
    var file: File
    var isCached: Bool
  }

  private let announcer: Announcer
  private let containers: URL
  private let flights = SingleFlight<ClipRequest, Made>()
  private let reports: RecentlyUsed<ClipRequest, ClipReport>
  private let files: RecentlyUsed<String, File>
  /// The recent changes. The mutex is also held while an entry is added to or removed from ``files`` and ``reports``.
  private struct Changes {
    /// The clips that were removed recently.
    var removed = RemovedClips()
    /// The names of clips whose use in memory is being recorded, or was not recorded before they left the memory.
    var unrecorded: Set<String> = []
  }

  /// The maximum number of ``Changes/unrecorded`` names. If more clips leave the memory within a minute, they were in
  /// it for a short time only, and their use was recorded when they were read.
  static let mostUnrecorded = 10_000

  private let changes = Locked(Changes())
  /// The locks for work on clips, by name. Announcements of a clip share its lock; a removal holds the lock
  /// exclusively.
  let turns = Turns<String>()
  private let metrics: ServiceMetrics
  private let groups: AppGroups
  private let keyGroups: @Sendable () async throws -> Set<String>
  private let work: AccountWork
  private let logger: Logger

  /// - Parameters:
  ///   - containers: The folder that contains a folder for each app group.
  ///   - groups: The app groups from the settings.
  ///   - keyGroups: Returns the app groups of all keys.
  ///   - cacheBytes: The capacity of the cache of clips, in bytes.
  init(
    announcer: Announcer, containers: URL, groups: AppGroups,
    keyGroups: @escaping @Sendable () async throws -> Set<String>, work: AccountWork, cacheBytes: Int,
    metrics: ServiceMetrics, logger: Logger
  ) {
    self.announcer = announcer
    self.containers = containers
    self.groups = groups
    self.keyGroups = keyGroups
    self.work = work
    files = RecentlyUsed(capacityBytes: cacheBytes)
    // A report takes a few thousand bytes, while its clip takes about a hundred thousand.
    reports = RecentlyUsed(capacityBytes: max(1 << 20, cacheBytes / 8))
    self.metrics = metrics
    self.logger = logger
  }

  /// Returns the library of an app group.
  ///
  /// - Throws: `SoundLibraryError` if the name is not valid for a group.
  func library(_ group: String) throws(SoundLibraryError) -> SoundLibrary {
    library(try GroupContainer(containers: containers, group: group))
  }

  private func library(_ container: GroupContainer) -> SoundLibrary {
    SoundLibrary(container: container) { [logger] folder in
      logger.warning(
        "A folder had the name of a clip and was moved away. Look at what it holds, and remove it.",
        metadata: ["folder": "\(folder.path(percentEncoded: false))"])
    }
  }

  /// Returns a clip, and makes it if it does not exist.
  ///
  /// - Parameter account: The account to which a new clip is charged. An existing clip costs nothing.
  /// - Throws: The errors of `Announcer.render(_:options:into:permit:)`; ``AccountWork/Refusal``.
  func make(
    _ announcement: Announcement, options: RenderOptions, group: String, for account: String
  ) async throws -> Made {
    let request = ClipRequest(
      announcement, options: options, group: group, packGeneration: announcer.packGeneration)
    if let report = reports.value(for: request), let file = files.value(for: report.clip.name), Self.isThere(report) {
      metrics.count(.clipsFromMemory)
      return Made(report: report, file: file, isCached: true)
    }
    let library = try library(group)
    return try await Self.shared(account) { try await make(request, into: library, for: account) }
  }

  /// Makes a sound that is not published, so that nobody can ask for it again.
  ///
  /// - Parameter account: The account to which the sound is charged like a new clip.
  /// - Throws: The errors of `Announcer.render(_:options:into:permit:)`; ``AccountWork/Refusal``.
  func unpublished(
    _ announcement: Announcement, options: RenderOptions, for account: String
  ) async throws -> RenderedClip {
    let start = ContinuousClock.now
    let clip = try await announcer.render(announcement, options: options, into: nil, permit: work.permit(account))
    if let reason = clip.report.fallback { metrics.countFallback(reason) }
    metrics.countRender(method: clip.report.method, took: ContinuousClock.now - start)
    return clip
  }

  /// Performs work that several accounts may share. If the work fails because another account started it and was
  /// refused, it is tried again for this account.
  static func shared<Value>(_ account: String, _ work: () async throws -> Value) async throws -> Value {
    while true {
      do {
        return try await work()
      } catch let refusal as AccountWork.Refusal where refusal.account != account {}
    }
  }

  private func make(_ request: ClipRequest, into library: SoundLibrary, for account: String) async throws -> Made {
    let (made, isShared) = try await flights.value(for: request) { [self] in
      let start = ContinuousClock.now
      let moment = moment
      let clip = try await announcer.render(
        request.announcement, options: request.options, into: library, permit: work.permit(account))
      let made = Made(
        report: clip.report,
        file: File(
          bytes: ByteBuffer(bytes: clip.bytes), digest: clip.report.clip.sha256,
          mediaType: Self.mediaType(ofFileNamed: clip.report.clip.name) ?? "application/octet-stream"),
        isCached: clip.report.cached)
      if let reason = clip.report.fallback { metrics.countFallback(reason) }
      if made.isCached {
        metrics.count(.clipsFromDisk)
      } else {
        metrics.countRender(method: clip.report.method, took: ContinuousClock.now - start)
      }
      remember(made, as: request, readAt: moment)
      return made
    }
    if isShared { metrics.count(.clipsShared) }
    return made
  }

  private func remember(_ made: Made, as request: ClipRequest, readAt moment: RemovedClips.Moment) {
    var report = made.report
    report.cached = true
    // If a fallback voice spoke, the report is not kept, so that the next request tries the wanted voice again.
    if report.fallback != nil { return keep(made.file, as: made.report.clip.name, readAt: moment) }
    keep(made.file, as: made.report.clip.name, readAt: moment, report: report, of: request)
  }

  /// Keeps a file in memory, and the report of the request for which it was read. Keeps neither if the clip was removed
  /// after the file was read. The counted size is the capacity of the buffer plus 2 kB for the header fields. The
  /// capacity is a power of two, and up to twice the size of the file.
  ///
  /// - Parameter moment: A moment before the file was read.
  func keep(
    _ file: File, as name: String, readAt moment: RemovedClips.Moment, report: ClipReport? = nil,
    of request: ClipRequest? = nil
  ) {
    changes.withLock { changes in
      guard !changes.removed.contains(name, since: moment) else { return }
      let left = files.insert(
        file, for: name, bytes: RecentlyUsed<String, File>.entryBytes + file.bytes.storageCapacity + 2_048)
      for (name, file) in left where file.use.isMarked && changes.unrecorded.count < Self.mostUnrecorded {
        changes.unrecorded.insert(name)
      }
      guard let report, let request else { return }
      // The texts of the announcement are about as long as the spoken text.
      reports.insert(
        report, for: request,
        bytes: RecentlyUsed<ClipRequest, ClipReport>.entryBytes + report.heapBytes + 4 * report.text.utf8.count)
    }
  }

  /// The present moment. Take it before you read a file, and pass it to ``keep(_:as:readAt:)``.
  var moment: RemovedClips.Moment { changes.withLock { $0.removed.now } }

  /// Returns a clip's file by its name, from any of the operator's groups. The name determines the content, so all
  /// groups have the same file. Other folders are not searched, so that the lookup of an unknown name takes the same
  /// effort whatever is on the disk.
  ///
  /// - Returns: The file; nil if there is no such clip or the name is not the name of a clip.
  /// - Throws: `SoundLibraryError`.
  func file(named name: String) async throws -> File? {
    if let known = fileInMemory(named: name) { return known }
    guard Self.isName(name), let mediaType = Self.mediaType(ofFileNamed: name) else { return nil }
    let libraries = try await libraries()
    let moment = moment
    let found = try await onWaitingThread {
      for library in libraries {
        // A clip is served even if its use cannot be recorded because the file belongs to another user.
        if let bytes = try library.contents(of: name, isUse: true) ?? library.contents(of: name), !bytes.isEmpty {
          return Optional(bytes)
        }
      }
      return nil
    }
    guard let bytes = found else { return nil }
    let digest = SHA256.hash(data: bytes).hexadecimal
    let file = File(bytes: ByteBuffer(bytes: bytes), digest: digest, mediaType: mediaType)
    keep(file, as: name, readAt: moment)
    return file
  }

  func fileInMemory(named name: String) -> File? {
    // The clip is marked before it can leave the memory, so that no use is lost.
    files.value(for: name) { $0.use.mark() }
  }

  /// Returns the names of the clips that were served from memory since the last call, including clips that have left
  /// the memory. After their uses were recorded, the caller calls ``haveRecorded(_:)``.
  func usesToRecord() -> Set<String> {
    changes.withLock { changes in
      changes.unrecorded.formUnion(files.keys { $0.use.take() })
      return changes.unrecorded
    }
  }

  /// - Parameter names: The result of ``usesToRecord()``.
  func haveRecorded(_ names: Set<String>) { changes.withLock { $0.unrecorded.subtract(names) } }

  /// Removes a clip from memory before its file is removed, unless the use of the clip in memory must still be
  /// recorded. After the removal, every request reads the file, so no use is overlooked.
  ///
  /// - Returns: Whether the file may be removed.
  func release(_ name: String) -> Bool {
    changes.withLock { changes in
      guard !changes.unrecorded.contains(name), files.remove(name, unless: \.use.isMarked) else { return false }
      changes.removed.add(name)
      return true
    }
  }

  /// Returns the libraries of all groups that have a folder, including groups that the operator does not use any more.
  /// Names and notes must be removed from these groups too.
  func allLibraries() async -> [SoundLibrary] {
    await onWaitingThread { [self] in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: containers.path(percentEncoded: false))) ?? []
      return names.sorted().compactMap { name in
        (try? GroupContainer(containers: containers, group: name)).map(library)
      }
    }
  }

  /// Returns the folders, in all groups, that had the name of a clip and were therefore moved away. Groups that cannot
  /// be read are left out.
  func foldersSetAside() async -> [URL] {
    let libraries = await allLibraries()
    return await onWaitingThread { libraries.flatMap { (try? $0.foldersSetAside()) ?? [] } }
  }

  /// Returns the libraries of the operator's groups.
  func libraries() async throws -> [SoundLibrary] {
    try groups.own.union(try await keyGroups()).sorted().filter(GroupContainer.isGroupName).map(library)
  }

  /// Removes a clip from the folder of its group and from memory. Copies in other groups remain, because others use
  /// them there.
  ///
  /// - Parameter group: The group of the clip; nil if the group is unknown, to remove the clip from all of the
  ///   operator's groups.
  /// - Returns: Whether a clip was removed.
  /// - Throws: `SoundLibraryError`.
  func remove(_ name: String, from group: String?) async throws -> Bool {
    let libraries =
      if let group, GroupContainer.isGroupName(group) { [try library(group)] } else { try await libraries() }
    let isRemoved = try await onWaitingThread { try libraries.reduce(false) { try $1.remove(name) || $0 } }
    let wasInMemory = forget([name])
    return wasInMemory || isRemoved
  }

  /// Removes clips and their reports from memory, after the clips were removed from their folders. The reports have the
  /// spoken texts. A reader that read a file before its removal has either added it to memory by now, or will be
  /// prevented from adding it. The call looks at every report in memory once.
  ///
  /// - Returns: Whether the file of one of the clips was in memory.
  @discardableResult
  func forget(_ names: Set<String>) -> Bool {
    guard !names.isEmpty else { return false }
    return changes.withLock { changes in
      reports.remove { names.contains($0.clip.name) }
      return names.reduce(false) { wasInMemory, name in
        changes.removed.add(name)
        return files.remove(name) || wasInMemory
      }
    }
  }

  /// The number of reports that are kept in memory.
  var reportCount: Int { reports.count }

  /// The number of clips that are being made or wait for the engine.
  var underWay: Int { get async { await flights.count } }

  /// The size of the clips that are kept in memory, in bytes.
  var cachedBytes: Int { files.bytes }

  /// Returns whether a name has the form of a clip's name: the digest of a recipe and a file extension. Other names are
  /// not looked up.
  static func isName(_ name: String) -> Bool { SoundLibrary.isRenderedClip(name) }

  static func mediaType(ofFileNamed name: String) -> String? {
    name.hasSuffix(".wav")
      ? "audio/wav" : name.hasSuffix(".aiff") ? "audio/aiff" : name.hasSuffix(".caf") ? "audio/x-caf" : nil
  }
}
