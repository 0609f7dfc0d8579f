// SPDX-License-Identifier: Apache-2.0

/// One record: a line, or several where a quoted field holds line breaks.
public struct CSVRecord: Sendable, Hashable {
  /// The line on which it begins, from 1.
  public var line: Int

  /// At least one; an empty one is an empty string.
  public var fields: [String]

  public init(line: Int, fields: [String]) {
    self.line = line
    self.fields = fields
  }
}

/// Reads comma-separated values by RFC 4180, from bytes that come piece by piece, in memory for one record and one
/// piece.
///
/// Strict in what RFC 4180 says: a quotation mark is allowed around a whole field, and twice within one; spaces are
/// part of a field. Beyond it: a line ends in CRLF, LF or CR, mixed at will; a byte order mark at the very beginning
/// is passed over; a line with no byte on it is no record.
///
///     var reader = CSVReader()
///     reader.append(bytes)
///     while let record = try reader.next() { … }
///     reader.end()
///     while let record = try reader.next() { … }
///
/// An error costs one line. Whichever line break the fault has swallowed, what comes after the first is read again as
/// the record that it may well be; records after an error are thus as sound as their lines.
public struct CSVReader: Sendable {
  /// In bytes, with quotation marks and line breaks.
  public static let largestRecord = 64 * 1024

  /// How many bytes lie behind the reader: those of the records that it has given, and what it has passed over.
  public private(set) var consumedBytes = 0

  private enum State {
    case fieldStart, unquoted, quoted
    /// Behind a quotation mark in a quoted field: it ends the field, or is the first of two.
    case quoteInQuoted
    /// Passing over the rest of a line that has an error.
    case skipping
  }

  private static let quote = UInt8(ascii: "\"")
  private static let comma = UInt8(ascii: ",")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// From the first byte of the record that is being read.
  private var buffer: [UInt8] = []
  private var start = 0
  private var position = 0
  private var line = 1
  private var hasEnded = false
  private var isAtBeginning = true

  private var state = State.fieldStart
  private var fields: [[UInt8]] = []
  private var field: [UInt8] = []

  public init() {}

  /// Takes the next piece of the text, of any size.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    buffer.removeFirst(start)
    position -= start
    start = 0
    buffer += bytes
  }

  /// Says that no more bytes come: a last line needs no line break.
  public mutating func end() { hasEnded = true }

  /// The next record.
  ///
  /// - Returns: `nil` when more bytes are needed, or, after ``end()``, when there is none.
  /// - Throws: ``CSVError``. The reader then stands behind the line on which the record begins, or behind the record
  ///   where only its letters are at fault, and may be asked on.
  public mutating func next() throws(CSVError) -> CSVRecord? {
    guard passByteOrderMark() else { return nil }
    while position < buffer.count {
      let byte = buffer[position]
      if byte == Self.lineFeed || byte == Self.carriageReturn, state != .quoted {
        // Whether a line feed belongs to it is not known before the next byte.
        guard let end = endOfBreak(at: position) else { return nil }
        position = end
        if let record = try endRecord() { return record }
        continue
      }
      if state != .skipping, position - start >= Self.largestRecord { throw fault(.recordTooLong) }
      try read(byte)
      position += 1
      // Of a line that is passed over nothing is kept.
      if state == .skipping { moveStart() }
    }
    guard hasEnded, start < position else { return nil }
    if state == .quoted { throw fault(.unclosedQuote) }
    return try endRecord()
  }

  /// - Returns: whether it is known if there is one.
  private mutating func passByteOrderMark() -> Bool {
    guard isAtBeginning else { return true }
    let mark = Self.byteOrderMark
    guard buffer.count >= mark.count || hasEnded || !mark.starts(with: buffer) else { return false }
    isAtBeginning = false
    if buffer.starts(with: mark) {
      position = mark.count
      moveStart()
    }
    return true
  }

  private mutating func read(_ byte: UInt8) throws(CSVError) {
    switch (state, byte) {
    case (.skipping, _):
      break
    case (.fieldStart, Self.quote):
      state = .quoted
    case (.fieldStart, Self.comma), (.unquoted, Self.comma), (.quoteInQuoted, Self.comma):
      endField()
    case (.quoted, Self.quote):
      state = .quoteInQuoted
    case (.quoted, _):
      field.append(byte)
    case (.quoteInQuoted, Self.quote):
      field.append(byte)
      state = .quoted
    case (.quoteInQuoted, _), (.unquoted, Self.quote):
      throw fault(.strayQuote)
    case (.fieldStart, _), (.unquoted, _):
      field.append(byte)
      state = .unquoted
    }
  }

  /// Where the line break that begins at an index ends; `nil` when that is not known yet.
  private func endOfBreak(at index: Int) -> Int? {
    guard buffer[index] == Self.carriageReturn else { return index + 1 }
    guard index + 1 < buffer.count else { return hasEnded ? index + 1 : nil }
    return buffer[index + 1] == Self.lineFeed ? index + 2 : index + 1
  }

  private mutating func endField() {
    fields.append(field)
    field = []
    state = .fieldStart
  }

  /// - Returns: `nil` for a line without a byte, and for one that is passed over.
  private mutating func endRecord() throws(CSVError) -> CSVRecord? {
    let isNone = state == .skipping || state == .fieldStart && fields.isEmpty
    if !isNone { endField() }
    let (first, raw) = (line, fields)
    line += lineBreaks(in: buffer[start..<position])
    moveStart()
    (state, fields) = (.fieldStart, [])
    guard !isNone else { return nil }
    var texts: [String] = []
    for field in raw {
      guard let text = String(validating: field, as: UTF8.self) else {
        throw CSVError(.invalidUTF8, line: first, field: texts.count + 1)
      }
      texts.append(text)
    }
    return CSVRecord(line: first, fields: texts)
  }

  private func lineBreaks(in bytes: ArraySlice<UInt8>) -> Int {
    var (count, last) = (0, UInt8(0))
    for byte in bytes {
      let isPairEnd = byte == Self.lineFeed && last == Self.carriageReturn
      if byte == Self.carriageReturn || byte == Self.lineFeed && !isPairEnd { count += 1 }
      last = byte
    }
    return count
  }

  /// Goes back to the beginning of the record, to pass over its first line.
  private mutating func fault(_ code: CSVError.Code) -> CSVError {
    let error = CSVError(code, line: line, field: fields.count + 1)
    position = start
    (state, fields, field) = (.skipping, [], [])
    return error
  }

  private mutating func moveStart() {
    consumedBytes += position - start
    start = position
  }
}
