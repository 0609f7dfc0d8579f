// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import HTTPTypes
import Ledger

/// The clips and the notifications of an announcement to devices with several languages.
extension AnnouncementRoutes {
  /// The notifications of a request, and the reports of all its clips.
  struct MadePushes {
    var pushes: [NewPush] = []
    var reports: [ClipReport]
    /// Sentences for the report.
    var warnings: [String] = []
  }

  /// Makes the clip of a request if it does not exist. For devices, it is the clip in the language of the first one. If
  /// the announcement cannot be made in this language, it is a clip in another language of the devices. The order's
  /// default locale becomes the language of the clip.
  func makeClip(_ order: inout AnnouncementOrder, for account: String) async throws -> Clips.Made {
    if let locale = order.locales.first { order.options.defaultLocale = locale }
    do {
      return try await clip(order, for: account)
    } catch let error where Self.isOfRequest(error) {
      // The language of one phone does not keep the announcement from the others.
      for locale in Set(order.locales).subtracting([order.options.defaultLocale]).sorted() {
        var other = order
        other.options.defaultLocale = locale
        do {
          let made = try await clip(other, for: account)
          order = other
          return made
        } catch let second where Self.isOfRequest(second) {
          // The first error says more than the later ones.
          continue
        }
      }
      throw error
    }
  }

  private func clip(_ order: AnnouncementOrder, for account: String) async throws -> Clips.Made {
    try await clips.make(order.request.announcement, options: order.options, group: order.group, for: account)
  }

  /// Returns whether an error is one of the request, and not of the service.
  private static func isOfRequest(_ error: any Error) -> Bool { Problem(error).status == .unprocessableContent }

  /// Returns the notifications for the devices of a request. The clip of a device with another language is made here; if
  /// that is not possible, the device gets the clip of the report.
  ///
  /// - Parameter report: The report of the clip in the order's default locale.
  func makePushes(
    _ order: AnnouncementOrder, _ report: ClipReport, for account: String
  ) async throws -> MadePushes {
    var made = MadePushes(reports: [report])
    var reports = [order.options.defaultLocale: report]
    var bodies: [String: NewPush.Body] = [:]
    let now = Date()
    for (device, locale) in zip(order.devices, order.locales) {
      if reports[locale] == nil {
        var other = order
        other.options.defaultLocale = locale
        do {
          var new = try await clip(other, for: account).report
          new.id = order.id
          new.clip.url = try urls.url(ofClip: new.clip.name, authority: order.authority)
          reports[locale] = new
          made.reports.append(new)
        } catch let error where Self.isOfRequest(error) {
          reports[locale] = report
          made.warnings.append(
            "device: the announcement cannot be made in \(locale) (\(Problem(error).code)), so devices with this "
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
}
