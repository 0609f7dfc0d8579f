// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import NotificationAttachments

@Suite("Errors of attachments")
struct AttachmentErrorTests {
  @Test("an error says what failed, on which host, why, and what to do")
  func text() {
    #expect(
      AttachmentError(.notFound, host: "a.example", status: 404).description
        == "Getting an attachment from a.example failed: the server does not have the attachment (status 404). "
        + "Check the URL.")
    #expect(
      AttachmentError(.tooLarge, host: "a.example", reason: "the limit of audio is 5 MB").description
        == "Getting an attachment from a.example failed: the attachment is too large: the limit of audio is 5 MB. "
        + "Use a smaller file.")
    #expect(
      AttachmentError(.notFound).description
        == "Getting an attachment failed: there is no such file. Check the path.")
  }

  @Test("each code has a cause and a remedy of its own words", arguments: AttachmentError.Code.allCases)
  func everyCode(_ code: AttachmentError.Code) {
    let error = AttachmentError(code, host: "a.example")
    #expect(error.description.hasPrefix("Getting an attachment from a.example failed: "))
    #expect(error.description.hasSuffix(". \(error.remedy)"))
    #expect(error.remedy.hasSuffix("."))
  }

  @Test("the code is written in snake_case", arguments: AttachmentError.Code.allCases)
  func codes(_ code: AttachmentError.Code) {
    #expect(code.rawValue.allSatisfy { $0.isLowercase || $0 == "_" })
  }
}
