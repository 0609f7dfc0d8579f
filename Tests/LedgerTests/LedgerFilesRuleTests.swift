// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import FileSystem
@testable import Ledger
@testable import SQLiteLedger

@Suite("The rule for the files of an open ledger")
struct LedgerFilesRuleTests {
  typealias Look = LedgerFilesRule.Look

  /// The header of a log with little-endian sums, and one with other salts.
  static let header = header(salt: 1)
  static let otherHeader = header(salt: 2)

  private static func header(salt: UInt32) -> [UInt8] {
    let numbers: [UInt32] = [0x377F_0682, 3_007_000, 4096, 0, salt, 7]
    var sum: (UInt32, UInt32) = (0, 0)
    for position in stride(from: 0, to: 6, by: 2) {
      sum.0 &+= numbers[position].byteSwapped &+ sum.1
      sum.1 &+= numbers[position + 1].byteSwapped &+ sum.0
    }
    return (numbers + [sum.0, sum.1]).flatMap { number in
      stride(from: 24, through: 0, by: -8).map { UInt8(number >> $0 & 0xFF) }
    }
  }

  private static func status(_ inode: UInt64, _ byteCount: Int = 0) -> FileStatus {
    FileStatus(device: 1, inode: inode, links: 1, isRegularFile: true, byteCount: byteCount)
  }

  private static func look(
    file: Int = 100, log: Int = 50, header: [UInt8] = LedgerFilesRuleTests.header, database: Int = 100, version: Int = 1
  ) -> Look {
    Look(
      file: status(1, file), log: status(2, log), index: status(3), logHeader: header, databaseBytes: database,
      dataVersion: version)
  }

  private static func verdict(
    _ look: Look, after first: Look = look(), hasWritten: Bool = false
  ) -> LedgerFilesRule.Verdict {
    var rule = LedgerFilesRule(first)
    rule.hasWritten = hasWritten
    return rule.judge(look)
  }

  @Test("a removed or replaced ledger file is reported as a change, even after a write by the ledger itself")
  func names() {
    let paths: [(LedgerError.FileChange.Part, WritableKeyPath<Look, FileStatus?>)] = [
      (.file, \.file), (.log, \.log), (.index, \.index),
    ]
    for (part, path) in paths {
      for version in [1, 2] {
        var look = Self.look(file: 500, log: 500, version: version)
        look[keyPath: path] = nil
        #expect(Self.verdict(look, hasWritten: true) == .changed(.init(part, .removed)))
        look[keyPath: path] = Self.status(9, 500)
        #expect(Self.verdict(look, hasWritten: true) == .changed(.init(part, .replaced)))
      }
    }
  }

  @Test("a ledger file that is shorter than its database counts as cut, and a file of the same length counts as whole")
  func file() {
    #expect(Self.verdict(Self.look(file: 99)) == .changed(.init(.file, .cut)))
    #expect(Self.verdict(Self.look(file: 99), hasWritten: true) == .changed(.init(.file, .cut)))
    #expect(Self.verdict(Self.look(file: 99, version: 2)) == .unexplained(.init(.file, .cut)))
    #expect(Self.verdict(Self.look(file: 80, database: 80), hasWritten: true) == .whole)
    #expect(Self.verdict(Self.look(file: 79, database: 80), hasWritten: true) == .changed(.init(.file, .cut)))
    // Pages beyond the database are given back later, and pages that are only in the log are missing in the file.
    #expect(Self.verdict(Self.look(file: 80, database: 90), after: Self.look(database: 80)) == .whole)
    #expect(Self.verdict(Self.look(file: 60, database: 90), after: Self.look(file: 60)) == .whole)
  }

  @Test("a ledger's log that is shorter than before counts as cut, unless a write started the log anew")
  func log() {
    #expect(Self.verdict(Self.look(log: 49)) == .changed(.init(.log, .cut)))
    #expect(Self.verdict(Self.look(log: 49), hasWritten: true) == .changed(.init(.log, .cut)))
    #expect(Self.verdict(Self.look(log: 49, version: 2)) == .unexplained(.init(.log, .cut)))
    #expect(Self.verdict(Self.look(log: 0, header: [])) == .changed(.init(.log, .cut)))
    #expect(Self.verdict(Self.look(log: 0, header: [], version: 2)) == .unexplained(.init(.log, .cut)))
    #expect(Self.verdict(Self.look(log: 40, header: Self.otherHeader), hasWritten: true) == .whole)
    #expect(Self.verdict(Self.look(log: 40, header: Self.otherHeader, version: 2)) == .whole)
    let limit = Int(SQLiteLedger.logBytes)
    let long = Self.look(log: 2 * limit)
    #expect(Self.verdict(Self.look(log: limit), after: long, hasWritten: true) == .whole)
    #expect(Self.verdict(Self.look(log: limit), after: long) == .changed(.init(.log, .cut)))
    #expect(Self.verdict(Self.look(log: limit - 1), after: long, hasWritten: true) == .changed(.init(.log, .cut)))
  }

  @Test("a log header that is invalid, or that no write of the ledger explains, counts as written by another program")
  func header() {
    #expect(LogFile.isHeader(Self.header) && LogFile.isHeader(Self.otherHeader))
    #expect(Self.verdict(Self.look(header: Self.otherHeader)) == .changed(.init(.log, .overwritten)))
    for index in Self.header.indices {
      var header = Self.otherHeader
      header[index] ^= 1
      #expect(!LogFile.isHeader(header))
      #expect(Self.verdict(Self.look(header: header, version: 2)) == .changed(.init(.log, .overwritten)))
      #expect(Self.verdict(Self.look(header: header), hasWritten: true) == .changed(.init(.log, .overwritten)))
    }
    #expect(Self.verdict(Self.look(), after: Self.look(log: 0, header: [])) == .whole)
  }

  @Test("each check of the files compares them with the last check that found whole files")
  func sequence() {
    var rule = LedgerFilesRule(Self.look())
    rule.hasWritten = true
    #expect(rule.judge(Self.look(file: 200, database: 200)) == .whole)
    #expect(!rule.hasWritten)
    for _ in 1...2 { #expect(rule.judge(Self.look(file: 150, database: 200)) == .changed(.init(.file, .cut))) }
    let unexplained = Self.look(file: 150, database: 200, version: 2)
    #expect(rule.judge(unexplained) == .unexplained(.init(.file, .cut)))
    rule.accept(unexplained)
    #expect(rule.judge(unexplained) == .whole)
  }
}
