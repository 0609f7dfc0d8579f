// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SoundFiles
import Testing

@testable import AnnouncementServer

@Suite("Content negotiation")
struct AcceptTests {
  private let offers = ["application/json", "audio/wav"]

  @Test(
    "the media type with the highest weight wins, and the first offered type wins a tie",
    arguments: [
      (nil, "application/json"), ("*/*", "application/json"), ("application/json", "application/json"),
      ("audio/wav", "audio/wav"), ("audio/*", "audio/wav"), ("AUDIO/WAV", "audio/wav"),
      ("application/json;q=0.5, audio/wav", "audio/wav"), ("audio/wav;q=0.1, */*;q=0.2", "application/json"),
      ("audio/wav, application/json", "application/json"), ("audio/wav;q=0.501,application/json;q=0.5", "audio/wav"),
      ("audio/wav ; q=1.0 , application/json ; q=0.9", "audio/wav"), ("text/html, */*;q=0.01", "application/json"),
      ("application/json;charset=utf-8", "application/json"),
    ] as [(String?, String)])
  func best(field: String?, expected: String) {
    #expect(Accept(field).best(of: offers) == expected)
  }

  @Test("the most specific media range of an Accept header decides, regardless of its position")
  func exactness() {
    #expect(Accept("*/*, application/json;q=0").best(of: offers) == "audio/wav")
    #expect(Accept("audio/wav;q=0, audio/*;q=1").best(of: offers) == nil)
    #expect(Accept("audio/*;q=0.2, audio/wav;q=0.9, */*;q=0.5").best(of: offers) == "audio/wav")
  }

  @Test(
    "a media type that has the weight zero or is missing in the Accept header is not chosen",
    arguments: ["text/html", "audio/wav;q=0, application/json;q=0.000", "image/*"])
  func nothing(field: String) {
    #expect(Accept(field).best(of: offers) == nil)
    let problem = #expect(throws: Problem.self) { try Accept(field).require("application/json", "audio/wav") }
    #expect(problem?.status == .notAcceptable && problem?.code == "not_acceptable")
  }

  @Test("an invalid Accept header counts as absent", arguments: ["", ",", "json", "a/b/c", ";q=1", "/"])
  func malformed(field: String) {
    #expect(Accept(field).best(of: offers) == "application/json")
  }

  @Test(
    "an invalid weight in an Accept header counts as 1",
    arguments: [
      "audio/wav;q=x", "audio/wav;q=2", "audio/wav;q=-1", "audio/wav;q=", "audio/wav;q=0.5.5", "audio/wav;q=0.½",
    ])
  func badQuality(field: String) {
    #expect(Accept("\(field), application/json;q=0.9").best(of: offers) == "audio/wav")
  }

  @Test("the service returns sound only for a media type that matches the format of the sound")
  func sound() throws {
    #expect(try Accept("audio/*").wantsSound(of: .aiff))
    #expect(try Accept("audio/x-caf").wantsSound(of: .caf))
    #expect(throws: Problem.self) { try Accept("audio/x-caf").wantsSound(of: .wav) }
    #expect(try !Accept("*/*").wantsSound(of: .wav))
    #expect(Accept("*/*").wantsJSONFirst && !Accept("audio/aiff").wantsJSONFirst && !Accept("text/html").wantsJSONFirst)
  }
}
