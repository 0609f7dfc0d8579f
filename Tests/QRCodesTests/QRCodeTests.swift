// SPDX-License-Identifier: Apache-2.0

import Foundation
import QRCodes
import Testing

@Suite("QR codes")
struct QRCodeTests {
  /// A link as people get it.
  private static let link = "https://shop.example/#sign-in=7d3k9q2m0abcdefghjkm"

  @Test("a QR code is a square with the three patterns that readers look for")
  func patterns() throws {
    let code = try QRCode(Self.link)
    #expect(code.size >= 21 && (code.size - 21).isMultiple(of: 4) && code.rows.allSatisfy { $0.count == code.size })
    let pattern = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
    let digits = code.digits
    #expect(digits.prefix(7).map { String($0.prefix(7)) } == pattern)
    #expect(digits.prefix(7).map { String($0.suffix(7)) } == pattern)
    #expect(digits.suffix(7).map { String($0.prefix(7)) } == pattern)
    #expect(digits.suffix(7).map { String($0.suffix(7)) } != pattern)
  }

  @Test("the same text gives the same QR code, and another text gives another code")
  func same() throws {
    #expect(try QRCode(Self.link) == QRCode(Self.link))
    #expect(try QRCode(Self.link) != QRCode(Self.link + "n"))
  }

  @Test("the printed lines have only the modules of the QR code and a light margin")
  func lines() throws {
    let code = try QRCode(Self.link)
    let lines = code.lines
    let width = code.size + 2 * QRCode.margin
    #expect(lines.count == (width + 1) / 2 && lines.allSatisfy { $0.count == width })
    #expect(lines[0] == String(repeating: "█", count: width) && lines[1] == lines[0])
    var rows: [String] = []
    for line in lines {
      rows.append(String(line.map { "█▀".contains($0) ? "0" : "1" }))
      rows.append(String(line.map { "█▄".contains($0) ? "0" : "1" }))
    }
    let inner = rows.dropFirst(QRCode.margin).prefix(code.size)
    #expect(inner.map { String($0.dropFirst(QRCode.margin).dropLast(QRCode.margin)) } == code.digits)
    #expect(Set(lines.joined()).isSubset(of: ["█", "▀", "▄", " "]))
  }

  @Test("a QR code can be made for the longest allowed text")
  func longest() throws {
    #expect(try QRCode(String(repeating: "x", count: QRCode.longestText)).size == 89)
    #expect(try QRCode("€").size == 21)
  }

  @Test(
    "no QR code is made for a text that is empty, too long or contains a NUL",
    arguments: ["", String(repeating: "x", count: QRCode.longestText + 1), "a\0b"])
  func invalid(text: String) {
    let error = #expect(throws: QRCodeError.self) { try QRCode(text) }
    #expect(error?.code == .textInvalid && error.map { "\($0)" }?.contains("xxx") == false)
  }

  /// The reader of zbar-tools; nil if it is not installed.
  private static let reader = ["/usr/bin/zbarimg", "/usr/local/bin/zbarimg"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(
    "another program can read the text of a QR code", .enabled(if: reader != nil, "zbar-tools is not installed"),
    arguments: [link, "x", "http://[2001:db8::1]:8080/shop/#sign-in=00000000000000000000", "小店"])
  func readBack(text: String) throws {
    let code = try QRCode(text)
    let width = code.size + 2 * QRCode.margin
    // A picture with four dots for each module.
    let light = Array(repeating: false, count: QRCode.margin)
    let blank = Array(repeating: Array(repeating: false, count: width), count: QRCode.margin)
    let picture = (blank + code.rows.map { light + $0 + light } + blank).flatMap { row in
      Array(repeating: row.flatMap { Array(repeating: $0, count: 4) }, count: 4)
    }
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pgm")
    defer { try? FileManager.default.removeItem(at: file) }
    let head = Data("P5 \(width * 4) \(width * 4) 255\n".utf8)
    try (head + Data(picture.joined().map { $0 ? 0 : 255 })).write(to: file)
    let process = Process()
    process.executableURL = URL(filePath: try #require(Self.reader))
    process.arguments = ["--quiet", "--raw", "--oneshot", file.path(percentEncoded: false)]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let read = try output.fileHandleForReading.readToEnd()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(String(decoding: read ?? Data(), as: UTF8.self) == text)
  }
}
