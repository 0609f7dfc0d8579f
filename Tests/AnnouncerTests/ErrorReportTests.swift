// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundLibrary
import SpeechEngine
import Testing

@Suite("An error as programs are told of it")
struct ErrorReportTests {
  @Test(
    "has the error's own code and words",
    arguments: [
      (AnnouncementError(.fieldMissing, "id", "is missing", remedy: "give it") as any Error, "field_missing"),
      (AnnouncerError(.tooLong, "text", "takes 31 s to say", remedy: "shorten it"), "too_long"),
      (SpeechEngineError(.queueFull, "speaking", "256 wait", remedy: "try again"), "queue_full"),
    ])
  func known(error: any Error, code: String) {
    #expect(ErrorReport(error).code == code)
    #expect(ErrorReport(error).message == "\(error)")
  }

  @Test("a name that cannot be used has its code")
  func naming() {
    let error = #expect(throws: SoundLibraryError.self) {
      try GroupContainer(containers: URL(filePath: "/"), group: "../x")
    }
    #expect(error.map { ErrorReport($0).code } == "invalid_group_name")
  }

  @Test("an unknown error keeps what it says to itself")
  func unknown() {
    struct Stranger: Error, CustomStringConvertible { let description = "张三 paid 12.50" }
    let report = ErrorReport(Stranger())
    #expect(report.code == "internal_error")
    #expect(report.message == "something failed that should not (Stranger); please report it.")
  }
}
