// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
public import Foundation
public import HostAddresses
public import SoundDownloads

/// An attachment as a file for `UNNotificationAttachment`. iOS moves the file into its own store.
public struct DownloadedAttachment: Sendable, Hashable {
  /// The identifier for `UNNotificationAttachment`.
  public var identifier: String
  /// The file's URL. Its extension is that of ``kind``.
  public var file: URL
  public var kind: AttachmentKind
  /// The file's size in bytes.
  public var byteCount: Int
  public var options: AttachmentOptions
}

/// Makes the files of notification attachments, by download or as copies.
///
/// A notification service extension has about 24 MB of memory. Each piece is therefore written to the disk when it
/// arrives, and only one piece is in memory at a time. Nothing is decoded. The first bytes tell the format. The size
/// limit of the format ends the transfer before a byte beyond the limit is stored.
///
/// Every error and every cancellation removes the file. A cancelled caller does not wait for the network. A process
/// that is killed can leave a file whose name begins with `attachment-`, so use the extension's own temporary folder,
/// which iOS empties.
public struct AttachmentDownloader: Sendable {
  /// The number of bytes of a local file that are read at a time.
  private static let copiedBytes = 64 << 10

  private let folder: URL
  private let sender: RequestSender
  private let rules: DownloadRules
  private let clock: any Clock<Duration>
  private let calls: FileSystemCalls

  /// - Parameters:
  ///   - folder: The folder for the files, such as `FileManager.default.temporaryDirectory`. If it is missing, it is
  ///     made.
  ///   - fetcher: The client that sends the requests.
  ///   - resolver: The source of the hosts' addresses, which are checked before each request.
  ///   - rules: The rules for URLs, addresses and redirects, and the time limit. The size limits are those of the
  ///     formats, and a download has one attempt, so `mostBytes` and `mostAttempts` are not used.
  ///   - clock: The clock that measures `DownloadRules.longest`.
  public init(
    folder: URL, fetcher: any SoundFetching, resolver: any HostResolving = SystemHostResolver(),
    rules: DownloadRules = DownloadRules(), clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(folder: folder, fetcher: fetcher, resolver: resolver, rules: rules, clock: clock, calls: .system)
  }

  init(
    folder: URL, fetcher: any SoundFetching, resolver: any HostResolving, rules: DownloadRules,
    clock: any Clock<Duration>, calls: FileSystemCalls
  ) {
    self.folder = folder
    sender = RequestSender(fetcher, resolver, rules)
    self.rules = rules
    self.clock = clock
    self.calls = calls
  }

  /// Downloads an attachment.
  ///
  /// - Parameter limits: The accepted formats and sizes. A file of another format is refused as soon as its first bytes
  ///   arrive.
  /// - Throws: ``DownloadError``. No file is left behind.
  public func download(
    _ request: AttachmentRequest, limits: AttachmentLimits = .attachment
  ) async throws(DownloadError) -> DownloadedAttachment {
    let transfer = try AttachmentTransfer(request.url, rules: rules, limits: limits)
    return try await make(request.identifier, request.options, host: request.url.shownHost) {
      (file) async throws(DownloadError) in
      try await self.transfer(transfer, limits, into: file)
    }
  }

  /// Copies a local file, such as one in the group container.
  ///
  /// iOS moves the file of an attachment away, so the original would be lost without a copy. The copy shares no blocks
  /// on the disk with the original.
  ///
  /// - Parameter file: The URL of a regular file. A symbolic link is refused.
  /// - Throws: ``DownloadError``. No copy is left behind, and the original is unchanged.
  public func copy(
    of file: URL, identifier: String = AttachmentRequest.defaultIdentifier,
    options: AttachmentOptions = AttachmentOptions()
  ) async throws(DownloadError) -> DownloadedAttachment {
    guard file.isFileURL else { throw Self.notReadable("its URL does not begin with file:") }
    return try await make(identifier, options, host: nil) { (copy) async throws(DownloadError) in
      try await onWaitingThread { () throws(DownloadError) in try self.copyBytes(of: file, into: copy) }
    }
  }

  // MARK: - The file

  /// Calls a closure that fills a new file. The file is abandoned when the time limit is over or this task is
  /// cancelled.
  private func make(
    _ identifier: String, _ options: AttachmentOptions, host: String?,
    fill: @escaping @Sendable (AttachmentFile) async throws(DownloadError) -> AttachmentIntake
  ) async throws(DownloadError) -> DownloadedAttachment {
    let file = AttachmentFile(folder: folder, calls: calls)
    let first = FirstOutcome<DownloadedAttachment, DownloadError>()
    let stop = { @Sendable (code: DownloadError.Code) in
      if file.abandon() { first.end(.failure(DownloadError(code, of: .attachment, host: host))) }
    }
    let outcome = await first.wait {
      let limit = Task.detached { [clock, rules] in
        do { try await clock.sleep(for: rules.longest) } catch { return }
        stop(.tookTooLong)
      }
      let work = Task.detached {
        do throws(DownloadError) {
          let intake = try await fill(file)
          guard let kind = intake.kind, let url = file.keep() else { return stop(.cancelled) }
          first.end(
            .success(
              DownloadedAttachment(
                identifier: identifier, file: url, kind: kind, byteCount: intake.byteCount, options: options)))
        } catch {
          file.abandon()
          first.end(.failure(error))
        }
      }
      return [limit, work]
    } onCancel: {
      stop(.cancelled)
    }
    if Task.isCancelled, case .success = outcome {
      // Nobody uses the result of a cancelled task.
      file.remove()
      throw DownloadError(.cancelled, of: .attachment, host: host)
    }
    return try outcome.get()
  }

  private static func store(
    _ piece: [UInt8], _ intake: inout AttachmentIntake, _ file: AttachmentFile
  ) throws(DownloadError) {
    let isNew = intake.kind == nil
    let bytes = try intake.receive(piece)
    guard let kind = intake.kind else { return }
    if isNew { try file.make(fileExtension: kind.fileExtension) }
    try file.write(bytes)
  }

  // MARK: - Downloads

  private func transfer(
    _ first: AttachmentTransfer, _ limits: AttachmentLimits, into file: AttachmentFile
  ) async throws(DownloadError) -> AttachmentIntake {
    var transfer = first
    while true {
      let request = SoundRequest(
        url: transfer.url, fields: AttachmentTransfer.fields, addresses: [], mostBytes: limits.largest?.value ?? 0)
      var intake: AttachmentIntake?
      let end = try await sender.send(request, translating: { $0.about(.attachment) }) { answer throws(DownloadError) in
        intake = try transfer.receiveHead(status: answer.status, fields: answer.fields)
        return intake != nil
      } piece: { piece throws(DownloadError) in
        guard let before = intake else { return }
        intake = try await onWaitingThread { () throws(DownloadError) in
          var after = before
          try Self.store(piece, &after, file)
          return after
        }
      }
      switch (end, intake) {
      case (.noAnswer(let failure), _): throw transfer.error(failure)
      case (.body(let failure), let intake?):
        try intake.end(isBroken: failure != nil)
        return intake
      default: continue
      }
    }
  }

  /// Throws if the task is cancelled. Its caller is then gone, so the error is not shown.
  private func stopIfCancelled() throws(DownloadError) {
    if Task.isCancelled { throw DownloadError(.cancelled, of: .attachment) }
  }

  // MARK: - Copies

  private func copyBytes(of url: URL, into copy: AttachmentFile) throws(DownloadError) -> AttachmentIntake {
    let original = try open(url)
    let number = original.number
    let status = try reading { () throws(SystemError) in try calls.status(number) }
    guard status.isRegularFile else { throw Self.notReadable("it is not a regular file") }
    var intake = try AttachmentIntake(declared: status.byteCount, host: nil)
    while true {
      try stopIfCancelled()
      let piece = try reading { () throws(SystemError) in try calls.read(number, Self.copiedBytes) }
      guard !piece.isEmpty else { break }
      try Self.store(piece, &intake, copy)
    }
    try intake.end(isBroken: false)
    return intake
  }

  private func open(_ url: URL) throws(DownloadError) -> OpenDescriptor {
    let number = try reading { () throws(SystemError) in
      let folder = try OpenDescriptor.folder(url.deletingLastPathComponent(), calls: calls)
      return try calls.openFile(folder.number, url.lastPathComponent)
    }
    return OpenDescriptor(number, calls: calls)
  }

  /// Runs system calls on the original file, repeats them if a signal interrupted them, and translates their error.
  private func reading<Result>(_ work: () throws(SystemError) -> Result) throws(DownloadError) -> Result {
    do throws(SystemError) {
      return try retryingWhenInterrupted(work)
    } catch {
      if error.kind == .missing { throw DownloadError(.notFound, of: .attachment) }
      throw Self.notReadable(error.isRefusedLink ? "it is a symbolic link" : error.description)
    }
  }

  private static func notReadable(_ reason: String) -> DownloadError {
    DownloadError(.notReadable, of: .attachment, reason: reason)
  }
}
