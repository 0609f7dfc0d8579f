// SPDX-License-Identifier: Apache-2.0

import SoundDownloads
import Testing

@Suite("Errors of attachments")
struct AttachmentErrorTests {
  @Test("the error of an attachment says what failed, on which host, why, and what to do")
  func text() {
    #expect(
      DownloadError(.notFound, of: .attachment, host: "a.example", status: 404).description
        == "Getting an attachment from a.example failed: the server does not have the attachment (status 404). "
        + "Check the URL.")
    #expect(
      DownloadError(.tooLarge, of: .attachment, host: "a.example", reason: "the limit of audio is 5 MB").description
        == "Getting an attachment from a.example failed: the attachment is larger than the size limit: the limit of audio is 5 MB. "
        + "Use a smaller file.")
    #expect(
      DownloadError(.notFound, of: .attachment).description
        == "Getting an attachment failed: there is no such file. Check the path.")
  }

  @Test(
    "each error code of an attachment has its own words for the cause and the remedy",
    arguments: DownloadError.Code.allCases)
  func everyCode(_ code: DownloadError.Code) {
    let error = DownloadError(code, of: .attachment, host: "a.example")
    #expect(error.description.hasPrefix("Getting an attachment from a.example failed: "))
    #expect(error.description.hasSuffix(". \(error.remedy)"))
    #expect(error.remedy.hasSuffix("."))
  }
}
