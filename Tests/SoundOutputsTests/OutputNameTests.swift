// SPDX-License-Identifier: Apache-2.0

import SoundOutputs
import Testing

@Suite struct OutputNameTests {
  @Test(
    "names are read as they are written",
    arguments: [
      ("default", OutputName.systemDefault), ("null", .null), ("alsa:plughw:1,0", .alsa("plughw:1,0")),
      ("alsa:null", .alsa("null")), ("file:/tmp/a:b.log", .file("/tmp/a:b.log")),
      ("file:played.log", .file("played.log")),
    ])
  func reads(text: String, name: OutputName) throws {
    #expect(try OutputName(text) == name)
    #expect(name.description == text)
  }

  @Test("ALSA's default is the default")
  func alsaDefault() throws {
    #expect(try OutputName("alsa:default") == .systemDefault)
  }

  @Test(
    "what is no name is refused, with what would be right",
    arguments: [
      ("", "“” is no output: right is “default”, “alsa:NAME”, “null” or “file:PATH”. To go on, name one of these."),
      (
        "alsa:",
        "“alsa:” is no output: the name of a PCM is missing after “alsa:”. To go on, list the PCMs with “aplay -L”."
      ),
      (
        "alsa",
        "“alsa” is no output: the name of a PCM is missing after “alsa:”. To go on, list the PCMs with “aplay -L”."
      ),
      ("file:", "“file:” is no output: a path is missing after “file:”. To go on, write “file:” and where to."),
      (
        "hw:0,0",
        "“hw:0,0” is no output: right is “default”, “alsa:NAME”, “null” or “file:PATH”. To go on, write “alsa:hw:0,0”."
      ),
      (
        "Default",
        "“Default” is no output: right is “default”, “alsa:NAME”, “null” or “file:PATH”. To go on, name one of these."
      ),
    ])
  func refuses(text: String, message: String) {
    let error = #expect(throws: OutputError.self) { try OutputName(text) }
    #expect(error?.code == .invalidName)
    #expect(error?.description == message)
  }

  @Test("a PCM or path with a NUL is refused", arguments: ["alsa:a\0b", "file:a\0b"])
  func refusesNUL(text: String) {
    #expect(throws: OutputError.self) { try OutputName(text) }
  }

  @Test("each name makes its output, which has that name", arguments: ["null", "alsa:plughw:1,0", "file:/tmp/x.log"])
  func makes(text: String) throws {
    #expect(try OutputName(text).makeOutput().name == text)
  }
}
