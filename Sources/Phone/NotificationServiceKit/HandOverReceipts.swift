// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import DeviceClient
import Foundation
import SoundLibrary

/// A service that receives reports of what a phone has handed over to iOS.
public protocol ReceiptSending: Sendable {
  /// Sends at most 200 receipts. If this method throws, the receipts are kept and sent again later.
  func send(_ receipts: [HandOverReceipt]) async throws
}

extension DeviceClient: ReceiptSending {
  public func send(_ receipts: [HandOverReceipt]) async throws {
    do throws(DeviceClientError) {
      try await tell(receipts)
    } catch {
      // Do not keep these receipts: the service does not know the device, or refuses their form, and will never accept
      // them.
      guard [.notFound, .refused].contains(error.code) else { throw error }
    }
  }
}

/// The receipts that the service does not have yet, each in a file of the group container.
///
/// A receipt is written and sent after the handler was called. A receipt that was written before the call would delay
/// the sound, and would report a hand-over that has not happened yet. iOS may suspend the process at any moment after
/// the hand-over, so no file is locked. The remaining receipts are sent with the next notification of any process, or
/// when the app is opened.
final class HandOverReceipts: Sendable {
  /// The maximum number of receipts that are kept. The oldest are removed first.
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

  /// Records that an announcement was handed over. If this fails, the service lacks the receipt, and nothing else
  /// changes. The call blocks the thread for a moment.
  func note(_ id: String) {
    let receipt = HandOverReceipt(id: id, at: now())
    guard service != nil, let data = try? JSONEncoder().encode(receipt),
      (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)) != nil
    else { return }
    // The names of the files sort by time.
    let milliseconds = Int64(receipt.at.timeIntervalSince1970 * 1_000)
    let file = folder.appending(path: "\(milliseconds)-\(UUID().uuidString).json", directoryHint: .notDirectory)
    try? data.write(to: file, options: .atomic)
  }

  /// Begins to send the recorded receipts, and returns at once.
  func begin() {
    guard service != nil else { return }
    Task { await send() }
  }

  /// Sends the recorded receipts. If another task of the process is already sending, that task also sends the new
  /// receipts, and this call returns at once.
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

  /// Returns the oldest receipts with their files; nil if there are none. This method removes damaged files and the
  /// files beyond the limit.
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
