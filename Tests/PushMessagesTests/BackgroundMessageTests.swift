// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushMessages
import Testing

@Suite struct BackgroundMessageTests {
  @Test("the payload of a background push wakes the app and has no alert, badge or sound")
  func payload() throws {
    #expect(
      String(decoding: BackgroundMessage(clips: []).encoded(), as: UTF8.self) == #"{"aps":{"content-available":1}}"#)
    let message = BackgroundMessage(clips: [try AlertMessages.clip(), try AlertMessages.clip(name: "second.wav")])
    #expect(
      String(decoding: message.encoded(), as: UTF8.self).hasPrefix(
        #"{"aps":{"content-available":1},"crier":{"prefetch":[{"bytes":119760,"duration_ms":2705,"name":"9f2c.wav","#))
    #expect(try BackgroundMessage(payload: message.encoded()) == message)
    #expect(try BackgroundMessage(payload: Data(#"{"crier":{"id":"1","locale":"en-US"}}"#.utf8)) == nil)
    #expect(throws: PushMessageError.self) { try BackgroundMessage(payload: Data(#"{"crier":{"prefetch":7}}"#.utf8)) }
  }

  @Test("a background push has as many clips from the start of a long list as fit")
  func long() throws {
    let clips = try (0..<500).map { try AlertMessages.clip(name: "\($0).wav") }
    let (body, leftOut) = try BackgroundMessage(clips: clips).fitted()
    let sent = try #require(try BackgroundMessage(payload: body)).clips
    #expect(body.count <= 4_096)
    #expect(sent == Array(clips.prefix(500 - leftOut)))
    #expect(BackgroundMessage(clips: Array(clips.prefix(sent.count + 1))).encoded().count > 4_096)
    #expect(try BackgroundMessage(clips: sent).fitted().leftOut == 0)
  }

  @Test("a clip that does not fit into a background push even alone is an error")
  func tooLarge() throws {
    let error = #expect(throws: PushMessageError.self) {
      try BackgroundMessage(clips: [AlertMessages.clip(urlBytes: 4_096)]).fitted()
    }
    #expect(error?.code == .messageTooLarge)
  }
}
