// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundLibrary
import SpeechEngine
import Testing

@Suite("Error reports")
struct ErrorReportTests {
  @Test(
    "the report of an error has the error's own code and message",
    arguments: [
      (AnnouncementError(.fieldMissing, "id", "is missing", remedy: "give it") as any Error, "field_missing"),
      (AnnouncerError(.tooLong, "text", "takes 31 s to say", remedy: "shorten it"), "too_long"),
      (SpeechEngineError(.queueFull, "speaking", "256 wait", remedy: "try again"), "queue_full"),
    ])
  func known(error: any Error, code: String) {
    #expect(ErrorReport(error).code == code)
    #expect(ErrorReport(error).message == "\(error)")
  }

  @Test("the error for an invalid group name has its own code")
  func naming() {
    let error = #expect(throws: SoundLibraryError.self) {
      try GroupContainer(containers: URL(filePath: "/"), group: "../x")
    }
    #expect(error.map { ErrorReport($0).code } == "invalid_group_name")
  }

  @Test("the report of an unknown error omits the error's description")
  func unknown() {
    struct Stranger: Error, CustomStringConvertible { let description = "张三 paid 12.50" }
    let report = ErrorReport(Stranger())
    #expect(report.code == "internal_error")
    #expect(report.message == "An unexpected internal error occurred (Stranger). Please report it.")
  }
}
