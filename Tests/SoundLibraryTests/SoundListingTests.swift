// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import Testing

@testable import SoundLibrary

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

private let group = SoundPlace.groupContainer("group.crier")

@Suite("Listing the places of sounds")
struct SoundListingTests {
  let home: TemporaryPlaces

  init() throws { home = try TemporaryPlaces() }

  private func entry(_ name: String, _ kind: SoundListing.Kind) -> SoundListing.Entry {
    SoundListing.Entry(name: name, kind: kind)
  }

  @Test("the listing of a place has every entry of its folder, with the entry's type")
  func kinds() throws {
    let sounds = home.folder(group)
    try home.put("a.wav", in: group)
    try home.put("b.wav", in: group, [])
    try FileManager.default.createDirectory(at: sounds.appending(path: "c.wav"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: sounds.path + "/d.wav", withDestinationPath: "a.wav")
    try FileManager.default.createSymbolicLink(atPath: sounds.path + "/e.wav", withDestinationPath: "c.wav")
    try FileManager.default.createSymbolicLink(atPath: sounds.path + "/f.wav", withDestinationPath: "missing.wav")
    #expect(mkfifo(sounds.path + "/g.wav", 0o600) == 0)
    let listings = try home.places.listings()
    #expect(listings.map(\.place) == TemporaryPlaces.all)
    #expect(listings.map(\.folder.path) == TemporaryPlaces.all.map { home.folder($0).path })
    #expect(
      listings[1].entries == [
        entry("a.wav", .file), entry("b.wav", .emptyFile), entry("c.wav", .folder), entry("d.wav", .symbolicLink),
        entry("e.wav", .symbolicLink), entry("f.wav", .symbolicLink), entry("g.wav", .special),
      ])
    #expect(try home.places.listings { $0 == "b.wav" }[1].entries == [entry("b.wav", .emptyFile)])
  }

  @Test("a file that cannot be opened counts as unreadable, and the system's sound is heard instead")
  func unreadable() throws {
    try home.put("tone.wav", in: group)
    try home.put("tone.wav", in: .bundle)
    var calls = FileSystemCalls.system
    calls.openFile = { (_, _) throws(SystemError) in throw SystemError(number: EACCES) }
    let listings = try home.places.listings(calls: calls)
    #expect(listings[1].entries == [entry("tone.wav", .unreadableFile)])
    let result = SoundLookup(listings).resolve("tone.wav")
    #expect(result.rule == .system)
    #expect(result.remarks == [.unreadableFile("tone.wav", group)])
  }

  @Test("the search does not follow a symbolic link, and continues in the next place")
  func link() throws {
    try home.put("real.wav", in: group)
    try FileManager.default.createSymbolicLink(
      atPath: home.folder(group).path + "/tone.wav", withDestinationPath: "real.wav")
    let missing = try home.resolve("tone.wav")
    #expect(missing.rule == .system)
    #expect(missing.remarks == [.symbolicLink("tone.wav", group), .notFound(TemporaryPlaces.all)])
    try home.put("tone.wav", in: .bundle)
    #expect(try home.resolve("tone.wav").rule == .found(.bundle))
  }

  @Test("names in both Unicode normal forms are separate entries, and each is found by its own bytes")
  func normalForms() throws {
    let forms = ["caf\u{E9}.wav", "cafe\u{301}.wav"]
    try home.put(forms[0], in: group, [1])
    try home.put(forms[1], in: group, [2])
    #expect(try home.places.listings()[1].entries.count == 2)
    for (form, byte) in zip(forms, [UInt8(1), 2]) {
      let url = try #require(try home.resolve(form).url)
      #expect(try Data(contentsOf: url) == Data([byte]))
    }
    try home.put("Stra\u{DF}e\u{301}.wav", in: .bundle, [3])
    let other = try home.resolve("Stra\u{DF}\u{E9}.wav")
    #expect(other.remarks == [.otherNormalForm(.bundle)])
    #expect(try Data(contentsOf: try #require(other.url)) == Data([3]))
  }

  @Test("a place that is left out, or whose folder does not exist, has no entries")
  func missing() throws {
    #expect(try SoundPlaces().listings().isEmpty)
    let nowhere = home.root.appending(path: "nowhere")
    let places = SoundPlaces(
      appContainer: nowhere,
      groupContainers: [SoundPlaces.Group(name: "group.a", container: GroupContainer(directory: nowhere))],
      bundle: nowhere)
    let listings = try places.listings()
    #expect(listings.map(\.place) == [.appContainer, .groupContainer("group.a"), .bundle])
    #expect(listings.allSatisfy { $0.entries.isEmpty })
    let resolution = SoundLookup(listings).resolve("tone.wav")
    #expect(resolution.rule == .system)
  }

  @Test("the search leaves out a folder 'Sounds' that is beside the folder 'Library'")
  func wrongFolder() throws {
    let wrong = home.root.appending(path: "app/Sounds")
    try FileManager.default.createDirectory(at: wrong, withIntermediateDirectories: true)
    try Data([1]).write(to: wrong.appending(path: "tone.wav"))
    #expect(try home.resolve("tone.wav").rule == .system)
  }

  @Test("a place whose folder cannot be listed, or is a link, is an error and not an empty listing")
  func errors() throws {
    let sounds = home.folder(.appContainer)
    try FileManager.default.removeItem(at: sounds)
    try FileManager.default.createSymbolicLink(at: sounds, withDestinationURL: home.folder(.bundle))
    let link = #expect(throws: SoundLibraryError.self) { try home.places.listings() }
    #expect(link?.code == .notAFolder && link?.action == .reading)
    try FileManager.default.removeItem(at: sounds)
    try Data().write(to: sounds)
    #expect(throws: SoundLibraryError.self) { try home.places.listings() }
    var calls = FileSystemCalls.system
    calls.openFolder = { (_, _) throws(SystemError) in throw SystemError(number: EACCES) }
    let refused = #expect(throws: SoundLibraryError.self) { try home.places.listings(calls: calls) }
    #expect(refused?.code == .notPermitted)
  }

  @Test("a shortage of file descriptors is an error and does not make a file unreadable")
  func shortage() throws {
    try home.put("tone.wav", in: group)
    var calls = FileSystemCalls.system
    calls.openFile = { (_, _) throws(SystemError) in throw SystemError(number: EMFILE) }
    let error = #expect(throws: SoundLibraryError.self) { try home.places.listings(calls: calls) }
    #expect(error?.code == .tooManyOpenFiles)
  }

  @Test("an entry that is removed while the folder is listed is left out of the listing")
  func removed() throws {
    try home.put("tone.wav", in: group)
    var calls = FileSystemCalls.system
    calls.statusOfName = { (_, _) throws(SystemError) in throw SystemError(number: ENOENT) }
    #expect(try home.places.listings(calls: calls).allSatisfy { $0.entries.isEmpty })
    calls = .system
    calls.openFile = { (_, _) throws(SystemError) in throw SystemError(number: ENOENT) }
    #expect(try home.places.listings(calls: calls).allSatisfy { $0.entries.isEmpty })
  }
}
