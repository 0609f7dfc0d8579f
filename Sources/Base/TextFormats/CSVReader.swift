// SPDX-License-Identifier: Apache-2.0

/// One record. It takes one line, or several lines if a quoted field contains line breaks.
public struct CSVRecord: Sendable, Hashable {
  /// The number of the line on which the record begins, counted from 1.
  public var line: Int

  /// The fields; there is at least one. An empty field is an empty string.
  public var fields: [String]

  /// Whether all fields are empty or white space. Spreadsheets leave such records after the last row.
  public var isBlank: Bool { fields.allSatisfy { $0.allSatisfy(\.isWhitespace) } }
}

/// Reads comma-separated values (RFC 4180) from bytes that arrive in pieces. Only one record and one piece are in
/// memory at a time.
///
/// The reader enforces RFC 4180: a quotation mark is allowed only around a whole field, and doubled inside a quoted
/// field. Spaces are part of a field. There are five extensions. A line may end in CRLF, LF or CR, and one file may mix
/// these. A byte order mark at the start is skipped. An empty line is not a record. Fields may be separated by
/// semicolons or tabs; ``CSVSeparator`` says how the separator is recognised. The first line may be `sep=;` or similar,
/// which tells Excel the separator of the file. The reader then uses this separator, and the line is not a record.
///
///     var reader = CSVReader()
///     reader.append(bytes)
///     while let record = try reader.next() { … }
///     reader.end()
///     while let record = try reader.next() { … }
///
/// An error invalidates only one line. Reading continues after the first line break of the invalid record, even if that
/// record spans several lines. A wrong quotation mark therefore does not hide the lines after it.
public struct CSVReader: Sendable {
  /// The largest size of a record in bytes, including quotation marks and line breaks.
  public static let largestRecord = 64 * 1024

  /// The number of bytes that the reader has finished with: the bytes of returned records, and skipped bytes.
  public private(set) var consumedBytes = 0

  private enum State {
    case fieldStart, unquoted, quoted
    /// The position after a quotation mark in a quoted field. The mark either ends the field, or is the first of a
    /// doubled mark.
    case quoteInQuoted
    /// A position in the rest of a line with an error. The rest of the line is skipped.
    case skipping
  }

  /// Whether the last returned record ended at the end of the input, without a line break.
  public private(set) var lacksLineBreak = false

  /// The separator of the fields. The first line that is not blank decides the separator, which is `nil` before that
  /// line.
  public private(set) var separator: CSVSeparator?

  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The bytes since the start of the current record.
  private var buffer: [UInt8] = []
  private var start = 0
  private var position = 0
  private var line = 1
  private var hasEnded = false
  private var isAtBeginning = true
  private var search = SeparatorSearch()
  /// The byte value of ``separator``.
  private var separatorByte = CSVSeparator.comma.byte

  private var state = State.fieldStart
  private var fields: [[UInt8]] = []
  private var field: [UInt8] = []

  public init() {}

  /// Adds the next piece of the text. A piece may have any size.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    buffer.removeFirst(start)
    position -= start
    start = 0
    buffer += bytes
  }

  /// Marks the end of the input. The last line needs no line break.
  public mutating func end() { hasEnded = true }

  /// Returns the next record.
  ///
  /// - Returns: The record. `nil` if more bytes are needed or, after ``end()``, if there are no more records.
  /// - Throws: ``CSVError``. The next call continues after the first line of the invalid record, or after the whole
  ///   record if the error is invalid UTF-8.
  public mutating func next() throws(CSVError) -> CSVRecord? {
    guard passByteOrderMark(), decideSeparator() else { return nil }
    while position < buffer.count {
      let byte = buffer[position]
      if byte == Self.lineFeed || byte == Self.carriageReturn, state != .quoted {
        // After a carriage return, the next byte must be known, because a line feed belongs to the same line break.
        guard let end = endOfBreak(at: position) else { return nil }
        position = end
        if let record = try endRecord() { return record }
        continue
      }
      if state != .skipping, position - start >= Self.largestRecord { throw fault(.recordTooLong) }
      try read(byte)
      position += 1
      // The bytes of skipped lines are discarded.
      if state == .skipping { moveStart() }
    }
    guard hasEnded, start < position else { return nil }
    if state == .quoted { throw fault(.unclosedQuote) }
    lacksLineBreak = true
    return try endRecord()
  }

  /// Skips a byte order mark at the start.
  ///
  /// - Returns: Whether there were enough bytes to decide if there is a byte order mark.
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

  /// Decides the separator from the first line that is not blank.
  ///
  /// - Returns: Whether there were enough bytes to decide the separator.
  private mutating func decideSeparator() -> Bool {
    guard separator == nil else { return true }
    search.read(buffer[start...], isEnd: hasEnded)
    guard let found = search.result else { return false }
    (separator, separatorByte) = (found, found.byte)
    return true
  }

  private mutating func read(_ byte: UInt8) throws(CSVError) {
    switch (state, byte) {
    case (.skipping, _):
      break
    case (.fieldStart, Self.quote):
      state = .quoted
    case (.fieldStart, separatorByte), (.unquoted, separatorByte), (.quoteInQuoted, separatorByte):
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

  /// Returns the end of the line break that begins at an index; `nil` if the end depends on a byte that has not
  /// arrived.
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

  /// Ends the current line.
  ///
  /// - Returns: the record; `nil` for an empty line and for a skipped line.
  private mutating func endRecord() throws(CSVError) -> CSVRecord? {
    let isSeparatorLine = line == 1 && buffer[start..<position].starts(with: CSVSeparator.mark)
    let isNone = state == .skipping || state == .fieldStart && fields.isEmpty
    if !isNone { endField() }
    let (first, raw) = (line, fields)
    line += lineBreaks(in: buffer[start..<position])
    moveStart()
    (state, fields) = (.fieldStart, [])
    guard !isNone else { return nil }
    if isSeparatorLine {
      // The separator that the line names also separates the fields of the line itself.
      guard raw == [CSVSeparator.mark, []] else { throw CSVError(.otherSeparator, line: first, field: 1) }
      return nil
    }
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

  /// Creates an error, and returns to the start of the record so that only its first line is skipped.
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
