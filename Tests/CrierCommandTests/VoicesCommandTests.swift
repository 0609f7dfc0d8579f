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

  @Test("the commands sheet, import, list, check and render of crier voices work with a recorded voice")
  func path() throws {
    let crier = try Command()
    defer { crier.remove() }
    let sheet = try crier("voices", "sheet", "--locale", "en-US", "--currency", "USD")
    #expect(sheet.status == 0)
    #expect(
      sheet.output.hasPrefix(
        "number,file,token,text,position,how,example,block,locale\r\n1,001,Received,Received,plain,"))
    #expect(sheet.output.hasSuffix("\r\n") && !sheet.output.hasSuffix("\n\n"))

    let folder = try recordings(crier, ["Received", "two", "dollars"])
    let imported = try crier(
      "voices", "import", folder.path, "--locale", "en-US", "--id", "shop", "--speaker", "Ada", "--licence", "CC0-1.0")
    #expect(imported.status == 0)
    #expect(imported.output == crier.directory.appending(path: "home/Voices/shop").path + "\n")
    #expect(imported.message.contains("128 of 131 rows have no recording: rows 2 to 3, rows 6 to 131.\n"))
    #expect(
      imported.message.hasSuffix("\nen-US: shop speaks, because it is the first recorded pack that has the words.\n"))

    let lacks = try crier("voices", "sheet", "--locale", "en-US", "--currency", "USD", "--missing", "shop")
    #expect(lacks.status == 0 && lacks.output.contains("\r\n2,002,") && !lacks.output.contains("\r\n1,001,Received,"))
    let given = sheet.output.split(separator: "\r\n").count
    #expect(lacks.output.split(separator: "\r\n").count == given - 3)
    #expect(try crier("voices", "sheet", "--locale", "es-MX", "--missing", "shop").status == 64)
    #expect(try crier("voices", "sheet", "--locale", "en-US", "--missing", "none").status == 65)

    let list = try crier("voices", "list")
    #expect(list.output == "shop\ten-US\tAda\t3 words\tCC0-1.0\tspeaks (first)\n")
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

  @Test("crier voices use chooses the pack that speaks, list shows it, and importing another pack does not change it")
  func use() throws {
    let crier = try Command()
    defer { crier.remove() }
    let folder = try recordings(crier, ["Received", "two", "dollars"])
    for id in ["b", "c"] {
      #expect(try crier("voices", "import", folder.path, "--locale", "en-US", "--id", id).status == 0)
    }
    func speaker() throws -> String? {
      let clip = try crier("render", "--amount", "2", "--currency", "USD", "--locale", "en-US", "--json")
      return clip.output.firstMatch(of: /"voice":"([^"]+)"/).map { String($0.1) }
    }
    func speaking() throws -> [String] {
      try crier("voices", "list").output.split(separator: "\n").filter { $0.contains("speaks") }.map(String.init)
    }
    #expect(try speaker() == "b")
    let chosen = try crier("voices", "use", "c")
    #expect(chosen.status == 0 && chosen.output == "en-US\tc\n")
    #expect(chosen.message == "en-US: c speaks, because it is chosen.\n")
    let another = try crier("voices", "import", folder.path, "--locale", "en-US", "--id", "a")
    #expect(another.status == 0 && another.message.hasSuffix("\nen-US: c speaks, because it is chosen.\n"))
    #expect(try speaker() == "c")
    #expect(try speaking().map { $0.hasPrefix("c\t") && $0.hasSuffix("\tspeaks (chosen)") } == [true])
    #expect(try crier("voices", "list", "--json").output.contains(#""speaks":"chosen""#))
    let back = try crier("voices", "use", "--none", "en-US")
    #expect(back.output == "en-US\ta\n")
    #expect(try speaker() == "a")
    #expect(try speaking().map { $0.hasPrefix("a\t") && $0.hasSuffix("\tspeaks (first)") } == [true])
  }

  @Test("crier voices use refuses a pack that is missing, broken or of another language, and changes nothing")
  func unusable() throws {
    let crier = try Command()
    defer { crier.remove() }
    let folder = try recordings(crier, ["two"])
    #expect(try crier("voices", "import", folder.path, "--locale", "en-US", "--id", "shop").status == 0)
    let missing = try crier("voices", "use", "other")
    #expect(missing.status == 64 && missing.message == "crier: There is no pack other: choose one of shop.\n")
    let foreign = try crier("voices", "use", "shop", "--locale", "zh-CN")
    #expect(foreign.status == 64)
    #expect(foreign.message == "crier: --locale zh-CN: the pack shop speaks en-US; choose another pack.\n")
    let clip = crier.home.appending(path: "Voices/shop/two.wav")
    var bytes = try Data(contentsOf: clip)
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: clip)
    #expect(try crier("voices", "use", "shop").status == 65)
    #expect(!FileManager.default.fileExists(atPath: crier.home.appending(path: "packs.json").path))
    try Data("?".utf8).write(to: crier.home.appending(path: "packs.json"))
    #expect(try crier("voices", "use", "--none", "en-US").status == 65)
    #expect(try crier("voices", "list").message.contains("packs.json: is not a list of chosen voice packs"))
  }

  @Test("crier voices import --replace keeps the replaced pack's speaker and licence, unless other values are given")
  func replacedFacts() throws {
    let crier = try Command()
    defer { crier.remove() }
    let folder = try recordings(crier, ["two"])
    func imported(_ options: String...) throws -> String {
      let result = try crier.run(["voices", "import", folder.path, "--locale", "en-US", "--id", "shop"] + options)
      #expect(result.status == 0, "\(result)")
      return try crier("voices", "list").output
    }
    #expect(try imported().hasPrefix("shop\ten-US\tnot named\t1 words\tnot stated\t"))
    #expect(
      try imported("--replace", "--speaker", "Ada", "--licence", "CC0-1.0")
        .hasPrefix("shop\ten-US\tAda\t1 words\tCC0-1.0\t"))
    #expect(try imported("--replace").hasPrefix("shop\ten-US\tAda\t1 words\tCC0-1.0\t"))
    #expect(try imported("--replace", "--speaker", "Bob").hasPrefix("shop\ten-US\tBob\t1 words\tCC0-1.0\t"))
  }

  @Test(
    "crier voices remove deletes a pack with its marks and its choice, and names the pack or engine that speaks now")
  func remove() throws {
    let crier = try Command()
    defer { crier.remove() }
    let folder = try recordings(crier, ["two"])
    for id in ["a", "b"] {
      #expect(try crier("voices", "import", folder.path, "--locale", "en-US", "--id", id).status == 0)
    }
    #expect(try crier("voices", "use", "b").status == 0)
    let voices = crier.home.appending(path: "Voices")
    try Data(#"{"marked": {}}"#.utf8).write(to: voices.appending(path: "b.marks.json"))
    let removed = try crier("voices", "remove", "b")
    #expect(removed.status == 0 && removed.output == voices.appending(path: "b").path + "/\n", "\(removed)")
    #expect(
      removed.message == "en-US: a speaks, because it is the first recorded pack that has the words.\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: voices.path).filter { !$0.hasPrefix(".") } == ["a"])
    #expect(try crier("voices", "import", folder.path, "--locale", "en-US", "--id", "b").status == 0)
    #expect(try crier("voices", "list").output.contains("speaks (chosen)") == false)
    #expect(try crier("voices", "remove", "a").status == 0)
    let last = try crier("voices", "remove", "b")
    #expect(last.message == "en-US: the speech engine speaks.\n")
    #expect(try crier("voices", "remove", "b").status == 64)
  }

  @Test("crier voices remove refuses a pack of the installation, and the message names the folder to remove")
  func shipped() throws {
    let crier = try Command()
    defer { crier.remove() }
    let folder = try recordings(crier, ["two"])
    let voices = crier.data.appending(path: "Voices")
    let made = try crier(
      "voices", "import", folder.path, "--locale", "en-US", "--id", "shop", "--voices", voices.path)
    #expect(made.status == 0)
    let refused = try crier("voices", "remove", "shop")
    #expect(refused.status == 64)
    #expect(refused.message.contains("The pack shop belongs to the installation: remove the folder "))
    #expect(FileManager.default.fileExists(atPath: voices.appending(path: "shop/manifest.json").path))
  }

  @Test("crier voices build makes a pack with the whole vocabulary of its locale")
  func build() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("voices", "build", "--locale", "zh-CN")
    #expect(result.output == crier.home.appending(path: "Voices/zh-CN-espeak").path + "\n")
    let check = try crier("voices", "check")
    #expect(check.status == 0)
    #expect(check.output.contains("; no errors, no warnings"))
  }

  @Test("crier voices build never replaces a recorded pack, also in a folder that --voices names")
  func buildOverRecordings() throws {
    let crier = try Command()
    defer { crier.remove() }
    let folder = try recordings(crier, ["two"])
    #expect(try crier("voices", "import", folder.path, "--locale", "en-US", "--id", "shop").status == 0)
    let manifest = crier.home.appending(path: "Voices/shop/manifest.json")
    let before = try Data(contentsOf: manifest)
    for more in [[], ["--voices", crier.home.appending(path: "Voices").path]] {
      let result = try crier.run(["voices", "build", "--locale", "en-US", "--id", "shop"] + more)
      #expect(result.status == 64 && result.message.contains("--id shop is a recorded pack"), "\(result.message)")
    }
    #expect(try Data(contentsOf: manifest) == before)
  }

  @Test("crier voices import --replace never overwrites the recordings that it reads, or a folder that is not a pack")
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
    "a wrong argument gives exit status 64, and the message names it as it was typed",
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
