// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing
import VoicePackMaking

@Suite("The recording sheet as a page")
struct RecordingSheetHTMLTests {
  private func page(_ locale: String) throws -> String {
    RecordingSheet(vocabulary: try Templates.writer(locale).vocabulary()).html
  }

  @Test("the page marks the words of the sheet with the locale's language, and its other text with English")
  func language() throws {
    let html = try page("zh-CN")
    #expect(html.contains("<html lang=\"en\">"))
    #expect(html.contains("<td class=\"say\" lang=\"zh-CN\" dir=\"auto\">元</td>"))
    #expect(html.contains("<q lang=\"zh-CN\" dir=\"auto\">到账一元</q>"))
  }

  @Test("each row of the page has a checkbox, its number, file and intonation, and each block states its coverage")
  func rows() throws {
    let sheet = RecordingSheet(vocabulary: try Templates.writer("en-US").vocabulary())
    let html = sheet.html
    #expect(html.components(separatedBy: "type=\"checkbox\"").count - 1 == sheet.rows.count)
    for row in sheet.rows {
      #expect(html.contains("<th scope=\"row\">\(row.number)<code>\(row.file)</code></th>"))
    }
    let falling = sheet.rows.count { $0.position == .final }
    #expect(html.components(separatedBy: "<tr class=\"final\">").count - 1 == falling)
    let text = html.replacing("&#39;", with: "'")
    for block in sheet.blocks { #expect(text.contains(block.title) && text.contains(block.progress)) }
  }

  @Test("the sheet's page ends with the command that imports the sheet, with the currencies of a limited sheet")
  func importCommand() throws {
    let vocabulary = try Templates.writer("en-US").vocabulary()
    #expect(
      RecordingSheet(vocabulary: vocabulary).html.contains(
        "<code>crier voices import recording.wav --locale en-US --id my-shop</code>"))
    #expect(
      RecordingSheet(vocabulary: vocabulary, currencies: ["USD", "EUR"]).html.contains(
        "<code>crier voices import recording.wav --locale en-US --currency USD --currency EUR --id my-shop</code>"))
  }

  @Test("the sheet's page has one table, whose head is repeated on paper, and rows are not split between pages")
  func printing() throws {
    let html = try page("en-US")
    #expect(html.components(separatedBy: "<thead>").count == 2)
    #expect(html.contains("thead { display: table-header-group; }") && html.contains("tr { break-inside: avoid; }"))
    #expect(html.contains("@media print") && html.contains("prefers-color-scheme: dark"))
  }

  @Test("the sheet's page runs no script and loads nothing")
  func selfContained() throws {
    let html = try page("hi-IN").lowercased()
    for trace in ["<script", "http://", "https://", "src=", "href=", "url(", "@import", "<link", "<img", "onclick"] {
      #expect(!html.contains(trace), "\(trace)")
    }
    #expect(html.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""))
  }

  @Test("any text of a phrase book stands in the page as text and never as markup")
  func escaping() throws {
    let hostile = "<b>\"R&D\"</b>'"
    var vocabulary = try Templates.writer("en-US").vocabulary()
    vocabulary.locale = "\"><i>"
    vocabulary.blocks[0].coverage = hostile
    vocabulary.blocks[0].words[0].text = hostile
    vocabulary.blocks[0].words[0].example = "x \(hostile) y"
    let html = RecordingSheet(vocabulary: vocabulary).html
    let escaped = "&lt;b&gt;&quot;R&amp;D&quot;&lt;/b&gt;&#39;"
    #expect(!html.contains(hostile) && !html.contains("\"><i>"))
    #expect(html.contains("dir=\"auto\">\(escaped)</td>") && html.contains(">x \(escaped) y</q>"))
    #expect(html.contains(": \(escaped)</b>") && html.contains("lang=\"&quot;&gt;&lt;i&gt;\""))
  }

  @Test("the same vocabulary always gives the same page")
  func deterministic() throws { #expect(try page("ja-JP") == page("ja-JP")) }
}
