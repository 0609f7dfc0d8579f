// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Announcer
import Foundation
import SoundLibrary
import SpeechEngine

/// An announcer with the speaker built with these tests, and a container that is removed with it.
final class Workshop: Sendable {
  let directory: URL
  let announcer: Announcer
  let engine: SpeechEngine
  let library: SoundLibrary

  init(speakers: Int = 2) throws {
    let executable = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    let installation = Installation(data: nil, environment: [:], executable: executable)
    directory = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    engine = SpeechEngine(.init(speaker: installation.speaker, speakers: speakers))
    announcer = Announcer(
      phraseBooks: try PhraseBooks(directory: installation.templates),
      readers: AmountReaders(directory: installation.readers), engine: engine)
    library = SoundLibrary(container: try GroupContainer(containers: directory, group: "group.crier"))
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  static func payment(
    _ amount: String = "12.50", _ code: String = "CNY", channel: String? = nil, payer: String? = nil,
    note: String? = nil, locale: String = "zh-CN"
  ) throws -> Announcement {
    guard let currency = Currency(code: code) else { throw CocoaError(.featureUnsupported) }
    return .payment(
      Payment(
        id: "1", amount: try Money(decimalText: amount, currency: currency), channel: channel, payer: payer, note: note,
        locale: locale))
  }

  /// One payment for each locale, some with a name in another script.
  static func announcements() throws -> [Announcement] {
    [
      try payment("12.50", "CNY", channel: "alipay"),
      try payment("1048.05", "USD", channel: "card", payer: "张三", locale: "en-US"),
      try payment("1980", "JPY", channel: "paypay", payer: "Smith", locale: "ja-JP"),
      try payment("12300", "KRW", channel: "kakaopay", locale: "ko-KR"),
      try payment("125000.50", "INR", channel: "upi", payer: "Asha", locale: "hi-IN"),
    ]
  }

  /// The names of the files in `Library/Sounds`, including hidden files.
  var files: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: library.soundsDirectory.path(percentEncoded: false))) ?? []
  }
}
