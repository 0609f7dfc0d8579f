// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import GRDB
import Ledger
import Testing

@testable import SQLiteLedger

@Suite("Errors of the ledger")
struct LedgerErrorTests {
  let file = URL(filePath: "/home/shop/ledger.sqlite")

  @Test(
    "each result of SQLite that requires a different action has its own error code",
    arguments: [
      (ResultCode.SQLITE_FULL, LedgerError.Code.diskFull), (.SQLITE_IOERR_SHMSIZE, .diskFull),
      (.SQLITE_READONLY, .readOnly), (.SQLITE_READONLY_DIRECTORY, .readOnly), (.SQLITE_PERM, .notPermitted),
      (.SQLITE_CANTOPEN, .notPermitted), (.SQLITE_CANTOPEN_ISDIR, .wrongKindOfFile), (.SQLITE_BUSY, .busy),
      (.SQLITE_BUSY_RECOVERY, .busy), (.SQLITE_LOCKED, .busy), (.SQLITE_CORRUPT, .damaged),
      (.SQLITE_CORRUPT_INDEX, .damaged), (.SQLITE_NOTADB, .damaged), (.SQLITE_IOERR_FSYNC, .systemFailure),
      (.SQLITE_ERROR, .systemFailure),
    ])
  func codes(_ result: ResultCode, _ code: LedgerError.Code) {
    let error = LedgerError(
      DatabaseError(resultCode: result, message: "secret 12.50", sql: "SELECT 12.50"), while: .accepting, in: file)
    #expect(error.code == code && error.resultCode == result.rawValue)
    #expect(!error.description.contains("12.50") && !error.description.contains("SELECT"))
  }

  @Test("the ledger has error codes for the system's error numbers too")
  func systemErrors() {
    let expected: [(Int32, LedgerError.Code)] = [
      (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EROFS, .readOnly), (EACCES, .notPermitted), (EPERM, .notPermitted),
      (ENOTDIR, .wrongKindOfFile), (EISDIR, .wrongKindOfFile), (ELOOP, .wrongKindOfFile), (EIO, .systemFailure),
    ]
    for (number, code) in expected {
      let error = LedgerError(SystemError(number: number), while: .opening, in: file)
      #expect(error.code == code && error.systemError == number)
    }
  }

  @Test("only errors of the disk, the file or the server make every write of a shared transaction fail")
  func everyWrite() {
    let codes: Set<LedgerError.Code> = [
      .busy, .unreachable, .outcomeUnknown, .damaged, .fileChanged, .notALedger, .newerVersion, .olderVersion,
      .readOnly, .notPermitted, .wrongKindOfFile,
    ]
    for code in LedgerError.Code.allCases {
      #expect(LedgerError(code, while: .accepting, on: "db:5432").meetsEveryWrite == codes.contains(code))
      let isMet = codes.contains(code) || code == .systemFailure
      #expect(LedgerError(code, while: .accepting, in: file).meetsEveryWrite == isMet)
    }
    for (result, isMet) in [(ResultCode.SQLITE_IOERR_FSYNC, true), (.SQLITE_ERROR, false)] {
      let error = LedgerError(.systemFailure, while: .accepting, in: file, resultCode: result.rawValue)
      #expect(error.meetsEveryWrite == isMet)
    }
  }

  @Test("every error of the ledger states the operation, the file, the cause and the next step")
  func texts() {
    for code in LedgerError.Code.allCases {
      let text = LedgerError(code, while: .changing, in: file).description
      #expect(text.hasPrefix("Changing an announcement in the ledger /home/shop/ledger.sqlite failed: "))
      #expect(text.hasSuffix(".") && text.contains(". "))
    }
    #expect(
      LedgerError(.diskFull, while: .accepting, in: file, resultCode: 13).description
        == "Accepting an announcement in the ledger /home/shop/ledger.sqlite failed: the disk is full, or the ledger "
        + "has reached its size limit (SQLite code 13). Free some space and try again.")
  }
}
