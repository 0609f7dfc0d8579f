// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import Ledger
import PushMessages

/// The clips and the notifications of an announcement to devices with several languages.
extension AnnouncementService {
  /// The notifications of a request, and the reports of all its clips.
  struct MadePushes {
    var pushes: [NewPush] = []
    var reports: [ClipReport]
    /// Sentences for the report.
    var warnings: [String] = []
  }

  /// Makes the clip of a request if it does not exist. If the request is for devices, the clip is in the language of
  /// the first device. If the announcement cannot be made in this language, the clip is in the language of another
  /// device. The order's default locale becomes the language of the clip.
  func makeClip(
    _ order: inout AnnouncementOrder
  ) async throws -> (report: ClipReport, isCached: Bool) {
    if let locale = order.locales.first { order.options.defaultLocale = locale }
    do {
      return try await clip(order)
    } catch let error where RequestFault.isCause(of: error) {
      // An error in the language of one phone does not prevent the announcement to the others.
      for locale in Set(order.locales).subtracting([order.options.defaultLocale]).sorted() {
        var other = order
        other.options.defaultLocale = locale
        do {
          let made = try await clip(other)
          order = other
          return made
        } catch let second where RequestFault.isCause(of: second) {
          // If all languages fail, the first error is thrown, because it says more than the later ones.
          continue
        }
      }
      throw error
    }
  }

  private func clip(_ order: AnnouncementOrder) async throws -> (report: ClipReport, isCached: Bool) {
    try await clips.made(order.request.announcement, options: order.options, group: order.group, for: order.account)
  }

  /// Returns the notifications for the devices of a request. For a device with another language, a clip in that
  /// language is made. If that is not possible, the device gets the clip of the report.
  ///
  /// - Parameter report: The report of the clip in the order's default locale.
  func makePushes(_ order: AnnouncementOrder, _ report: ClipReport) async throws -> MadePushes {
    var made = MadePushes(reports: [report])
    var reports = [order.options.defaultLocale: report]
    var bodies: [String: NewPush.Body] = [:]
    let now = Date()
    made.warnings += warnings(about: order.devices, group: order.group)
    for (device, locale) in zip(order.devices, order.locales) {
      if reports[locale] == nil {
        var other = order
        other.options.defaultLocale = locale
        do {
          var new = try await clip(other).report
          new.id = order.id
          new.clip.url = try clips.url(ofClip: new.clip.name, authority: order.submission.authority)
          reports[locale] = new
          made.reports.append(new)
        } catch let error where RequestFault.isCause(of: error) {
          reports[locale] = report
          made.warnings.append(
            "device: the announcement cannot be made in \(locale) (\(ErrorReport(error).code)), so devices with this "
              + "language get it in \(report.locale)")
        }
      }
      let clip = reports[locale] ?? report
      let body = try bodies[locale] ?? pushes.body(order.request, clip: clip)
      bodies[locale] = body
      made.pushes.append(pushes.push(body, to: device, clip: clip.clip.name, at: now))
    }
    return made
  }

  /// Returns warnings about the devices that get no notification of an announcement, or whose library does not get its
  /// clip.
  ///
  /// - Parameter group: The app group that gets the clip.
  private func warnings(about devices: [Ledger.Device], group: String) -> [String] {
    func warning(_ isAffected: (Ledger.Device) -> Bool, one: String, several: String) -> String? {
      let count = devices.count(where: isAffected)
      guard count > 0 else { return nil }
      return devices.count == 1 ? "device: \(one)" : "device: \(count) of the \(devices.count) devices \(several)"
    }
    return [
      warning(
        { $0.tokens[.alert] == nil }, one: "has no token, so it gets no notification until its app registers one",
        several: "have no token, so they get no notification until their apps register one"),
      // If the announcement had only this device, it would be refused.
      warning(
        { !pushes.isConfigured($0) }, one: "belongs to an app that the setting 'apns' does not contain",
        several: "belong to an app or an environment that is not in the setting 'apns', so nothing is pushed to them"),
      warning(
        { ($0.appGroup ?? groups.standard) != group },
        one: "is not in the clip's app group, so its library does not get the clip; set group to the phone's app group",
        several: "are in another app group than the clip, so their libraries do not get the clip"),
    ].compactMap(\.self)
  }
}
