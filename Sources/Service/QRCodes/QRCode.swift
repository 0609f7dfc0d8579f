// SPDX-License-Identifier: Apache-2.0

private import CQRencode

/// A text as a QR code: a square of dark and light modules, without the light margin that a reader needs around it.
///
/// A reader still understands the code if 15 % of it cannot be read.
public struct QRCode: Sendable, Hashable {
  /// The longest text, in bytes. A code of this size has 89 modules a side, which a terminal and a telephone still show
  /// well.
  public static let longestText = 512
  /// The width of the light margin that a reader needs, in modules.
  public static let margin = 4

  /// The rows from top to bottom, each with its modules from left to right. A dark module is true.
  public let rows: [[Bool]]

  /// The number of modules of a side.
  public var size: Int { rows.count }

  /// - Throws: ``QRCodeError`` if the text is empty, is too long or has a NUL, or if there is no memory.
  public init(_ text: String) throws(QRCodeError) {
    let bytes = Array(text.utf8)
    guard (1...Self.longestText).contains(bytes.count), !bytes.contains(0) else { throw QRCodeError(.textInvalid) }
    // unsafe: the library reads as many bytes as the array has, and keeps none of them.
    let made = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe QRcode_encodeData(Int32(bytes.count), bytes.baseAddress, 0, QR_ECLEVEL_M)
    }
    guard let made = unsafe made else { throw QRCodeError(.encodingFailed) }
    defer { unsafe QRcode_free(made) }
    let size = Int(unsafe made.pointee.width)
    guard size > 0, let modules = unsafe made.pointee.data else { throw QRCodeError(.encodingFailed) }
    // unsafe: the library gives a byte for each module, row by row. The lowest bit of a byte says whether it is dark.
    rows = (0..<size).map { y in (0..<size).map { x in unsafe modules[y * size + x] & 1 == 1 } }
  }

  /// The rows as texts, with `1` for a dark module and `0` for a light one.
  public var digits: [String] { rows.map { row in String(row.map { $0 ? "1" : "0" }) } }

  /// The code as lines of text, with its margin. Each character shows two modules, one above the other. Only the light
  /// modules are drawn, so the background must be darker than the text.
  public var lines: [String] {
    let (margin, size) = (Self.margin, size)
    func isLight(_ x: Int, _ y: Int) -> Bool {
      (0..<size).contains(x) && (0..<size).contains(y) ? !rows[y][x] : y < size + margin
    }
    return stride(from: -margin, to: size + margin, by: 2).map { y in
      String(
        (-margin..<size + margin).map { x -> Character in
          switch (isLight(x, y), isLight(x, y + 1)) {
          case (true, true): "█"
          case (true, false): "▀"
          case (false, true): "▄"
          case (false, false): " "
          }
        })
    }
  }
}
