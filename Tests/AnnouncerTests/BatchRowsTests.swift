// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing

@testable import Announcer

@Suite("Reading the rows of a list")
struct BatchRowsTests {
  private func rows(
    _ bytes: [UInt8], as format: BatchRows.Format? = nil, pieceBytes: Int = .max
  ) throws -> [BatchRow] {
    var (rows, read) = (BatchRows(format: format), [BatchRow]())
    var rest = bytes[...]
    while !rest.isEmpty {
      rows.append(Array(rest.prefix(pieceBytes)))
      rest = rest.dropFirst(pieceBytes)
      while let row = try rows.next() { read.append(row) }
    }
    rows.end()
    while let row = try rows.next() { read.append(row) }
    return read
  }

  /// Describes each row as `line id: words`, with the amount or text, or the error's code.
  private func described(_ rows: [BatchRow]) -> [String] {
    rows.map { row in
      let what =
        switch row.announcement {
        case .success(.payment(let payment)): "\(payment.amount.decimalText) \(payment.amount.currency.code)"
        case .success(.text(let text, let locale)): "\(text) \(locale ?? "-")"
        case .success(.summary), .success(.again): "no row"
        case .failure(let error): error.code.rawValue
        }
      return "\(row.line) \(row.id ?? "-"): \(what)"
    }
  }

  private func fault(_ text: String, as format: BatchRows.Format? = nil) -> String? {
    do {
      _ = try rows(Array(text.utf8), as: format)
      return nil
    } catch { return "\(error)" }
  }

  @Test(
    "the header of a list gives the meaning of each cell, whatever the order of the columns", arguments: [1, 7, .max])
  func columns(pieceBytes: Int) throws {
    let text = "currency,colour,id,amount,text,locale\nCNY,red,1,12.50,,zh-CN\n\n,,2,,Hello,en-US\nUSD,,,5,,\n"
    let rows = try rows(Array(text.utf8), pieceBytes: pieceBytes)
    #expect(described(rows) == ["2 1: 12.50 CNY", "4 2: Hello en-US", "5 -: 5.00 USD"])
  }

  @Test(
    "rows that have only separators, and Excel's line 'sep=', are skipped like blank lines", arguments: [1, 7, .max])
  func spreadsheetLines(pieceBytes: Int) throws {
    let text = "sep=,\r\n,\r\namount,currency\r\n,\r\n5,USD\r\n , \r\n,,\r\n6,USD\r\n,\r\n,\r\n"
    #expect(described(try rows(Array(text.utf8), pieceBytes: pieceBytes)) == ["5 -: 5.00 USD", "8 -: 6.00 USD"])
    #expect(
      fault("sep=|\namount|currency\n5|USD\n")
        == "line 1, field 1: is Excel's line 'sep=' with another separator than a comma, a semicolon or a tab; "
        + "separate the fields with one of these, and give that separator in this line or remove the line.")
    #expect(fault("sep=,\n") == Self.isEmpty)
  }

  @Test("a column name that begins with a bracket does not make a list a JSON array")
  func bracketedColumn() throws {
    #expect(described(try rows(Array("[x],text\nx,Hello\n".utf8), pieceBytes: 1)) == ["2 -: Hello -"])
    #expect(described(try rows(Array("{\"text\": \"a\"}\n[]\n".utf8))) == ["1 -: a -", "2 -: payload_malformed"])
    #expect(described(try rows(Array("[x];text\nx;Hello\n".utf8), pieceBytes: 1)) == ["2 -: Hello -"])
  }

  @Test("the unknown columns of a list are named, and their cells are ignored")
  func unknownColumns() throws {
    var rows = BatchRows()
    rows.append(Array("amount,Colour,currency,,Colour\n5,\"\n\",CNY,x,y\n".utf8))
    #expect(described([try #require(try rows.next())]) == ["2 -: 5.00 CNY"])
    #expect(rows.unknownColumns == ["Colour", "", "Colour"])
  }

  @Test("each row has a warning for the list's unknown column, and a strict reader refuses the list")
  func warnings() throws {
    let text = "amount,Colour,currency\n5,red,CNY\n6,blue,CNY\n"
    #expect(try rows(Array(text.utf8)).map(\.warnings) == Array(repeating: ["Colour: unknown key, ignored"], count: 2))
    var strict = BatchRows(unknownKeys: .refuse)
    strict.append(Array(text.utf8))
    let error = #expect(throws: AnnouncementError.self) { try strict.next() }
    #expect(
      error?.description
        == "line 1, column Colour: is not a column; remove it, or do not request strict handling.")
    var lines = BatchRows(unknownKeys: .refuse)
    lines.append(Array("{\"text\":\"a\",\"memo\":1}\n{\"text\":\"a\"}\n".utf8))
    #expect(throws: AnnouncementError.self) { try lines.next()?.announcement.get() }
    #expect(try lines.next()?.announcement.get() == .text("a", locale: nil))
    #expect(
      try rows(Array("{\"text\":\"a\",\"memo\":1}".utf8)).map(\.warnings) == [["memo: unknown key, ignored"]])
  }

  @Test(
    "a misspelled column is an error of the whole list",
    arguments: [("knid", "kind"), ("kinds", "kind"), ("amout", "amount"), ("payerReading", "payer_reading")])
  func nearColumns(name: String, meant: String) {
    #expect(
      fault("amount,currency,\(name)\n5,CNY,refunded\n")
        == "line 1, column \(name): is not a column; did you mean \(meant)?")
  }

  @Test(
    "the error for a misspelled column names the misspelling, and not a missing column",
    arguments: [
      ("amout,currency\n5,CNY\n", "amout", "amount"), ("amount,curency\n5,CNY\n", "curency", "currency"),
      ("id,Texts\n1,Hello\n", "Texts", "text"), ("minr,currency\n5,CNY\n", "minr", "minor"),
    ])
  func misspelledAndMissing(text: String, name: String, meant: String) {
    #expect(fault(text) == "line 1, column \(name): is not a column; did you mean \(meant)?")
  }

  @Test("if a list has no column 'kind', a column that other systems use for the kind of a payment is read")
  func synonyms() throws {
    let text = "amount,currency,Type\n5,CNY,refund\n6,CNY,payment\n7,CNY,\n"
    #expect(
      try described(rows(Array(text.utf8))) == ["2 -: field_unknown", "3 -: 6.00 CNY", "4 -: field_unknown"])
    let both = "amount,currency,type,kind\n5,CNY,refund,refunded\n6,CNY,refund,\n"
    #expect(try described(rows(Array(both.utf8))) == ["2 -: 5.00 CNY", "3 -: field_invalid"])
  }

  @Test(
    "a list's column for the state is recognised in any spelling that a spreadsheet uses",
    arguments: [
      ("Payment Status", "failed"), ("payment-status", "failed"), ("Transaction Type", "refund"),
      ("transactionType", "refund"), ("IsRefund", "true"), ("is refund", "true"), ("ISREFUND", "1"),
      ("Payment Kind", "refunded"), ("stauts", "failed"), ("Refund ID", "r1"), ("Paid", "FALSE"),
    ])
  func stateSpellings(name: String, value: String) throws {
    for text in ["amount,currency,\(name)\n5,CNY,\(value)\n", "\(name),amount,currency\n\(value),5,CNY\n"] {
      #expect(try described(rows(Array(text.utf8))) == ["2 -: field_unknown"])
    }
  }

  @Test(
    "a list may have two state columns, but two with the same meaning are an error of the whole list",
    arguments: [("failed", "paid"), ("paid", "failed")])
  func twoStates(first: String, second: String) throws {
    for (left, right) in [("status", "status"), ("Payment Status", "paymentStatus"), ("status", "stauts")] {
      let message = fault("\(left),amount,currency,\(right)\n\(first),5,CNY,\(second)\n")
      #expect(message?.contains("means the same as another column; keep only one of them") == true)
      let kind = "\(left),amount,currency,\(right),kind\n\(first),5,CNY,\(second),failed\n"
      #expect(try described(rows(Array(kind.utf8))) == ["2 -: 5.00 CNY"])
    }
    let both = "status,amount,currency,type\n\(first),5,CNY,\(second)\npaid,6,CNY,sale\n"
    #expect(try described(rows(Array(both.utf8))) == ["2 -: field_unknown", "3 -: 6.00 CNY"])
  }

  @Test(
    "a column name that looks like another, or has an invisible character, is an error of the whole list",
    arguments: [
      "\u{43A}\u{456}nd", "ｋｉｎｄ", "k\u{200B}i\u{200B}n\u{200B}d", "k.i.n.d", "k\u{131}Nd", "'kind", "备注", "\u{212A}ind",
      "amount\u{200B}",
    ])
  func deceivingColumns(name: String) {
    #expect(fault("amount,currency,\(name)\n5,CNY,refunded\n")?.contains("is not a column") == true)
  }

  @Test("a list's column name can be as long as a row and have thousands of combining marks")
  func longColumn() throws {
    let name = "e" + String(repeating: "\u{301}", count: 30_000)
    #expect(fault("amount,\(name),currency\n5,x,CNY\n")?.unicodeScalars.count ?? .max < 300)
    let plain = String(repeating: "x", count: 60_000)
    let read = try rows(Array("amount,\(plain),currency\n5,x,CNY\n".utf8))
    #expect(described(read) == ["2 -: 5.00 CNY"])
    #expect(read.first?.warnings.first?.unicodeScalars.count ?? 0 < 100)
  }

  @Test("an error in one row of a list does not affect the rows around it")
  func faultyRows() throws {
    let text = "amount,currency\n1,CNY\nx,CNY\n3\n4,CNY,5\n\"5,CNY\n6,CNY\n7,cny\n8,CNY"
    #expect(
      described(try rows(Array(text.utf8))) == [
        "2 -: 1.00 CNY", "3 -: field_invalid", "4 -: payload_malformed", "5 -: payload_malformed",
        "6 -: payload_malformed", "7 -: 6.00 CNY", "8 -: field_invalid", "9 -: 8.00 CNY",
      ])
  }

  private static let isEmpty =
    "list: is empty; give CSV with a header, JSON lines that begin with {, or a JSON array of objects."

  private static let noAmount =
    "column amount: is missing; name the columns: either amount (or minor) and currency, or text."

  @Test(
    "a list's header whose columns cannot form an announcement is an error of the whole list",
    arguments: [
      ("", isEmpty), (" \n,\n", isEmpty),
      ("5,CNY\n", "line 1, \(Self.noAmount)"),
      ("\nSum,Currency\n", "line 2, \(Self.noAmount)"),
      ("Amount,amount ,currency\n", "line 1, column amount: occurs twice; name each column once."),
      ("amount\n5\n", "line 1, column currency: is missing; an amount needs a currency."),
      ("minor,text\n5\n", "line 1, column currency: is missing; an amount needs a currency."),
      ("amount,currency,amount\n", "line 1, column amount: occurs twice; name each column once."),
      (
        "amount,\"currency\n5,CNY\n",
        "line 1, field 2: begins with a quotation mark, but does not end with one; end it with a quotation mark, "
          + "and double each mark inside it."
      ),
    ])
  func header(text: String, message: String) {
    #expect(fault(text, as: .csv) == message)
  }

  @Test("a list's column name can have capitals and be surrounded by spaces")
  func spelling() throws {
    #expect(try described(rows(Array("Amount, CURRENCY \n5,CNY\n".utf8), as: .csv)) == ["2 -: 5.00 CNY"])
  }

  @Test(
    "a list of JSON lines is recognised by its first character, after white space and a byte order mark",
    arguments: [1, 7, .max])
  func jsonLines(pieceBytes: Int) throws {
    let lines = [
      "\u{FEFF}{\"id\": \"1\", \"minor\": 5, \"currency\": \"CNY\"}\r", " \t\r", "{\"text\": \"Hello\"}", "{",
      "{\"text\": \"Bye\"}",
    ]
    let text = lines.joined(separator: "\n")
    #expect(
      described(try rows(Array(text.utf8), pieceBytes: pieceBytes)) == [
        "1 1: 0.05 CNY", "3 -: Hello -", "4 -: payload_malformed", "5 -: Bye -",
      ])
    #expect(described(try rows(Array("\n\n {\"text\": \"Hello\"}".utf8))) == ["3 -: Hello -"])
  }

  @Test("a line longer than the largest payload is an error, and is not kept in memory")
  func longLine() throws {
    let long = "{\"text\": \"" + String(repeating: "x", count: 200_000) + "\"}\n{\"text\": \"Hello\"}\n"
    #expect(described(try rows(Array(long.utf8), pieceBytes: 1_000)) == ["1 -: payload_too_large", "2 -: Hello -"])
    var lines = LineReader(longest: 3)
    lines.append(Array("abc\nabcdefgh\n\nx".utf8))
    lines.end()
    var read: [LineReader.Line] = []
    while let line = lines.next() { read.append(line) }
    #expect(read.map { String(decoding: $0.bytes, as: UTF8.self) } == ["abc", "abcd", "", "x"])
    #expect(read.map(\.number) == [1, 2, 3, 4])
    #expect(lines.consumedBytes == 15)
  }

  @Test(
    "each row of a list gives the offset at which it ends",
    arguments: ["amount,currency\n1,CNY\r\n2,CNY", "{}\r\n{}\n\n{}"])
  func offsets(text: String) throws {
    #expect(try rows(Array(text.utf8)).map(\.endOffset) == (text.hasPrefix("{") ? [4, 7, 10] : [23, 28]))
  }
}
