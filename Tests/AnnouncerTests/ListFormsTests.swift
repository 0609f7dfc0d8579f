// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing

@testable import Announcer

@Suite("The forms of a list")
struct ListFormsTests {
  /// Reads a list in pieces, and returns its rows as `line.element id: words`, and the list's fault if it has one.
  private func read(
    _ text: String, as format: BatchRows.Format? = nil, pieceBytes: Int = .max
  ) -> (rows: [String], fault: AnnouncementError?) {
    var (reader, rows) = (BatchRows(format: format), [String]())
    do {
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        reader.append(Array(rest.prefix(pieceBytes)))
        rest = rest.dropFirst(pieceBytes)
        while let row = try reader.next() { rows.append(described(row)) }
      }
      reader.end()
      while let row = try reader.next() { rows.append(described(row)) }
      return (rows, nil)
    } catch {
      return (rows, error)
    }
  }

  private func described(_ row: BatchRow) -> String {
    let what =
      switch row.announcement {
      case .success(.payment(let payment)): "\(payment.amount.decimalText) \(payment.amount.currency.code)"
      case .success(.text(let text, _)): text
      case .success(.summary), .success(.again): "no row"
      case .failure(let error): "\(error)"
      }
    return "\(row.line)\(row.element.map { ".\($0)" } ?? "") \(row.id ?? "-"): \(what)"
  }

  // MARK: Separators

  @Test(
    "a list's separator, a semicolon or a tab, is recognised from the header or from a line 'sep='",
    arguments: [
      ("amount;currency;id\n12.50;EUR;1\n", 2), ("amount\tcurrency\tid\n12.50\tEUR\t1\n", 2),
      ("sep=;\namount;currency;id\n12.50;EUR;1\n", 3), ("sep=\t\namount\tcurrency\tid\n12.50\tEUR\t1\n", 3),
      ("\u{FEFF}amount;currency;id\r\n\"12.50\";\"EUR\";\"1\"\r\n", 2),
    ])
  func separators(text: String, line: Int) {
    for pieceBytes in [1, 7, .max] {
      let read = read(text, pieceBytes: pieceBytes)
      #expect(read.rows == ["\(line) 1: 12.50 EUR"] && read.fault == nil)
    }
  }

  @Test(
    "in a list with semicolons or tabs, an amount with a comma is an error",
    arguments: ["12,50", "1.234,50", "\"12,50\"", "12,5"])
  func decimalComma(amount: String) {
    for separator in [";", "\t"] {
      let rows = read("amount\(separator)currency\n\(amount)\(separator)EUR\n").rows
      #expect(
        rows == [
          "2 -: amount: has a comma; write a point before the decimals, such as 12.50, and no separators between "
            + "thousands."
        ])
    }
  }

  @Test("the error for a row with a wrong number of fields names the separator of the list")
  func fields() {
    #expect(
      read("amount;currency\n12.50;EUR;1\n").rows == [
        "2 -: row: has 3 fields, but the header has 2; write one field for each column, separate the fields by "
          + "semicolons as in the header, and put fields that contain a semicolon in quotation marks."
      ])
  }

  // MARK: Lists without a row

  @Test(
    "rows of empty cells at the end of a list are ignored",
    arguments: [",", ";", "\t"], ["", "\n\n", "@\n@@@\n", " @ \n@", "\"\"@\"\"\n@\"\"@\n"])
  func emptyRows(separator: String, end: String) {
    let list = "amount@currency\n5@USD\n\(end)".replacing("@", with: separator)
    for pieceBytes in [1, .max] { #expect(read(list, pieceBytes: pieceBytes).rows == ["2 -: 5.00 USD"]) }
  }

  @Test(
    "a list with a header and no row is refused",
    arguments: ["amount,currency\n", "amount;currency\r\n;\r\n;;\r\n", "text\n\n", "sep=;\ntext;locale\n"])
  func headerOnly(text: String) {
    for pieceBytes in [1, .max] {
      let fault = read(text, as: .csv, pieceBytes: pieceBytes).fault
      #expect(fault?.code == .listEmpty)
      #expect(fault?.description == "list: has a header and no row; write at least one announcement.")
    }
  }

  @Test(
    "a JSON list without a row is refused", arguments: ["", "\n \r\n", "\u{FEFF}\n", "[]", " [ \n ]\n", "\u{FEFF}[]"])
  func noRow(text: String) {
    for pieceBytes in [1, .max] {
      let fault = read(text, as: .jsonl, pieceBytes: pieceBytes).fault
      #expect(fault?.code == .listEmpty && fault?.subject == "list")
    }
  }

  @Test(
    "the error for a list that has lost its line breaks asks whether --data-binary was used",
    arguments: [
      "amount,currency12.50,CNY48.05,USD", "id;amount;currency1;12.50;CNY",
      "amount,currency" + String(repeating: ",5,USD", count: 200), "textHello",
    ])
  func lostLineEnds(text: String) {
    for pieceBytes in [1, .max] {
      let fault = read(text, as: .csv, pieceBytes: pieceBytes).fault
      #expect(fault?.code == .listEmpty && fault?.description.hasSuffix("did you mean --data-binary?") == true)
    }
    let huge = read("amount,currency" + String(repeating: "12.50,CNY", count: 10_000), as: .csv).fault
    #expect(huge?.code == .payloadMalformed && huge?.description.hasSuffix("did you mean --data-binary?") == true)
  }

  @Test("a correct header without a line break and without a row is refused as an empty list")
  func headerWithoutBreak() {
    let fault = read("amount,currency").fault
    #expect(fault?.code == .listEmpty && fault?.description.contains("--data-binary") == false)
  }

  // MARK: JSON arrays

  @Test(
    "a JSON array is read like JSON lines, and each row has the numbers of its element and its line",
    arguments: [1, 2, 7, .max])
  func array(pieceBytes: Int) {
    let text = """
      \u{FEFF}
      [ {"id": "1", "amount": "12.50", "currency": "CNY"}
      , {
          "text": "a ] } , \\" [ b"
        }, {"id": "3", "minor": 5, "currency": "USD", "channel": null},{"text":"c"}
      ]

      """
    let read = read(text, pieceBytes: pieceBytes)
    #expect(read.rows == ["2.1 1: 12.50 CNY", #"3.2 -: a ] } , " [ b"#, "5.3 3: 0.05 USD", "5.4 -: c"])
    #expect(read.fault == nil)
    #expect(self.read(text, as: .jsonl, pieceBytes: pieceBytes).rows == read.rows)
  }

  @Test(
    "a list that begins like JSON is read as JSON, and one that begins with a column name in brackets is read as CSV",
    arguments: [
      (#"["a"]"#, "1.1 -: payload: "), ("[ 12 ]", "1.1 -: payload: "), ("[[]]", "1.1 -: payload: "),
      ("[till],text\nx,Hello", "2 -: Hello"),
    ])
  func recognised(text: String, row: String) {
    for pieceBytes in [1, .max] {
      let read = read(text, pieceBytes: pieceBytes)
      #expect(read.rows.count == 1 && read.rows.first?.hasPrefix(row) == true, "\(read)")
    }
  }

  @Test(
    "a JSON element with an error does not affect the other elements of the list",
    arguments: [
      "12", "\"text\"", "null", "[]", "[1, 2]", "{}", "{\"text\": }", "{\"text\": \"x\"} {\"text\": \"y\"}",
      "{\"text\": \"x\"]", "{\"memo\": {\"a\": [1, {\"b\": \"]\"}]}}", "\u{FEFF}{\"text\":\"x\"}",
    ])
  func faultyElement(element: String) {
    let list = "[{\"text\":\"a\"},\n\(element)\n,{\"text\":\"b\"}]"
    for pieceBytes in [1, .max] {
      let read = read(list, as: .jsonl, pieceBytes: pieceBytes)
      #expect(read.rows.count == 3 && read.rows.first == "1.1 -: a" && read.rows.last == "3.3 -: b", "\(read)")
      #expect(read.rows.dropFirst().first?.hasPrefix("2.2 -: ") == true && read.rows[1] != "2.2 -: x")
      #expect(read.fault == nil)
    }
  }

  @Test(
    "an error between two JSON elements ends the list, and its message names the line and the element",
    arguments: [
      ("[{\"text\":\"a\"},\n]", "line 2, element 2: is missing; remove the comma, or write an object."),
      ("[{\"text\":\"a\"},\n,{}]", "line 2, element 2: is missing; remove the comma, or write an object."),
      ("[,{}]", "line 1, element 1: is missing; remove the comma, or write an object."),
      ("[{\"text\":\"a\"}]\n{}", "line 2, element 2: follows the array; end the list with its bracket."),
      ("[{\"text\":\"a\"}]]", "line 1, element 2: follows the array; end the list with its bracket."),
      (
        "[{\"text\":\"a\"},\n",
        "line 2, element 2: is missing, because the list ends without its bracket ]; give the whole list."
      ),
      ("[", "line 1, element 1: is missing, because the list ends without its bracket ]; give the whole list."),
      (
        "[{\"text\":\"a\"},\n{\"text\":\"b\",\n{\"text\":\"c\"}]",
        "line 2, element 2: does not end; look for a brace, a bracket or a quotation mark that is not closed."
      ),
      (
        "[{\"text\":\"a\"},\n{\"text\":\"b}]",
        "line 2, element 2: does not end; look for a brace, a bracket or a quotation mark that is not closed."
      ),
    ])
  func faultBetween(text: String, message: String) {
    for pieceBytes in [1, .max] {
      let read = read(text, as: .jsonl, pieceBytes: pieceBytes)
      #expect(read.fault?.description == message && read.fault?.code == .payloadMalformed)
      #expect(read.rows == (text.contains("\"a\"") ? ["1.1 -: a"] : []))
    }
  }

  @Test("a JSON element longer than the largest payload is an error, and is not kept in memory")
  func longElement() throws {
    let long = "[{\"text\": \"" + String(repeating: "x", count: 200_000) + "\"},\n{\"text\": \"b\"}]"
    for pieceBytes in [1_000, .max] {
      let rows = read(long, pieceBytes: pieceBytes).rows
      #expect(rows.first?.hasPrefix("1.1 -: payload: is longer than 65536 bytes") == true && rows.last == "2.2 -: b")
    }
    var reader = JSONArrayReader(longest: 3)
    reader.append(Array("[abc,abcdefgh ,\n[1] ]".utf8))
    reader.end()
    var elements: [JSONArrayReader.Element] = []
    var offsets: [Int] = []
    while let element = try reader.next() {
      elements.append(element)
      offsets.append(reader.consumedBytes)
    }
    #expect(elements.map { String(decoding: $0.bytes, as: UTF8.self) } == ["abc", "abcd", "[1] "])
    #expect(elements.map(\.line) == [1, 1, 2] && elements.map(\.number) == [1, 2, 3] && offsets == [5, 15, 21])
  }
}
