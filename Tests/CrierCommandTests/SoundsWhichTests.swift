// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("crier sounds which")
struct SoundsWhichTests {
  /// An app container and a bundle beside the home folder, and the names of their options.
  private struct Places {
    let crier: Command
    var app: URL { crier.directory.appending(path: "app") }
    var bundle: URL { crier.directory.appending(path: "Shop.app") }
    var options: [String] { ["--app-container", app.path, "--bundle", bundle.path] }

    init() throws {
      crier = try Command()
      for folder in [app, bundle] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      }
    }

    func group(_ name: String) -> URL { crier.home.appending(path: "containers/\(name)/Library/Sounds") }
    var appSounds: URL { app.appending(path: "Library/Sounds") }

    @discardableResult
    func put(_ name: String, in folder: URL, _ text: String = "sound") throws -> String {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let url = folder.appending(path: name)
      try Data(text.utf8).write(to: url)
      return url.path
    }

    func which(_ arguments: String...) throws -> Command.Result {
      try crier.run(["sounds", "which"] + arguments + options)
    }
  }

  @Test("crier sounds which prints the rule and the path for each name, and ends with 0 if every named sound is heard")
  func found() throws {
    let places = try Places()
    defer { places.crier.remove() }
    try places.put("a.wav", in: places.bundle)
    try places.put("b.wav", in: places.bundle)
    let own = try places.put("a.wav", in: places.appSounds)
    let group = try places.put("b.wav", in: places.group("group.crier"))
    let bundled = try places.put("c.wav", in: places.bundle)
    let result = try places.which("a.wav", "b.wav", "c.wav", "default")
    #expect(result.status == 0 && result.message.isEmpty, "\(result.message)")
    #expect(
      result.output
        == "app_container\t\(own)\ngroup_container\t\(group)\nbundle\t\(bundled)\n"
        + "default\tthe system's default sound\n")
  }

  @Test(
    "crier sounds which ends with 65 if another sound is heard for one of the names, and its error message says why")
  func missing() throws {
    let places = try Places()
    defer { places.crier.remove() }
    try places.put("a.wav", in: places.bundle)
    try places.put("Tone.wav", in: places.bundle)
    let system = try places.which("tone.wav", "a.wav")
    #expect(system.status == 65)
    #expect(system.output.hasPrefix("system\tthe system's default sound\nbundle\t"))
    #expect(
      system.message
        == """
        tone.wav: Tone.wav in the bundle differs in letter case. A phone distinguishes the names; the Simulator on a \
        Mac usually does not.
        tone.wav: The sound is not in the app container, nor in the group container group.crier, nor in the bundle.

        """)
    let fallback = try places.put("default.wav", in: places.group("group.crier"))
    let result = try places.which("tone.wav")
    #expect(result.status == 65 && result.output == "fallback\t\(fallback)\n")
  }

  @Test("crier sounds which ends with 65 for an empty file, and for a name that no sound can have")
  func unusable() throws {
    let places = try Places()
    defer { places.crier.remove() }
    try places.put("tone.wav", in: places.appSounds, "")
    try places.put("tone.wav", in: places.bundle)
    let empty = try places.which("tone.wav")
    #expect(empty.status == 65 && empty.output == "system\tthe system's default sound\n")
    #expect(empty.message.contains("is found first and is empty"))
    let outside = try places.which("../../Shop.app/tone.wav")
    #expect(outside.status == 65 && outside.output == "system\tthe system's default sound\n")
    #expect(outside.message.contains("cannot be the name of a sound"))
    let control = try places.which("to\u{1B}[2Jne.wav")
    #expect(control.status == 65 && !control.message.contains("\u{1B}"))
  }

  @Test("crier sounds which searches the groups in the order in which --group names them")
  func groups() throws {
    let places = try Places()
    defer { places.crier.remove() }
    let paths = try ["group.shop", "group.till"].map { try places.put("tone.wav", in: places.group($0)) }
    let first = try places.which("tone.wav", "--group", "group.shop", "--group", "group.till")
    #expect(first.output == "group_container\t\(paths[0])\n")
    #expect(first.message.contains("several groups: group.shop, group.till"))
    let second = try places.which("tone.wav", "--group", "group.till", "--group", "group.shop")
    #expect(second.status == 0 && second.output == "group_container\t\(paths[1])\n")
    #expect(try places.which("tone.wav").status == 65)
  }

  @Test("crier sounds which needs only the folder of the groups, which --containers or --home names")
  func folders() throws {
    let places = try Places()
    defer { places.crier.remove() }
    let other = places.crier.directory.appending(path: "other")
    let path = try places.put("tone.wav", in: other.appending(path: "containers/group.crier/Library/Sounds"))
    let crier = places.crier
    #expect(try crier("sounds", "which", "tone.wav").status == 65)
    #expect(try crier("sounds", "which", "tone.wav", "--home", "other").output == "group_container\t\(path)\n")
    let result = try crier("sounds", "which", "tone.wav", "--containers", "other/containers")
    #expect(result.output == "group_container\t\(path)\n")
  }

  @Test("crier sounds which --json prints one object for each name, with the place, the group and the remarks")
  func json() throws {
    let places = try Places()
    defer { places.crier.remove() }
    let path = try places.put("caf\u{E9}.wav", in: places.group("group.crier"))
    let result = try places.which("cafe\u{301}.wav", "none", "--json")
    #expect(result.status == 65)
    let lines = try result.output.split(separator: "\n").map { try JSONValue(String($0)) }
    try #require(lines.count == 2)
    let keys: Set = ["name", "rule", "place", "group", "path", "remarks"]
    for line in lines { #expect(Set(try #require(line.object).keys) == keys) }
    let (found, missing) = (try #require(lines[0].object), try #require(lines[1].object))
    #expect(found["rule"] == .string("group_container") && found["place"] == .string("group_container"))
    #expect(found["group"] == .string("group.crier") && found["path"] == .string(path))
    #expect(found["remarks"]?.array?.compactMap { $0.object?["code"]?.string } == ["other_normal_form"])
    #expect(missing["rule"] == .string("system") && missing["path"] == .null && missing["place"] == .null)
    #expect(missing["remarks"]?.array?.compactMap { $0.object?["code"]?.string } == ["no_extension", "not_found"])
  }

  @Test("crier sounds which --collisions prints each colliding name with the sound that is heard, and ends with 65")
  func collisions() throws {
    let places = try Places()
    defer { places.crier.remove() }
    let own = try places.put("tone.wav", in: places.appSounds)
    let hidden = try places.put("tone.wav", in: places.bundle)
    try places.put("alone.wav", in: places.bundle)
    let capital = try places.put("Bell.wav", in: places.group("group.crier"))
    let small = try places.put("bell.wav", in: places.bundle)
    let result = try places.which("--collisions")
    #expect(result.status == 65 && result.message.isEmpty)
    #expect(
      result.output
        == """
        Bell.wav\tletter_case\theard: \(capital)\talso: \(small)
        bell.wav\tletter_case\theard: \(small)\talso: \(capital)
        tone.wav\tseveral_places\theard: \(own)\talso: \(hidden)

        """)
    let json = try places.which("--collisions", "--json").output.split(separator: "\n")
    let last = try JSONValue(String(try #require(json.last)))
    let expected: [String: JSONValue] = [
      "name": .string("tone.wav"), "kinds": .array([.string("several_places")]), "rule": .string("app_container"),
      "heard": .string(own), "others": .array([.string(hidden)]),
    ]
    #expect(last == .object(expected))
  }

  @Test("crier sounds which --collisions says why the system's sound is heard for a colliding name")
  func unheardCollision() throws {
    let places = try Places()
    defer { places.crier.remove() }
    try places.put("tone.wav", in: places.appSounds, "")
    try places.put("tone.wav", in: places.bundle)
    let result = try places.which("--collisions")
    #expect(result.status == 65)
    #expect(result.output.hasPrefix("tone.wav\tseveral_places\theard: the system's default sound\talso: "))
    #expect(result.message.contains("is found first and is empty"))
  }

  @Test("crier sounds which --collisions ends with 0 if no names collide")
  func noCollisions() throws {
    let places = try Places()
    defer { places.crier.remove() }
    try places.put("tone.wav", in: places.bundle)
    let result = try places.which("--collisions")
    #expect(result.status == 0 && result.output.isEmpty && result.message == "No names collide.\n")
  }

  @Test("a folder that crier sounds which cannot list is an error, and no sound is named")
  func unlisted() throws {
    let places = try Places()
    defer { places.crier.remove() }
    try places.put("Library", in: places.app)
    try places.put("tone.wav", in: places.bundle)
    let result = try places.which("tone.wav")
    #expect(result.status == 73 && result.output.isEmpty)
    #expect(
      result.message.hasPrefix(
        "crier: Reading a clip from \(places.appSounds.path)/ failed: Library or Sounds is a file"),
      "\(result.message)")
  }

  @Test(
    "crier sounds which refuses invalid arguments, and the message names the argument as typed",
    arguments: [
      ([], "Give either the names of sounds or --collisions, but not both."),
      (["a.wav", "--collisions"], "Give either the names of sounds or --collisions, but not both."),
      (["a.wav", "--bundle", ""], "--bundle is empty: name a folder."),
      (["a.wav", "--app-container", ""], "--app-container is empty: name a folder."),
      (["a.wav", "--containers", ""], "--containers is empty: name a folder."),
      (["a.wav", "--home", ""], "--home is empty: name a folder."),
      (["a.wav", "--bundle", "nowhere"], "--bundle: nowhere is not an existing folder; give another one."),
      (["a.wav", "--app-container", "/dev/null"], "--app-container: /dev/null is not an existing folder"),
      (["a.wav", "--containers", "nowhere"], "--containers: nowhere is not an existing folder; give another one."),
      (["a.wav", "--group", "../x"], "The group name \"../x\" is invalid"),
      (["a.wav", "--group", "group.a", "--group", "group.a"], "--group group.a is given twice: give each group once."),
    ])
  func refused(arguments: [String], message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(["sounds", "which"] + arguments)
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.message.contains(message), "\(result.message)")
    #expect(!FileManager.default.fileExists(atPath: crier.home.path))
  }
}
