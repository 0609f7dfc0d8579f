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

/// The thing that one place has under the searched name.
enum Candidate: CaseIterable {
  case absent, file, emptyFile, unreadableFile, folder, symbolicLink, otherCase, otherNormalForm

  /// Whether iOS ends its search here.
  var isFirstMatch: Bool { [.file, .emptyFile, .unreadableFile, .otherNormalForm].contains(self) }

  /// Whether the found file is heard.
  var isHeard: Bool { self == .file || self == .otherNormalForm }
}

@Suite("Which sound iOS plays, with files on the disk")
struct SoundLookupOnDiskTests {
  private static let places: [SoundPlace] = [.appContainer, .groupContainer("group.crier"), .bundle]

  private static let name = "caf\u{E9}.wav"
  private static let otherForm = "cafe\u{301}.wav"

  private func put(_ candidate: Candidate, in place: SoundPlace, _ home: TemporaryPlaces) throws {
    let file = home.folder(place).appending(path: Self.name)
    switch candidate {
    case .absent: break
    case .file, .unreadableFile: try home.put(Self.name, in: place)
    case .emptyFile: try home.put(Self.name, in: place, [])
    case .folder: try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    case .symbolicLink:
      let target = home.root.appending(path: "elsewhere.wav")
      try Data([9]).write(to: target)
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
    case .otherCase: try home.put("Caf\u{E9}.wav", in: place)
    case .otherNormalForm: try home.put(Self.otherForm, in: place)
    }
  }

  /// The calls of the system, except that the files in some folders cannot be opened. The test's user may be root, who
  /// can read every file.
  private func calls(refusing folders: [URL]) throws -> FileSystemCalls {
    let refused = try folders.map { folder in
      var status = stat()
      try #require(stat(folder.path, &status) == 0)
      return status.st_ino
    }
    var calls = FileSystemCalls.system
    let open = calls.openFile
    calls.openFile = { (folder, name) throws(SystemError) in
      var status = stat()
      if fstat(folder, &status) == 0, refused.contains(status.st_ino) { throw SystemError(number: EACCES) }
      return try open(folder, name)
    }
    return calls
  }

  private func resolve(_ candidates: [Candidate], hasFallback: Bool) throws {
    let home = try TemporaryPlaces()
    for (place, candidate) in zip(Self.places, candidates) { try put(candidate, in: place, home) }
    // The fallback is in the second group, whose files can be read in every row.
    let fallback = SoundPlace.groupContainer("group.shop")
    if hasFallback { try home.put("default.wav", in: fallback) }
    let unreadable = zip(Self.places, candidates).filter { $0.1 == .unreadableFile }.map { home.folder($0.0) }
    let listings = try home.places.listings(
      of: SoundLookup.relevance(to: [Self.name]), calls: try calls(refusing: unreadable))
    let result = SoundLookup(listings).resolve(Self.name)
    let row = Comment("\(candidates), default.wav: \(hasFallback)")
    guard let first = candidates.firstIndex(where: \.isFirstMatch) else {
      #expect(result.rule == (hasFallback ? .fallback(fallback) : .system), row)
      #expect(result.url?.path == (hasFallback ? home.folder(fallback).path + "/default.wav" : nil), row)
      #expect(!result.isNamedSound, row)
      return
    }
    guard candidates[first].isHeard else {
      #expect(result.rule == .system && result.url == nil && !result.isNamedSound, row)
      return
    }
    let file = candidates[first] == .file ? Self.name : Self.otherForm
    #expect(result.rule == .found(Self.places[first]) && result.isNamedSound, row)
    // Equal strings can have different bytes.
    #expect(
      result.url.map { Array($0.path.utf8) } == Array("\(home.folder(Self.places[first]).path)/\(file)".utf8), row)
    #expect(try result.url.map { try Data(contentsOf: $0) } == Data([1, 2, 3]), row)
  }

  @Test(
    "whatever the three places of sounds contain, the first match decides, with and without default.wav",
    arguments: Candidate.allCases, Candidate.allCases)
  func everyCombination(_ app: Candidate, _ group: Candidate) throws {
    for bundle in Candidate.allCases {
      for hasFallback in [false, true] { try resolve([app, group, bundle], hasFallback: hasFallback) }
    }
  }

  @Test("a name that leads from one place to a file in another place finds nothing", arguments: places, places)
  func betweenPlaces(_ from: SoundPlace, _ to: SoundPlace) throws {
    let home = try TemporaryPlaces()
    try home.put("tone.wav", in: to)
    // The bundle is one folder below the root, the app's sounds are three and the group's are four.
    let levels = from == .bundle ? 1 : from == .appContainer ? 3 : 4
    let target = home.folder(to).path.dropFirst(home.root.path.count + 1)
    let name = String(repeating: "../", count: levels) + target + "/tone.wav"
    #expect(FileManager.default.fileExists(atPath: home.folder(from).path + "/" + name))
    let result = try home.resolve(name)
    #expect(result.rule == .system && result.url == nil)
    #expect(result.remarks == [.invalidName])
    #expect(try home.resolve("tone.wav").rule == .found(to))
  }
}
