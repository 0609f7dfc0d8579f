// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing
import VoicePacks

@testable import VoicePackMaking

@Suite("The recording sheet")
struct RecordingSheetTests {
  private func sheet(_ locale: String) throws -> RecordingSheet {
    RecordingSheet(vocabulary: try Templates.writer(locale).vocabulary())
  }

  private func rows(_ csv: String) throws(PackMakingError) -> [SheetRow] {
    try RecordingSheet.rows(csv: Array(csv.utf8))
  }

  private func error(_ csv: String) -> PackMakingError? {
    do throws(PackMakingError) {
      _ = try rows(csv)
      return nil
    } catch {
      return error
    }
  }

  // MARK: The rows of a sheet

  @Test("every word of the vocabulary has a plain row, and a word that may end an announcement also has a final row")
  func complete() throws {
    for locale in ["zh-CN", "en-US", "ja-JP", "ko-KR", "hi-IN"] {
      let vocabulary = try Templates.writer(locale).vocabulary()
      let rows = RecordingSheet(vocabulary: vocabulary).rows
      #expect(rows.filter { $0.position == .plain }.map(\.token) == vocabulary.words.map(\.token))
      #expect(rows.filter { $0.position == .final }.map(\.token) == vocabulary.words.filter(\.mayEnd).map(\.token))
      #expect(rows.map(\.number) == Array(1...rows.count))
    }
  }

  @Test("the sheet for an incomplete pack has the rows without a recording, also for words that have changed")
  func missing() throws {
    let sheet = try sheet("en-US")
    let all = sheet.rows
    var pack = PackManifest(id: "shop", locale: "en-US", speaker: "", licence: "")
    #expect(sheet.missing(from: pack) == sheet)
    for row in all {
      pack.clips["\(row.file).wav"] = PackManifest.Clip(text: row.text, sha256: "")
      if row.position == .final {
        pack.tokens[row.token]?.final = "\(row.file).wav"
      } else {
        pack.tokens[row.token] = PackManifest.Alternates(plain: "\(row.file).wav")
      }
    }
    #expect(sheet.missing(from: pack).rows.isEmpty && sheet.missing(from: pack).blocks.isEmpty)
    // One word was never recorded, one has other words now, and one lacks its clip for the end of a sentence.
    let ending = try #require(all.last { $0.position == .final })
    let changed = try #require(all.first { $0.position == .plain && $0.token != ending.token })
    let never = try #require(all.last { $0.position == .plain && ![ending.token, changed.token].contains($0.token) })
    pack.tokens[ending.token]?.final = nil
    pack.clips["\(changed.file).wav"]?.text = "former words"
    pack.tokens[never.token] = nil
    let missing = sheet.missing(from: pack)
    #expect(missing.rows == all.filter { [changed, ending].contains($0) || $0.token == never.token })
    #expect(missing.blocks.last?.clipsSoFar == missing.rows.count)
    #expect(try rows(missing.csv).map(\.token) == missing.rows.map(\.token))
  }

  @Test("the file names of a sheet are numbers with leading zeros, so that a folder sorts like the sheet")
  func fileNames() throws {
    let rows = try sheet("en-US").rows
    #expect(rows[0].file == "001" && rows[11].file == "012" && rows[99].file == "100")
    #expect(rows.map(\.file).sorted() == rows.map(\.file))
  }

  @Test("a sheet of a thousand rows has file names of four digits from the first row on")
  func longSheet() throws {
    var vocabulary = try Templates.writer("en-US").vocabulary()
    let word = vocabulary.blocks[0].words[0]
    #expect(!word.mayEnd)
    vocabulary.blocks = [vocabulary.blocks[0]]
    vocabulary.blocks[0].words = Array(repeating: word, count: 1_000)
    let rows = RecordingSheet(vocabulary: vocabulary).rows
    #expect(rows.first?.file == "0001" && rows.last?.file == "1000")
  }

  @Test("a block lists the words in mid-sentence first, then the words that end a sentence, and states its coverage")
  func block() throws {
    let block = try sheet("en-US").blocks[1]
    #expect(
      block.rows.map { "\($0.text) \($0.position)" } == [
        "one plain", "dollar plain", "two plain", "dollars plain", "three plain", "four plain", "five plain",
        "six plain", "seven plain", "eight plain", "nine plain", "dollar final", "dollars final",
      ])
    #expect(block.title == "These 13 clips: every whole amount under 10 in USD")
    #expect(block.progress == "Required. 14 clips so far, about 1 minute.")
    #expect(block.rows[0].how == "As in the middle of a sentence, with a level voice.")
    #expect(block.rows[12].how == "As the last word, with a falling voice.")
  }

  @Test("the total time of a sheet grows by two seconds for each clip, and is stated in whole minutes")
  func totals() throws {
    let blocks = try sheet("zh-CN").blocks
    var clips = 0
    for block in blocks {
      clips += block.rows.count
      #expect(block.clipsSoFar == clips)
      #expect(
        block.progress.contains(
          "\(clips) \(clips == 1 ? "clip" : "clips") so far, about \((clips * 2 + 59) / 60) minute"))
      #expect(block.progress.hasPrefix(block.isRequired ? "Required." : "Optional."))
    }
  }

  @Test("if a mid-sentence word comes last in its example, dots show that the sentence continues")
  func examples() throws {
    let rows = try sheet("en-US").rows.filter { $0.token == "dollar" }
    #expect(rows.map(\.example) == ["Received one dollar …", "Received one dollar"])
  }

  // MARK: As comma-separated values

  @Test("the file of a sheet has its columns in order, and reads back as the rows of the sheet")
  func roundTrip() throws {
    for locale in ["zh-CN", "en-US", "ja-JP", "ko-KR", "hi-IN"] {
      let sheet = try sheet(locale)
      #expect(sheet.csv.hasPrefix("number,file,token,text,position,how,example,block,locale\r\n"))
      let expected = sheet.rows.map {
        SheetRow(
          number: $0.number, file: $0.file, token: $0.token, text: $0.text, position: $0.position,
          locale: locale)
      }
      #expect(try rows(sheet.csv) == expected)
    }
  }

  @Test("a sheet's rows and columns may be removed or reordered, and other columns and empty lines are ignored")
  func edited() throws {
    let found = try rows(
      """
      \u{FEFF}Position,mood, TEXT ,token,file,number
      final,calm,twelve dollars,twelve dollars,take7.wav,9
      ,,,,,

      plain,,"one",one,001,1
      """)
    #expect(
      found == [
        SheetRow(number: 9, file: "take7.wav", token: "twelve dollars", text: "twelve dollars", position: .final),
        SheetRow(number: 1, file: "001", token: "one", text: "one", position: .plain),
      ])
  }

  @Test("a sheet with only a header has no rows")
  func noRows() throws {
    #expect(try rows("number,file,token,text,position\n") == [])
  }

  @Test(
    "the error for a missing column of a sheet names the column",
    arguments: ["number", "file", "token", "text", "position"])
  func missingColumn(_ column: String) throws {
    let header = ["number", "file", "token", "text", "position"].filter { $0 != column }.joined(separator: ",")
    let error = error("\(header)\n1,a,b,c\n")
    #expect(error?.code == .columnMissing && error?.subject == "recording sheet, line 1")
    #expect(error?.problem == "the header has no column “\(column)”")
  }

  @Test("an empty sheet file has no columns")
  func empty() { #expect(error("")?.code == .columnMissing) }

  @Test("a token that occurs twice in one position of a sheet is refused, and the error names both lines")
  func repeated() {
    let error = error(
      """
      number,file,token,text,position
      1,001,one,one,plain
      2,002,one,one,final
      3,003,one,one,plain
      """)
    #expect(error?.code == .tokenRepeated && error?.subject == "recording sheet, line 4")
    #expect(error?.problem == "the token already occurs in line 2 with the position plain")
  }

  @Test(
    "the error for an invalid field of a sheet names its line",
    arguments: [
      ("0,001,one,one,plain", "number is not a whole number above zero"),
      ("first,001,one,one,plain", "number is not a whole number above zero"),
      ("1,,one,one,plain", "file is empty"), ("1,../001,one,one,plain", "file is not a plain file name"),
      ("1,.001,one,one,plain", "file is not a plain file name"), ("1,001, ,one,plain", "token is empty"),
      ("1,001,one,,plain", "text is empty"), ("1,001,one,one,falling", "position is not a known position"),
      ("1,001,one", "position is empty"),
    ])
  func fields(_ line: String, _ problem: String) {
    let error = error("number,file,token,text,position\n\n\(line)\n")
    #expect(error?.code == .fieldInvalid && error?.subject == "recording sheet, line 3")
    #expect(error?.problem == problem)
  }

  @Test("the error for a sheet that is not valid CSV names the line and contains none of the text")
  func notCSV() {
    let error = error("number,file,token,text,position\n1,001,secret\"word,one,plain\n")
    #expect(error?.code == .notCSV && error?.subject == "recording sheet, line 2")
    #expect(error?.description.contains("secret") == false)
  }
}
