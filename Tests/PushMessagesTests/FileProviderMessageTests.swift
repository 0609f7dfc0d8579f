// SPDX-License-Identifier: Apache-2.0

import PushMessages
import Testing

@Suite struct FileProviderMessageTests {
  private typealias Container = FileProviderMessage.Container

  @Test(
    "a file-provider push has the container's identifier, and Apple's constants for the root and the working set",
    arguments: [
      ("root", "NSFileProviderRootContainerItemIdentifier"),
      ("working-set", "NSFileProviderWorkingSetContainerItemIdentifier"), ("packs/zh-CN", "packs/zh-CN"),
    ])
  func payload(text: String, identifier: String) throws {
    let message = FileProviderMessage(container: try Container(text))
    #expect(String(decoding: message.encoded(), as: UTF8.self) == #"{"container-identifier":"\#(identifier)"}"#)
    // An extension registers the constants themselves.
    #expect(try Container(identifier) == message.container)
  }

  @Test("a container's identifier is refused if it is empty, too long, or has a control character")
  func faults() throws {
    for bad in ["", "a\nb", "\0", String(repeating: "a", count: 1_025)] {
      let error = #expect(throws: PushMessageError.self) { try Container(bad) }
      #expect(error?.code == .containerInvalid)
    }
    let longest = FileProviderMessage(container: try Container(String(repeating: "\"", count: 1_024)))
    #expect(longest.encoded().count <= PushRequest.largestBody)
  }
}
