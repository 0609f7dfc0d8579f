// SPDX-License-Identifier: Apache-2.0

import PushMessages
import Testing

@Suite struct DeviceTokenTests {
  @Test("a device token is kept in lower case, and its description does not contain it")
  func token() throws {
    let text = String(repeating: "0aB9", count: 16)
    let token = try DeviceToken(text)
    #expect(token.hexadecimal == text.lowercased())
    #expect(token == (try DeviceToken(text.lowercased())))
    #expect(token.description == "a device token of 32 bytes")
    #expect(throws: Never.self) { try DeviceToken(String(repeating: "00", count: 8)) }
    #expect(throws: Never.self) { try DeviceToken(String(repeating: "ff", count: 200)) }
  }

  @Test(
    "a device token must be whole bytes in ASCII hexadecimal digits, and the error does not contain the text",
    arguments: [
      "", "00", String(repeating: "0", count: 15), String(repeating: "0", count: 17),
      String(repeating: "f", count: 402),
      String(repeating: "0g", count: 32), "<" + String(repeating: "ab", count: 31) + ">",
      String(repeating: "ab ", count: 16), String(repeating: "０", count: 64), String(repeating: "٣", count: 64),
      String(repeating: "ab", count: 31) + "\r\n", String(repeating: "ab", count: 31) + "a\u{301}",
      "../../../../../../../../device/ab", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ])
  func badToken(text: String) {
    let error = #expect(throws: PushMessageError.self) { try DeviceToken(text) }
    #expect(error?.code == .deviceTokenInvalid)
    #expect(
      error?.description
        == "The device token must be 8 to 200 bytes in hexadecimal digits, as the app received them.")
  }
}
