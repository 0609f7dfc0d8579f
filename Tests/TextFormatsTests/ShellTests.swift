// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TextFormats

@Suite("Words of a shell")
struct ShellTests {
  @Test(
    "a plain text stays unchanged for a shell, and any other text is quoted",
    arguments: [
      ("/srv/crier", "/srv/crier"), ("a-b_c.d:e@f%g+h=i,j", "a-b_c.d:e@f%g+h=i,j"), ("", "''"),
      ("my shop", "'my shop'"), ("it's", #"'it'\''s'"#), ("$HOME", "'$HOME'"), ("*", "'*'"), ("店", "'店'"),
      ("a\nb", #"$'a\x0ab'"#), ("a\u{1B}'\\", #"$'a\x1b\'\\'"#),
    ])
  func quoted(text: String, word: String) { #expect(Shell.quoted(text) == word) }

  @Test(
    "a path is written for a shell so that it cannot be taken for an option or an address",
    arguments: [
      ("-rf.wav", "./-rf.wav"), ("a:b.wav", "./a:b.wav"), ("/a:b.wav", "/a:b.wav"), ("- a", "'./- a'"),
      ("a.wav", "a.wav"),
    ])
  func path(path: String, word: String) { #expect(Shell.path(path) == word) }

  @Test(
    "bash reads a quoted text as the original text",
    arguments: ["my shop", "it's", "$HOME `id` \"*\"", "a\nb\t\\c'd", "-n", "店\u{7F}", ""])
  func read(text: String) throws {
    let bash = Process()
    bash.executableURL = URL(filePath: "/bin/bash")
    bash.arguments = ["-c", "printf %s \(Shell.quoted(text))"]
    let output = Pipe()
    bash.standardOutput = output
    try bash.run()
    let read = try output.fileHandleForReading.readToEnd() ?? Data()
    bash.waitUntilExit()
    #expect(String(decoding: read, as: UTF8.self) == text)
  }
}
