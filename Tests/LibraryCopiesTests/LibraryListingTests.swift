// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundLibrary
import Testing

@testable import DeviceClient
@testable import LibraryCopies

@Suite("What a file provider shows")
struct LibraryListingTests {
  private let phone: TemporaryCopy
  private let documents: LibraryDocuments
  private let storage: URL

  init() throws {
    phone = try TemporaryCopy()
    storage = phone.container.directory.appending(path: "File Provider Storage", directoryHint: .isDirectory)
    documents = LibraryDocuments(container: phone.container, storage: storage)
  }

  private var listing: LibraryListing { LibraryListing(container: phone.container) }

  @Test("a file provider lists the clips and tones that are on the phone, in the order of their names")
  func items() async throws {
    #expect(listing.items.isEmpty)
    phone.service.addTone("chime.wav", [1, 2])
    phone.service.addClip(clip(1), [3])
    phone.service.addClip(clip(2), [4])
    try phone.service.addPack("warm", ["a.wav": [5]])
    try await phone.update()
    #expect(listing.items.map(\.name) == [clip(1), clip(2), "chime.wav"])
    #expect(listing.item(named: "chime.wav")?.file.byteCount == 2)
    #expect(listing.item(named: "warm") == nil)
    try SoundLibrary(container: phone.container).remove(clip(1))
    #expect(listing.items.map(\.name) == [clip(2), "chime.wav"])
  }

  @Test("the pages of a file provider's list have each item once, and the last page names no next page")
  func pages() {
    var manifest = LibraryManifest()
    for number in 1...5 {
      let file = LibraryChange.File(sha256: String(repeating: "0", count: 64), byteCount: number)
      manifest.clips[clip(number)] = LibraryManifest.Clip(file: file, order: number)
    }
    let listing = LibraryListing(manifest) { _ in true }
    // iOS names the first page in its own way.
    for first in [Data(), Data([0xFF, 0x00]), Data("NSFileProviderInitialPageSortedByName".utf8)] {
      let one = listing.page(first, count: 2)
      let two = listing.page(one.next ?? Data(), count: 2)
      let three = listing.page(two.next ?? Data(), count: 2)
      #expect([one, two, three].map { $0.items.map(\.name) } == [[1, 2], [3, 4], [5]].map { $0.map { clip($0) } })
      #expect(three.next == nil)
    }
  }

  @Test("if an item between two pages is removed, the next page begins with the item after it")
  func removedPage() throws {
    var manifest = LibraryManifest()
    for number in 1...3 {
      let file = LibraryChange.File(sha256: String(repeating: "0", count: 64), byteCount: number)
      manifest.tones["\(number).wav"] = file
    }
    let next = try #require(LibraryListing(manifest) { _ in true }.page(Data(), count: 2).next)
    manifest.tones["2.wav"] = nil
    #expect(LibraryListing(manifest) { _ in true }.page(next, count: 2).items.map(\.name) == ["3.wav"])
    manifest.tones = [:]
    #expect(LibraryListing(manifest) { _ in true }.page(next).items.isEmpty)
  }

  @Test("the anchor of a file provider's list changes with each change of the list, and with nothing else")
  func anchor() async throws {
    let empty = listing.anchor
    #expect(empty.utf8.count == 64)
    phone.service.addTone("chime.wav", [1])
    try await phone.update()
    let first = listing.anchor
    phone.service.addTone("chime.wav", [2])
    try await phone.update()
    let second = listing.anchor
    try phone.service.addPack("warm", ["a.wav": [5]])
    try await phone.update()
    #expect(listing.anchor == second)
    phone.service.remove("tone", "chime.wav")
    try await phone.update()
    #expect(listing.anchor == empty)
    #expect(Set([empty, first, second]).count == 3)
  }

  @Test("the name of a clip or tone gives its URL, and the URL gives the name")
  func places() throws {
    let url = try #require(documents.url(of: "chime.wav"))
    #expect(url.path == storage.appending(path: "chime.wav/chime.wav").path)
    #expect(documents.name(at: url) == "chime.wav")
  }

  @Test(
    "a name that leads out of its folder, or is not a sound's, has no URL",
    arguments: ["", ".", "..", "../x.wav", "a/b.wav", ".x.wav", "x.txt", "NSFileProviderRootContainerItemIdentifier"])
  func badNames(_ name: String) { #expect(documents.url(of: name) == nil) }

  @Test(
    "a URL outside the storage, or in another form, has no name, and no file there is written or removed",
    arguments: ["../x.wav/x.wav", "x.wav", "a.wav/b.wav", "a/x.wav/x.wav", "x.wav/../../y.wav/y.wav"])
  func badPlaces(_ path: String) async throws {
    phone.service.addTone("x.wav", [1])
    try await phone.update()
    let url = storage.appending(path: path)
    #expect(documents.name(at: url) == nil)
    #expect(try !documents.provide(at: url))
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data([7]).write(to: url)
    documents.remove(at: url)
    #expect(try Data(contentsOf: url) == Data([7]))
  }

  @Test("a provided copy has the bytes of the clip or tone, is read-only, and can be replaced and removed")
  func provides() async throws {
    phone.service.addTone("chime.wav", [1])
    try await phone.update()
    let url = try #require(documents.url(of: "chime.wav"))
    #expect(try documents.provide(at: url))
    #expect(try Data(contentsOf: url) == Data([1]))
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path(percentEncoded: false))
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o444)
    phone.service.addTone("chime.wav", [2])
    try await phone.update()
    #expect(try documents.provide(at: url))
    #expect(try Data(contentsOf: url) == Data([2]))
    documents.remove(at: url)
    #expect(!FileManager.default.fileExists(atPath: url.path(percentEncoded: false)))
  }

  @Test("a sound that only the app has, and a link in place of a sound, are not provided")
  func notListed() async throws {
    phone.service.addTone("chime.wav", [1])
    try await phone.update()
    _ = try SoundLibrary(container: phone.container).publish([9], as: "own.wav")
    #expect(try !documents.provide(at: try #require(documents.url(of: "own.wav"))))
    let place = phone.container.soundsDirectory.appending(path: "chime.wav")
    try FileManager.default.removeItem(at: place)
    let secret = phone.root.appending(path: "secret")
    try Data([5]).write(to: secret)
    try FileManager.default.createSymbolicLink(at: place, withDestinationURL: secret)
    let url = try #require(documents.url(of: "chime.wav"))
    #expect(try !documents.provide(at: url))
    #expect(!FileManager.default.fileExists(atPath: url.path(percentEncoded: false)))
  }
}
