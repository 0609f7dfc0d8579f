// SPDX-License-Identifier: Apache-2.0

import PushMessages
import Testing

@Suite struct PushTypeTests {
  @Test("the topic of a file-provider push has a suffix, and the topic of other pushes is the bundle id")
  func topics() throws {
    let app = try BundleID("com.example.shop")
    #expect(PushType.allCases.map(\.rawValue) == ["alert", "background", "fileprovider"])
    #expect(app.topic(of: .alert) == "com.example.shop")
    #expect(app.topic(of: .background) == "com.example.shop")
    #expect(app.topic(of: .fileProvider) == "com.example.shop.pushkit.fileprovider")
  }

  @Test("each environment of APNs has its own server")
  func hosts() {
    #expect(PushEnvironment.sandbox.host == "api.sandbox.push.apple.com")
    #expect(PushEnvironment.production.host == "api.push.apple.com")
  }

  @Test("bundle ids with letters, digits, hyphens and periods are accepted", arguments: ["a", "com.Example.shop-2"])
  func bundleID(text: String) throws {
    #expect(try BundleID(text).description == text)
  }

  @Test(
    "a bundle id with other characters, or in another form, is refused, because it becomes a header field",
    arguments: [
      "", ".", ".com.example", "com.example.", "com example", "com.example\r\napns-id: 1", "com.exämple", "com.例",
      "com.example/..", "com_example", "com.example\0", "a\u{301}", String(repeating: "a", count: 156),
    ])
  func badBundleID(text: String) {
    let error = #expect(throws: PushMessageError.self) { try BundleID(text) }
    #expect(error?.code == .bundleIDInvalid)
  }
}
