// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ConcurrencySupport
import Crypto
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import SoundLibrary
import VoicePackIntegrity

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The service's clips: made once for everybody who asks at once, and kept in memory while they are asked for often.
final class Clips: Sendable {
  /// What decides how a clip sounds, and where it is published. Who asks for it, under which id, does not.
  struct Recipe: Sendable, Hashable {
    var announcement: Announcement
    var options: RenderOptions
    var group: String

    init(_ announcement: Announcement, options: RenderOptions, group: String) {
      if case .payment(var payment) = announcement {
        (payment.id, payment.sequence, payment.occurredAt) = (nil, nil, nil)
        self.announcement = .payment(payment)
      } else {
        self.announcement = announcement
      }
      self.options = options
      self.group = group
    }
  }

  /// A clip's file as it is sent.
  struct File: Sendable {
    var bytes: ByteBuffer
    /// Of its bytes, with its quotation marks: they are the same wherever they were made.
    var etag: String
    var mediaType: String
    /// Of every answer that has it, or a part of it.
    var fields: HTTPFields
    /// Of an answer that has all of it, as HTTP/1.1 sends them.
    var wholeFields: HTTPHeaders

    init(bytes: ByteBuffer, digest: String, mediaType: String) {
      self.bytes = bytes
      self.mediaType = mediaType
      etag = "\"\(digest)\""
      fields = [
        .contentType: mediaType, .eTag: etag, .acceptRanges: "bytes",
        .cacheControl: "private, max-age=31536000, immutable",
      ]
      wholeFields = HTTPHeaders(fields.map { ($0.name.rawName, $0.value) })
      wholeFields.add(name: "Content-Length", value: String(bytes.readableBytes))
    }
  }

  /// A clip that was made, and its file.
  struct Made: Sendable {
    var report: ClipReport
    var file: File
    var isCached: Bool
  }

  private let announcer: Announcer
  private let containers: URL
  private let flights = SingleFlight<Recipe, Made>()
  private let reports: RecentlyUsed<Recipe, ClipReport>
  private let files: RecentlyUsed<String, File>
  /// Its lock is held while a file is put into memory or taken from it.
  private let removed = Locked(RemovedClips())
  /// Who announces a clip shares its turn, and who removes it has it alone.
  let turns = SharedTurns<String>()
  private let metrics: ServiceMetrics
  private let groups: AppGroups
  private let keyGroups: @Sendable () async throws -> Set<String>
  private let work: AccountWork

  /// - Parameters:
  ///   - containers: holds a folder for each app group.
  ///   - groups: the settings' app groups.
  ///   - keyGroups: the app groups that keys have.
  ///   - cacheBytes: of clips that are kept in memory.
  init(
    announcer: Announcer, containers: URL, groups: AppGroups,
    keyGroups: @escaping @Sendable () async throws -> Set<String>, work: AccountWork, cacheBytes: Int,
    metrics: ServiceMetrics
  ) {
    self.announcer = announcer
    self.containers = containers
    self.groups = groups
    self.keyGroups = keyGroups
    self.work = work
    files = RecentlyUsed(capacityBytes: cacheBytes)
    // A report is a few thousand bytes for each of its clip's hundred thousand.
    reports = RecentlyUsed(capacityBytes: max(1 << 20, cacheBytes / 8))
    self.metrics = metrics
  }

  /// - Throws: `SoundLibraryError` for a name that no group can have.
  func library(_ group: String) throws(SoundLibraryError) -> SoundLibrary {
    SoundLibrary(container: try GroupContainer(containers: containers, group: group))
  }

  /// Makes a clip, or finds it made.
  ///
  /// - Parameter account: who has it made; a clip that stands costs it nothing.
  /// - Throws: as `Announcer.render(_:options:into:permit:)`; ``AccountWork/Refusal``.
  func make(
    _ announcement: Announcement, options: RenderOptions, group: String, for account: String
  ) async throws -> Made {
    let recipe = Recipe(announcement, options: options, group: group)
    if let report = reports.value(for: recipe), let file = files.value(for: report.clip.name), Self.isThere(report) {
      metrics.count(.clipsFromMemory)
      return Made(report: report, file: file, isCached: true)
    }
    let library = try library(group)
    return try await Self.shared(account) { try await make(recipe, into: library, for: account) }
  }

  /// Does work that several accounts may share, until it is not another account that is refused: that one had asked for it
  /// first, and may not have it made.
  static func shared<Value>(_ account: String, _ work: () async throws -> Value) async throws -> Value {
    while true {
      do {
        return try await work()
      } catch let refusal as AccountWork.Refusal where refusal.account != account {}
    }
  }

  private func make(_ recipe: Recipe, into library: SoundLibrary, for account: String) async throws -> Made {
    let (made, isShared) = try await flights.value(for: recipe) { [self] in
      let start = ContinuousClock.now
      let moment = moment
      let clip = try await announcer.render(
        recipe.announcement, options: recipe.options, into: library, permit: work.permit(account))
      let made = Made(
        report: clip.report,
        file: File(
          bytes: ByteBuffer(bytes: clip.bytes), digest: clip.report.clip.sha256,
          mediaType: Self.mediaType(ofFileNamed: clip.report.clip.name) ?? "application/octet-stream"),
        isCached: clip.report.cached)
      if made.isCached {
        metrics.count(.clipsFromDisk)
      } else {
        metrics.countRender(method: clip.report.method, took: ContinuousClock.now - start)
      }
      remember(made, as: recipe, readAt: moment)
      return made
    }
    if isShared { metrics.count(.clipsShared) }
    return made
  }

  private func remember(_ made: Made, as recipe: Recipe, readAt moment: RemovedClips.Moment) {
    keep(made.file, as: made.report.clip.name, readAt: moment)
    var report = made.report
    report.cached = true
    // The announcement's own texts are about as long as what is said.
    reports.insert(
      report, for: recipe,
      bytes: RecentlyUsed<Recipe, ClipReport>.entryBytes + report.heapBytes + 4 * report.text.utf8.count)
  }

  /// Keeps a file for what it takes: a buffer takes a power of two, up to twice what is in it, and the fields of its
  /// answers take 2 kB. One that was removed since it was read is not kept.
  ///
  /// - Parameter moment: before it was read.
  func keep(_ file: File, as name: String, readAt moment: RemovedClips.Moment) {
    removed.withLock { removed in
      guard !removed.contains(name, since: moment) else { return }
      files.insert(
        file, for: name, bytes: RecentlyUsed<String, File>.entryBytes + file.bytes.storageCapacity + 2_048)
    }
  }

  /// A moment, for whoever reads a file and keeps it then.
  var moment: RemovedClips.Moment { removed.withLock { $0.now } }

  /// Somebody may have removed it from the folder, where a phone looks for it.
  static func isThere(_ report: ClipReport) -> Bool { access(report.clip.path, R_OK) == 0 }

  /// A clip's file by its name, in whichever group of the operator's it is: its name says what is in it. Other folders
  /// beside them are not looked into, so that a name that is nobody's costs the same whatever is on the disk.
  ///
  /// - Returns: nil when there is none, or the name is no clip's.
  /// - Throws: `SoundLibraryError`.
  func file(named name: String) async throws -> File? {
    if let known = fileInMemory(named: name) { return known }
    guard Self.isName(name), let mediaType = Self.mediaType(ofFileNamed: name) else { return nil }
    let libraries = try await libraries()
    let moment = moment
    let found = try await onWaitingThread {
      for library in libraries {
        if let bytes = try library.contents(of: name), !bytes.isEmpty { return Optional(bytes) }
      }
      return nil
    }
    guard let bytes = found else { return nil }
    let digest = SHA256.hash(data: bytes).hexadecimal
    let file = File(bytes: ByteBuffer(bytes: bytes), digest: digest, mediaType: mediaType)
    keep(file, as: name, readAt: moment)
    return file
  }

  func fileInMemory(named name: String) -> File? { files.value(for: name) }

  /// Those of the operator's groups.
  private func libraries() async throws -> [SoundLibrary] {
    try groups.own.union(try await keyGroups()).sorted().filter(GroupContainer.isGroupName).map(library)
  }

  /// Removes a clip from the folder of its group, and from memory. Copies in other groups stay: others have them there.
  ///
  /// - Parameter group: nil when it is not known; then the clip is removed from all of the operator's groups.
  /// - Returns: whether there was one.
  /// - Throws: `SoundLibraryError`.
  func remove(_ name: String, from group: String?) async throws -> Bool {
    let libraries =
      if let group, GroupContainer.isGroupName(group) { [try library(group)] } else { try await libraries() }
    let isRemoved = try await onWaitingThread { try libraries.reduce(false) { try $1.remove(name) || $0 } }
    // Last: whoever read the file before it was gone has put it there, or is not to.
    let wasInMemory = removed.withLock { removed in
      removed.add(name)
      return files.remove(name)
    }
    return wasInMemory || isRemoved
  }

  /// Clips that are being made or wait for the engine.
  var underWay: Int { get async { await flights.count } }

  /// The bytes that are kept in memory.
  var cachedBytes: Int { files.bytes }

  /// What a clip's name is: the digest of a recipe and an ending. Nothing else is looked for.
  static func isName(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].count == 64 else { return false }
    let isDigest = parts[0].allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    return isDigest && mediaType(ofFileNamed: name) != nil
  }

  static func mediaType(ofFileNamed name: String) -> String? {
    name.hasSuffix(".wav")
      ? "audio/wav" : name.hasSuffix(".aiff") ? "audio/aiff" : name.hasSuffix(".caf") ? "audio/x-caf" : nil
  }
}
