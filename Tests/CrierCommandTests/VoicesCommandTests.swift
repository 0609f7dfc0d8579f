// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("crier voices")
struct VoicesCommandTests {
  /// Creates a folder with a recording of each word, spoken by the engine.
  private func recordings(_ crier: Command, _ words: [String]) throws -> URL {
    let folder = crier.directory.appending(path: "recordings")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for word in words {
      let result = try crier(
        "render", "--text", word, "--locale", "en-US", "--output", folder.appending(path: "\(word).wav").path)
      #expect(result.status == 0)
    }
    return folder
  }

  @Test("sheet, import, list, check and render work with a recorded voice")
  func path() throws {
    let crier = try Command()
    defer { crier.remove() }
    let sheet = try crier("voices", "sheet", "--locale", "en-US", "--currency", "USD")
    #expect(sheet.status == 0)
    #expect(
      sheet.output.hasPrefix("number,file,token,text,position,how,example,block\r\n1,001,Received,Received,plain,"))
    #expect(sheet.output.hasSuffix("\r\n") && !sheet.output.hasSuffix("\n\n"))

    let folder = try recordings(crier, ["Received", "two", "dollars"])
    let imported = try crier(
      "voices", "import", folder.path, "--locale", "en-US", "--id", "shop", "--speaker", "Ada", "--licence", "CC0-1.0")
    #expect(imported.status == 0)
    #expect(imported.output == crier.directory.appending(path: "home/Voices/shop").path + "\n")
    #expect(imported.message.contains("row 2 (one): has no recording."))

    let list = try crier("voices", "list")
    #expect(list.output == "shop\ten-US\tAda\t3 words\tCC0-1.0\n")
    let check = try crier("voices", "check", "shop")
    #expect(check.status == 65)
    #expect(
      check.output.contains("error    missing_token  three: is not recorded, so 3.00 USD cannot be spoken"))
    #expect(check.output.contains("sayable      the words around every payment that is received"))

    let clip = try crier(
      "render", "--amount", "2", "--currency", "USD", "--locale", "en-US", "--method", "clips", "--json")
    #expect(clip.output.contains("\"method\":\"clips\""))
    #expect(clip.output.contains("\"voice\":\"shop\""))
  }

  @Test("build makes a pack with the whole vocabulary of its locale")
  func build() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("voices", "build", "--locale", "zh-CN")
    #expect(result.output == crier.data.appending(path: "Voices/zh-CN-espeak").path + "\n")
    let check = try crier("voices", "check")
    #expect(check.status == 0)
    #expect(check.output.contains("; no errors, no warnings"))
  }

  @Test("a pack never overwrites its recordings or a folder that is not a pack")
  func source() throws {
    let crier = try Command()
    defer { crier.remove() }
    let voices = crier.directory.appending(path: "home/Voices")
    try FileManager.default.createDirectory(at: voices, withIntermediateDirectories: true)
    let folder = try recordings(crier, ["two"])
    try FileManager.default.copyItem(at: folder, to: voices.appending(path: "shop"))
    for source in [voices.appending(path: "shop").path, folder.path] {
      let result = try crier(
        "voices", "import", source, "--locale", "en-US", "--id", "shop", "--replace")
      #expect(result.status == (source == folder.path ? 73 : 64))
      #expect(FileManager.default.fileExists(atPath: voices.appending(path: "shop/two.wav").path))
    }
  }

  @Test(
    "a wrong argument exits with 64 and is named as typed",
    arguments: [
      (["voices", "check", "nobody"], "crier: There is no pack nobody: make one with crier voices build.\n"),
      (
        ["voices", "build", "--locale", "en-US", "--voice", "zh"],
        "crier: --voice zh cannot read the words of en-US: choose one of en-us, en, en-gb-scotland, en-gb-x-rp, "
          + "en-029, with any variant such as +f2.\n"
      ),
      (
        ["voices", "import", ".", "--sheet", "none.csv", "--locale", "en-US", "--id", "x"],
        "crier: --sheet none.csv cannot be read: give a CSV file.\n"
      ),
    ])
  func wrong(arguments: [String], message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(arguments)
    #expect(result.status == 64)
    #expect(result.message == message)
  }
}
