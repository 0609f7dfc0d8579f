// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import DeviceClient
import Foundation
import SoundLibrary

/// A place to which a phone says what it handed over to iOS.
public protocol ReceiptSending: Sendable {
  /// Sends receipts, at most 200. They are kept, and sent again later, if this throws.
  func send(_ receipts: [HandOverReceipt]) async throws
}

extension DeviceClient: ReceiptSending {
  public func send(_ receipts: [HandOverReceipt]) async throws {
    do throws(DeviceClientError) {
      try await tell(receipts)
    } catch {
      // The service will never take them: it has no such device, or refuses their form.
      guard [.notFound, .refused].contains(error.code) else { throw error }
    }
  }
}

/// The receipts that the service does not have yet, each in a file of the group container.
///
/// A receipt is written and sent after the handler was called, because before, it would delay the sound and say what has
/// not happened. iOS may suspend the process at any moment then, so no file is locked, and what was not sent is sent with
/// the next notification, whichever process it comes to, or when the app is opened.
final class HandOverReceipts: Sendable {
  /// The number of receipts that are kept. The oldest are removed first.
  static let most = 1_000

  private let folder: URL
  private let service: (any ReceiptSending)?
  private let now: @Sendable () -> Date
  private let state = Locked((isSending: false, mustRepeat: false))

  init(container: GroupContainer, service: (any ReceiptSending)?, now: @escaping @Sendable () -> Date) {
    folder = container.directory.appending(path: "Library/Crier/receipts", directoryHint: .isDirectory)
    self.service = service
    self.now = now
  }

  /// Notes that an announcement was handed over. Without this note, the service only knows less. The call blocks the
  /// thread for a moment.
  func note(_ id: String) {
    let receipt = HandOverReceipt(id: id, at: now())
    guard service != nil, let data = try? JSONEncoder().encode(receipt),
      (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)) != nil
    else { return }
    // The names are in the order of the times.
    let milliseconds = Int64(receipt.at.timeIntervalSince1970 * 1_000)
    let file = folder.appending(path: "\(milliseconds)-\(UUID().uuidString).json", directoryHint: .notDirectory)
    try? data.write(to: file, options: .atomic)
  }

  /// Begins to send what was noted, and returns at once.
  func begin() {
    guard service != nil else { return }
    Task { await send() }
  }

  /// Sends what was noted. If another task of the process is sending, it goes on with this, and this method returns.
  func send() async {
    guard let service else { return }
    let isBusy = state.withLock { state in
      defer { state = (true, true) }
      return state.isSending
    }
    if isBusy { return }
    while state.withLock({ state in
      defer { state = (state.mustRepeat, false) }
      return state.mustRepeat
    }) {
      while let (files, receipts) = await onWaitingThread({ [self] in next() }), !Task.isCancelled {
        guard (try? await service.send(receipts)) != nil else { break }
        await onWaitingThread { for file in files { try? FileManager.default.removeItem(at: file) } }
      }
    }
  }

  /// Returns the oldest receipts with their files; nil if there are none. Damaged files, and those beyond the limit, are
  /// removed.
  private func next() -> (files: [URL], receipts: [HandOverReceipt])? {
    let all = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    let files = all.filter { $0.pathExtension == "json" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
    for file in files.dropLast(Self.most) { try? FileManager.default.removeItem(at: file) }
    let read = files.suffix(Self.most).prefix(DeviceClient.mostReceipts).compactMap { file -> (URL, HandOverReceipt)? in
      guard let data = try? Data(contentsOf: file) else { return nil }
      if let receipt = try? JSONDecoder().decode(HandOverReceipt.self, from: data) { return (file, receipt) }
      try? FileManager.default.removeItem(at: file)
      return nil
    }
    return read.isEmpty ? nil : (read.map(\.0), read.map(\.1))
  }
}
