// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("crier serve settings that are misspelt or cannot be used")
struct ServeConfigurationFaultTests {
  private func write(_ text: String, in crier: Command) throws {
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: crier.home.appending(path: "crier.yaml"))
  }

  @Test(
    "the error for a setting that turns out unusable at the start names the setting, the file and the line",
    arguments: [
      (
        "volume: 50\nlocale: xx-YY", "locale (crier.yaml, line 2): xx-YY has no phrase book; choose one of bn-BD",
        "locale"
      ),
      (
        "\nchime: /nonexistent.wav",
        "chime (crier.yaml, line 2): /nonexistent.wav does not exist; give an existing file.", "chime"
      ),
      (
        "chimes:\n  refunded: /nonexistent.wav",
        "chimes (crier.yaml, line 1): /nonexistent.wav does not exist; give an existing file.", "chimes"
      ),
      (
        "chimes: failed=tone:falls",
        "chimes (crier.yaml, line 1): falls: there is no description of this tone; choose one of bell,", "chimes"
      ),
      (
        "# Sound.\noutput: Default", "output (crier.yaml, line 2): “Default” is not an output: the outputs are",
        "output"
      ),
    ])
  func unusable(text: String, words: String, name: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let playing = name == "output" ? "" : "\noutput: null"
    try write(text + playing + "\n", in: crier)
    let result = try crier.run(["serve", "--port", "0"], seconds: 60)
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.message.hasPrefix("crier: \(words)"), "\(result.message)")
  }

  @Test(
    "the error for a time of day that cannot be read names the wrong part",
    arguments: [
      ("time_zone: Berlin", "time_zone (crier.yaml, line 1): give a name of the IANA database, such as Europe/Berlin"),
      ("quiet_hours: mon-fry 22:00-07:00", "quiet_hours (crier.yaml, line 1): “mon-fry” is not a day; give mon,"),
      ("opening_hours: 08:00", "opening_hours (crier.yaml, line 1): "),
      ("volumes: 22:00-07:00", "volumes (crier.yaml, line 1): “22:00-07:00” has no volume; give a percentage"),
      ("quiet_summary: sometimes", "quiet_summary (crier.yaml, line 1): give true or false."),
    ])
  func times(text: String, words: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    try write(text + "\n", in: crier)
    let result = try crier.serve("--print-config")
    #expect(result.status == 64 && result.message.hasPrefix("crier: \(words)"), "\(result.message)")
  }

  @Test("the setting 'take_over' is printed as true or false without quotes, like other values that are not text")
  func printedFlag() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier.serve("--print-config").output.contains("\ntake_over: true "))
    try write("take_over: 'false'\n", in: crier)
    #expect(try crier.serve("--print-config").output.contains("\ntake_over: false "))
    try write("take_over: maybe\n", in: crier)
    #expect(try crier.serve().message == "crier: take_over (crier.yaml, line 1): give true or false.\n")
  }

  @Test("a misspelt setting is named with its line and with the setting that was probably meant")
  func misspelt() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("port: 8080\nvolumne: 50\n", in: crier)
    #expect(
      try crier.serve().message == "crier: volumne (crier.yaml, line 2): is not a setting; did you mean volume?\n")
    try write("colour: red\n", in: crier)
    #expect(try crier.serve().message.contains("is not a setting; the settings are host, port,"))
  }

  @Test("an unknown environment variable that looks like a setting is reported, and the other variables take effect")
  func misspeltVariable() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.serve(
      "--print-config", environment: ["CRIER_VOLUMNE": "50", "CRIER_COLOUR": "red", "CRIER_VOLUME": "60"])
    #expect(result.status == 0 && result.output.contains("volume: 60"))
    #expect(
      result.message == """
        crier: CRIER_COLOUR (environment): is not a setting and has no effect.
        crier: CRIER_VOLUMNE (environment): is not a setting and has no effect; did you mean CRIER_VOLUME?

        """)
  }

  @Test("the environment variables of the documented clients are not reported as misspelt settings")
  func clientVariables() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.serve(
      "--print-config", environment: ["CRIER_KEY": "crier_x", "CRIER_URL": "http://127.0.0.1:8080"])
    #expect(result.status == 0 && result.message.isEmpty, "\(result.message)")
  }
}
