// SPDX-License-Identifier: Apache-2.0

package import Announcements
import Announcer
package import Foundation
package import Ledger
import PushMessages

/// Makes the pushes of an announcement: one notification for each device, in the device's language.
package struct AnnouncementPushes: Sendable {
  /// The time for which a push is worth sending, in seconds; nil if the service sends no pushes.
  private let lifetime: TimeInterval?
  let isConfigured: @Sendable (Ledger.Device) -> Bool
  private let ledger: any Ledger.DeviceStore
  private let phraseBooks: PhraseBooks

  /// - Parameters:
  ///   - lifetime: The time for which a push is worth sending, in seconds; nil if the service sends no pushes.
  ///   - isConfigured: Returns whether the service sends pushes to a device's app and environment.
  package init(
    lifetime: TimeInterval?, ledger: any Ledger.DeviceStore, phraseBooks: PhraseBooks,
    isConfigured: @escaping @Sendable (Ledger.Device) -> Bool
  ) {
    (self.lifetime, self.isConfigured, self.ledger, self.phraseBooks) = (lifetime, isConfigured, ledger, phraseBooks)
  }

  /// Returns the devices that a request addresses, in the order of their ids.
  ///
  /// - Throws: ``AcceptanceError`` with `pushUnavailable`, `deviceMissing`, `deviceUnknown` or `appNotConfigured`;
  ///   `LedgerError`.
  func devices(of request: AnnouncementRequest, account: String) async throws -> [Ledger.Device] {
    guard request.deliver.contains(.push) else { return [] }
    guard lifetime != nil else {
      throw AcceptanceError(
        .pushUnavailable,
        "deliver: push needs the setting 'apns', which this service does not have; choose clip or play.")
    }
    guard let name = request.device else {
      throw AcceptanceError(
        .deviceMissing,
        "device: is missing; push needs the id of a device, or the name of a group of devices.")
    }
    let devices = try await ledger.devices(account: account, named: name)
    guard !devices.isEmpty else {
      throw AcceptanceError(
        .deviceUnknown,
        "device: the account has no device and no group of devices with this name; register it first.")
    }
    // A phone whose app is not configured does not prevent the announcement to the other phones of its group. The push
    // to this phone waits, and its reason says why.
    guard devices.contains(where: isConfigured) else {
      throw AcceptanceError(
        .appNotConfigured,
        "device: belongs to an app or an environment that the setting 'apns' does not contain; add it there.")
    }
    return devices
  }

  /// Returns the body of the notifications for all devices of one language.
  ///
  /// - Parameter report: The report of the clip in this language, with its id and URL.
  /// - Throws: `AnnouncementError`; `PushMessageError` if the message cannot be made small enough.
  func body(_ request: AnnouncementRequest, clip report: ClipReport) throws -> NewPush.Body {
    try message(request, clip: report).bodyForAnySequence()
  }

  /// Returns the notification for a device.
  ///
  /// - Parameter clip: The file name of the clip in the device's language.
  func push(_ body: NewPush.Body, to device: Ledger.Device, clip: String, at now: Date) -> NewPush {
    NewPush(
      device: device.id, kind: .alert, priority: PushRequest.Priority.immediate.rawValue, clip: clip,
      expiresAt: now.addingTimeInterval(lifetime ?? 0), body: body)
  }

  private func message(_ request: AnnouncementRequest, clip report: ClipReport) throws -> AlertMessage {
    let banner = try phraseBooks.banner(for: request.announcement, defaultLocale: report.locale)
    var content = AlertMessage.Content(id: report.id ?? "", locale: report.locale, text: report.text)
    if case .payment(let payment) = request.announcement {
      content.kind = payment.kind.rawValue
      if let amount = report.amount {
        content.amount = try AlertMessage.Content.Amount(value: amount.value, currency: amount.currency)
      }
      content.payer = payment.visiblePayer.map { AlertMessage.Content.Payer(name: $0) }
    }
    if let url = URL(string: report.clip.url) {
      content.clip = try PushedClip(
        name: report.clip.name, url: url, sha256: report.clip.sha256, bytes: report.clip.bytes,
        durationMilliseconds: report.clip.durationMilliseconds)
    }
    content.spoken = Self.spoken(report)
    let wanted = request.notification
    let volume = try wanted.criticalVolume.map { try Hundredths($0) }
    // A pending payment may still fail, so its notification does not break through a Focus of iOS.
    var isPending = false
    if case .payment(let payment) = request.announcement { isPending = payment.kind == .pending }
    // A phone that has the clip plays it even if the app's extension does not run in time.
    return AlertMessage(
      title: banner.title, subtitle: banner.subtitle, body: banner.body, badge: wanted.badge,
      sound: try AlertMessage.Sound(report.clip.name, criticalVolume: volume),
      threadID: wanted.threadID ?? "payments",
      interruptionLevel: wanted.interruptionLevel ?? (volume != nil ? .critical : isPending ? .active : .timeSensitive),
      relevanceScore: try wanted.relevanceScore.map { try Hundredths($0) }, attachmentURL: wanted.attachmentURL,
      content: content)
  }
}

extension AnnouncementPushes {
  /// Returns the data with which a phone that has the voice pack says a clip by itself; nil if the engine said a part
  /// of it.
  private static func spoken(_ report: ClipReport) -> AlertMessage.Content.Spoken? {
    guard !report.tokens.isEmpty else { return nil }
    return try? AlertMessage.Content.Spoken(pack: report.voice, tokens: report.tokens)
  }
}

extension AlertMessage {
  /// Returns the payload with a gap for the sequence number. It has at most 4,096 bytes with any number.
  fileprivate func bodyForAnySequence() throws(PushMessageError) -> NewPush.Body {
    let number = Int64.max
    let body = try fitted(sequence: number)
    // The number cannot be found by its digits, because names and texts may contain the same digits. Two payloads are
    // compared instead, which differ only in the last digit of the number.
    guard let last = zip(body.indices, zip(body, try fitted(sequence: number - 1))).first(where: { $1.0 != $1.1 })?.0
    else { return NewPush.Body(body) }
    return NewPush.Body(
      beforeSequence: body[...last].dropLast(String(number).utf8.count), afterSequence: body[last...].dropFirst())
  }

  private func fitted(sequence: Int64) throws(PushMessageError) -> Data {
    var message = self
    message.content?.sequence = sequence
    return try message.fitted().body
  }
}
