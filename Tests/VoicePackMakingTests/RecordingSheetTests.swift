// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing
import VoicePackMaking

@Suite("Recording sheet")
struct RecordingSheetTests {
  private func sheet(_ locale: String) throws -> RecordingSheet {
    RecordingSheet(vocabulary: try Templates.writer(locale).vocabulary())
  }

  private func rows(_ csv: String) throws(RecordingSheetError) -> [SheetRow] {
    try RecordingSheet.rows(csv: Array(csv.utf8))
  }

  private func error(_ csv: String) -> RecordingSheetError? {
    do throws(RecordingSheetError) {
      _ = try rows(csv)
      return nil
    } catch {
      return error
    }
  }

  // MARK: What is on it

  @Test("every word of the vocabulary has a plain row, and words that may end an announcement a final one")
  func complete() throws {
    for locale in ["zh-CN", "en-US", "ja-JP", "ko-KR", "hi-IN"] {
      let vocabulary = try Templates.writer(locale).vocabulary()
      let rows = RecordingSheet(vocabulary: vocabulary).rows
      #expect(rows.filter { $0.position == .plain }.map(\.token) == vocabulary.words.map(\.token))
      #expect(rows.filter { $0.position == .final }.map(\.token) == vocabulary.words.filter(\.mayEnd).map(\.token))
      #expect(rows.map(\.number) == Array(1...rows.count))
    }
  }

  @Test("file names are the numbers with zeros before them, so that a folder sorts as the sheet does")
  func fileNames() throws {
    let rows = try sheet("en-US").rows
    #expect(rows[0].file == "001" && rows[11].file == "012" && rows[99].file == "100")
    #expect(rows.map(\.file).sorted() == rows.map(\.file))
  }

  @Test("a sheet of a thousand rows has names of four digits, from the first")
  func longSheet() throws {
    var vocabulary = try Templates.writer("en-US").vocabulary()
    let word = vocabulary.blocks[0].words[0]
    #expect(!word.mayEnd)
    vocabulary.blocks = [vocabulary.blocks[0]]
    vocabulary.blocks[0].words = Array(repeating: word, count: 1_000)
    let rows = RecordingSheet(vocabulary: vocabulary).rows
    #expect(rows.first?.file == "0001" && rows.last?.file == "1000")
  }

  @Test("a block reads its words level first and then those that end a sentence, and says what it buys")
  func block() throws {
    let block = try sheet("en-US").blocks[1]
    #expect(
      block.rows.map { "\($0.text) \($0.position)" } == [
        "one plain", "dollar plain", "two plain", "dollars plain", "three plain", "four plain", "five plain",
        "six plain", "seven plain", "eight plain", "nine plain", "dollar final", "dollars final",
      ])
    #expect(block.title == "These 13 clips: every whole amount under 10 in USD")
    #expect(block.progress == "Required. 14 clips so far, about 1 minute.")
    #expect(block.rows[0].how == "As in the middle of a sentence, voice level.")
    #expect(block.rows[12].how == "As the last word, voice falling.")
  }

  @Test("the totals run on, at two seconds a clip and in whole minutes")
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

  @Test("a level word at the end of its example is read as if the sentence went on")
  func examples() throws {
    let rows = try sheet("en-US").rows.filter { $0.token == "dollar" }
    #expect(rows.map(\.example) == ["Received one dollar …", "Received one dollar"])
  }

  // MARK: As comma-separated values

  @Test("the file has its columns in order, and reads back as the rows of the sheet")
  func roundTrip() throws {
    for locale in ["zh-CN", "en-US", "ja-JP", "ko-KR", "hi-IN"] {
      let sheet = try sheet(locale)
      #expect(sheet.csv.hasPrefix("number,file,token,text,position,how,example,block\r\n"))
      let expected = sheet.rows.map {
        SheetRow(number: $0.number, file: $0.file, token: $0.token, text: $0.text, position: $0.position)
      }
      #expect(try rows(sheet.csv) == expected)
    }
  }

  @Test("rows may be deleted and in any order, columns too; other columns and empty lines are passed over")
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

  @Test("a header alone is a sheet without rows")
  func noRows() throws {
    #expect(try rows("number,file,token,text,position\n") == [])
  }

  @Test("a missing column is named", arguments: ["number", "file", "token", "text", "position"])
  func missingColumn(_ column: String) throws {
    let header = ["number", "file", "token", "text", "position"].filter { $0 != column }.joined(separator: ",")
    let error = error("\(header)\n1,a,b,c\n")
    #expect(error?.code == .columnMissing && error?.line == 1)
    #expect(error?.problem == "the header has no column “\(column)”")
  }

  @Test("an empty file has no columns")
  func empty() { #expect(error("")?.code == .columnMissing) }

  @Test("a token twice in one position is refused with both lines")
  func repeated() {
    let error = error(
      """
      number,file,token,text,position
      1,001,one,one,plain
      2,002,one,one,final
      3,003,one,one,plain
      """)
    #expect(error?.code == .tokenRepeated && error?.line == 4)
    #expect(error?.problem == "the token stands in line 2 already, with the position plain")
  }

  @Test(
    "a field that cannot be is named with its line",
    arguments: [
      ("0,001,one,one,plain", "number is not a whole number above zero"),
      ("first,001,one,one,plain", "number is not a whole number above zero"),
      ("1,,one,one,plain", "file is empty"), ("1,../001,one,one,plain", "file is not a plain file name"),
      ("1,.001,one,one,plain", "file is not a plain file name"), ("1,001, ,one,plain", "token is empty"),
      ("1,001,one,,plain", "text is empty"), ("1,001,one,one,falling", "position is none that there is"),
      ("1,001,one", "position is empty"),
    ])
  func fields(_ line: String, _ problem: String) {
    let error = error("number,file,token,text,position\n\n\(line)\n")
    #expect(error?.code == .fieldInvalid && error?.line == 3)
    #expect(error?.problem == problem)
  }

  @Test("what is not comma-separated is refused with its line, and nothing of it is in the message")
  func notCSV() {
    let error = error("number,file,token,text,position\n1,001,secret\"word,one,plain\n")
    #expect(error?.code == .notCSV && error?.line == 2)
    #expect(error?.description.contains("secret") == false)
  }
}
