// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation
import PhraseBookChecks

extension Book {
  struct Sheet: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints 60 amounts in words, with nearly all words for numbers, for a native speaker to sign.",
      discussion: """
        Each line has an amount, its currency and its words, with tabs between them. A signed sheet is kept as \
        Templates/sheets/LOCALE.tsv. From then on, crier book check says where the book differs from it.

        EXAMPLE
          crier book sheet sv-SE >sv-SE.tsv
        """)

    @Argument(help: "The locale, such as sv-SE.")
    var locale: String

    @OptionGroup(title: "Files") var files: DataOptions

    func perform() async throws {
      let books = try PhraseBooks(directory: files.installation.templates)
      let text = try BookSheet(try Book.writer(locale, books)).text
      try StandardOutput.write(String(text.dropLast()))
    }
  }

  struct Listen: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Plays the payments of a book's sheet one after the other, and prints the words of each.",
      discussion: """
        EXAMPLES
          crier book listen sv-SE
          crier book listen sv-SE --first 10
        """)

    @Argument(help: "The locale, such as sv-SE.")
    var locale: String

    @Option(help: ArgumentHelp("Play at most this number of payments.", valueName: "count"))
    var first = BookSheet.lineCount

    @Flag(help: "Play nothing; only print the words.")
    var noSound = false

    @OptionGroup(title: "Playback") var player: PlayerOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws {
      guard first > 0 else { throw ValidationError("--first \(first) is out of range: give 1 or more.") }
    }

    func perform() async throws {
      let announcer = try files.announcer(speakers: 1, home: player.home.folder)
      let sheet = try BookSheet(try Book.writer(locale, announcer.phraseBooks))
      let progress = player.progress()
      for line in sheet.lines.prefix(first) {
        let money = try AnnouncementInput.money(line.amount, line.currency, field: "amount '\(line.amount)'")
        let announcement = Announcement.payment(Payment(amount: money, locale: locale))
        if noSound {
          try StandardOutput.write(
            "\(line.amount)\t\(line.currency)\t\(try announcer.script(for: announcement).text)")
          continue
        }
        let rendered = try await announcer.render(
          announcement, options: RenderOptions(defaultLocale: locale), into: nil)
        try StandardOutput.write("\(line.amount)\t\(line.currency)\t\(rendered.report.text)")
        try await Preview.play(
          rendered, of: announcement, player, files, progress: progress)
      }
    }
  }
}
