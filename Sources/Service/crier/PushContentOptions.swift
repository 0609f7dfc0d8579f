// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Crypto
import Foundation
import PushMessages
import SoundHeaders
import TextFormats

/// The options for the data of the app's service extension: the key `crier` of an alert push.
struct PushContentOptions: ParsableArguments {
  @Option(
    help: "The sound file that the extension downloads, such as one of crier render; it needs --clip-url.",
    completion: .file())
  var clip: String?

  @Option(help: ArgumentHelp("The URL from which the phone downloads the file of --clip.", valueName: "url"))
  var clipURL: String?

  /// The largest clip, in bytes. A sound of 30 seconds is smaller in every encoding.
  private static let largestClip = 16 << 20
  /// The length, in ms, that a sound must not reach: iOS plays only shorter sounds ("UNNotificationSound", Apple's
  /// documentation).
  private static let longestMilliseconds = 30_000

  func validate() throws {
    if clip != nil, clipURL == nil {
      throw ValidationError("--clip needs --clip-url: the phone downloads the file from there.")
    }
    if clip == nil, clipURL != nil {
      throw ValidationError("--clip-url needs --clip: the phone checks the download against the file's digest.")
    }
  }

  /// Returns the clip as the payload describes it; nil without `--clip`.
  ///
  /// - Throws: `AnnouncementError` if the file is not a sound; `PushMessageError` if its name or the URL is not valid.
  func pushedClip() throws -> PushedClip? {
    guard let clip, let clipURL else { return nil }
    guard let handle = FileHandle(forReadingAtPath: clip),
      let bytes = try? handle.read(upToCount: Self.largestClip + 1), bytes.count <= Self.largestClip
    else { throw Self.unusable("cannot be read, or is larger than \(Self.largestClip >> 20) MiB") }
    guard let duration = SoundHeader(of: Array(bytes))?.durationMilliseconds else {
      throw Self.unusable("is not a sound file with a length in its header")
    }
    guard duration < Self.longestMilliseconds else {
      throw AnnouncementError(
        .payloadMalformed, "--clip", "lasts 30 s or more, so iOS would play its default sound",
        remedy: "give a shorter sound, such as crier render makes")
    }
    guard let url = URL(string: clipURL) else {
      throw PushMessageError(.clipInvalid, "must have a URL that begins with https:// or http://")
    }
    return try PushedClip(
      name: URL(filePath: clip).lastPathComponent, url: url, sha256: SHA256.hash(data: bytes).hexadecimal,
      bytes: bytes.count, durationMilliseconds: duration)
  }

  private static func unusable(_ problem: String) -> AnnouncementError {
    AnnouncementError(
      .payloadMalformed, "--clip", problem, remedy: "give a WAVE, AIFF or CAF file, such as crier render makes")
  }

  /// Returns the data that the extension reads, with the words that the service would speak.
  ///
  /// - Parameter script: The words of the announcement.
  static func content(
    of announcement: Announcement, script: Script, clip: PushedClip?
  ) throws(PushMessageError) -> AlertMessage.Content {
    // An extension plays an id once, so a test without an id of its own gets a new one.
    var content = AlertMessage.Content(
      id: "push-\(UUID().uuidString.lowercased())", locale: script.locale, text: script.text, clip: clip)
    guard case .payment(let payment) = announcement else { return content }
    content.id = payment.id ?? content.id
    content.sequence = payment.sequence
    content.kind = payment.kind.rawValue
    content.amount = try AlertMessage.Content.Amount(
      value: payment.amount.decimalText, currency: payment.amount.currency.code)
    content.payer = payment.visiblePayer.map { AlertMessage.Content.Payer(name: $0) }
    return content
  }
}
