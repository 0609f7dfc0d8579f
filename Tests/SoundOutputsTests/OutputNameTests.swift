// SPDX-License-Identifier: Apache-2.0

import SoundOutputs
import Testing

/// The part of the error that names the valid outputs.
private let choices = "the outputs are “default”, “alsa:NAME”, “null” and “file:PATH”. To continue,"

@Suite struct OutputNameTests {
  @Test(
    "names of outputs are parsed, and printed in the same form",
    arguments: [
      ("default", OutputName.systemDefault), ("null", .null), ("alsa:plughw:1,0", .alsa("plughw:1,0")),
      ("alsa:null", .alsa("null")), ("file:/tmp/a:b.log", .file("/tmp/a:b.log")),
      ("file:played.log", .file("played.log")),
    ])
  func reads(text: String, name: OutputName) throws {
    #expect(try OutputName(text) == name)
    #expect(name.description == text)
  }

  @Test("the output name of ALSA's default PCM means the system's default output")
  func alsaDefault() throws {
    #expect(try OutputName("alsa:default") == .systemDefault)
  }

  @Test(
    "an invalid name of an output is refused, with the valid choices",
    arguments: [
      (
        "", "Unknown output “”: \(choices) use one of these."
      ),
      (
        "alsa:",
        "Unknown output “alsa:”: the name of a PCM is missing after “alsa:”. "
          + "To continue, list the PCMs with “aplay -L”."
      ),
      (
        "alsa",
        "Unknown output “alsa”: the name of a PCM is missing after “alsa:”. To continue, list the PCMs with “aplay -L”."
      ),
      ("file:", "Unknown output “file:”: a path is missing after “file:”. To continue, write a path after “file:”."),
      (
        "hw:0,0",
        "Unknown output “hw:0,0”: \(choices) write “alsa:hw:0,0”."
      ),
      (
        "Default",
        "Unknown output “Default”: \(choices) use one of these."
      ),
    ])
  func refuses(text: String, message: String) {
    let error = #expect(throws: OutputError.self) { try OutputName(text) }
    #expect(error?.code == .invalidName)
    #expect(error?.description == message)
  }

  @Test("an output name with a NUL in its PCM or path is refused", arguments: ["alsa:a\0b", "file:a\0b"])
  func refusesNUL(text: String) {
    #expect(throws: OutputError.self) { try OutputName(text) }
  }

  @Test("each output name creates an output with that name", arguments: ["null", "alsa:plughw:1,0", "file:/tmp/x.log"])
  func makes(text: String) throws {
    #expect(try OutputName(text).makeOutput().name == text)
  }
}
