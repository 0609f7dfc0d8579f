// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VoicePackMaking

@Suite("SpeechCommand: the command line of a speech program")
struct SpeechCommandTests {
  @Test(
    "the words of a speech command are divided as a shell divides them",
    arguments: [
      (#"a -t {text} -o {output}"#, ["a", "-t", "{text}", "-o", "{output}"]),
      ("  a\t{text}\n{output} ", ["a", "{text}", "{output}"]),
      (#"'my program' "{text}" --out={output}"#, ["my program", "{text}", "--out={output}"]),
      (#"a 'it'\''s' {text} {output}"#, ["a", "it's", "{text}", "{output}"]),
      (#"a "say \"{text}\" \n" {output}"#, ["a", #"say "{text}" \n"#, "{output}"]),
      (#"a \{text\} {text} '' {output}"#, ["a", "{text}", "{text}", "", "{output}"]),
      (#"a $HOME *.wav | b > c {text} {output}"#, ["a", "$HOME", "*.wav", "|", "b", ">", "c", "{text}", "{output}"]),
    ])
  func words(text: String, words: [String]) throws { #expect(try SpeechCommand(text).words == words) }

  @Test(
    "a speech command that cannot work is refused with the reason",
    arguments: [
      ("", "is empty"), ("   ", "is empty"), ("''", "is empty"), ("a {text}", "has no {output}"),
      ("a {output}", "has no {text}"), ("a '{text} {output}", "has a quote that is not closed"),
      (#"a {text} {output}\"#, "has a quote that is not closed"),
      ("a {text} {output} {voice}", "has the unknown placeholder {voice}"),
    ])
  func invalid(text: String, problem: String) {
    let error = #expect(throws: PackMakingError.self) { try SpeechCommand(text) }
    #expect(error?.code == .commandInvalid && error?.problem == problem)
  }

  @Test("the text replaces its placeholder in a speech command unchanged, even if it contains placeholders or quotes")
  func replaced() throws {
    let command = try SpeechCommand("a --say={text}, {text_file} {output} {text}")
    #expect(
      command.arguments(text: "{output} $(x) 'y' z", textFile: "/t", output: "/o") == [
        "a", "--say={output} $(x) 'y' z,", "/t", "/o", "{output} $(x) 'y' z",
      ])
  }

  @Test(
    "the speaker of a speech program is named after the program with its options, without the placeholders",
    arguments: [
      ("/usr/bin/flite -voice slt -t {text} -o {output}", "flite -voice slt"),
      ("text2wave -o {output} {text_file}", "text2wave"), ("a --out={output} -x {text}", "a"),
      ("a -q {text} {output} -v 3", "a -v 3"),
    ])
  func speaker(text: String, speaker: String) throws { #expect(try SpeechCommand(text).speaker == speaker) }
}
