// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import DownloadTestSupport
import Foundation
import SoundDownloads
import SoundLibrary
import TestSupport
import Testing
import Waveforms

@testable import NotificationServiceKit

@Suite("The sound of a notification", .timeLimit(.minutes(5)))
struct NotificationSoundTests {
  private static let words = ["Received", "two", "dollars", "five", "dollar", "one"]
  private static let clip = PhoneFolder.sound(milliseconds: 100)

  private static func answer(_ bytes: [UInt8], status: Int = 200) -> SoundAnswer {
    SoundAnswer(
      status: status, fields: ["Content-Type": "audio/wav"],
      body: AsyncThrowingStream { continuation in
        continuation.yield(bytes)
        continuation.finish()
      })
  }

  @Test("a phone with the voice pack joins the clip without a network, and stores it under a separate name")
  func stitched() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let push = TestPush(clip: Self.clip)
    let handOver = try #require(await phone.service().handOver(push.payload).first)
    guard case .named(let name) = handOver.sound else { throw NotificationServiceError(.soundRefused) }
    #expect(SoundLibrary.isRenderedClip(name))
    #expect(name != push.clipName)
    let bytes = try #require(try phone.library.contents(of: name))
    let (waveform, _) = try WAVFile.decode(bytes)
    // Three clips of 100 ms with the pauses of the phrase book and silence at both ends.
    #expect((300...600).contains(waveform.durationMilliseconds))
    #expect(phone.errorCodes.isEmpty)
  }

  @Test("a voice pack's words that say another amount than the push are not heard")
  func readBack() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let push = TestPush(amount: "2.00", spokenAmount: "5.00")
    let handOver = try #require(await phone.service().handOver(push.payload).first)
    #expect(handOver.sound == .systemDefault)
    #expect(phone.errorCodes == [.amountMismatch])
  }

  @Test("a voice pack's words that say an amount are refused if the push has no amount")
  func amountFromNowhere() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    var payload = String(decoding: try TestPush().payload, as: UTF8.self)
    payload = payload.replacing(#""amount":"2.00","#, with: "").replacing(#""currency":"USD","#, with: "")
    #expect(await phone.service().handOver(Data(payload.utf8)).first?.sound == .systemDefault)
    #expect(phone.errorCodes == [.amountMismatch])
  }

  @Test("a recording that differs from the pack's manifest is not used")
  func damagedPack() async throws {
    let phone = try PhoneFolder()
    let folder = try phone.installPack(tokens: Self.words)
    try Data(PhoneFolder.sound(milliseconds: 100, level: 77)).write(to: folder.appending(path: "1.wav"))
    #expect(try await phone.service().handOver(TestPush().payload).first?.sound == .systemDefault)
    #expect(phone.errorCodes == [.packDamaged])
  }

  @Test("if the pack lacks a word of the announcement, the clip is downloaded")
  func missingWord() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: ["Received", "dollars"])
    let push = TestPush(clip: Self.clip)
    let service = phone.service(script: { _, _ in Self.answer(Self.clip) })
    #expect(try await service.handOver(push.payload).first?.sound == .named(push.clipName))
    #expect(phone.errorCodes == [.wordsUnavailable])
  }

  @Test("a clip that the app group already has is used without a network")
  func stored() async throws {
    let phone = try PhoneFolder()
    let push = TestPush(hasTokens: false, clip: Self.clip)
    _ = try phone.library.publish(Self.clip, as: push.clipName)
    #expect(try await phone.service().handOver(push.payload).first?.sound == .named(push.clipName))
  }

  @Test("a stored file with the clip's name but other bytes is not used")
  func storedOtherBytes() async throws {
    let phone = try PhoneFolder()
    let push = TestPush(hasTokens: false, clip: Self.clip)
    _ = try phone.library.publish(PhoneFolder.sound(milliseconds: 100, level: 5), as: push.clipName)
    #expect(try await phone.service().handOver(push.payload).first?.sound == .systemDefault)
  }

  @Test("a clip is downloaded by its URL, and tried again while the server has a fault")
  func downloaded() async throws {
    let phone = try PhoneFolder()
    let push = TestPush(hasTokens: false, clip: Self.clip)
    let service = phone.service(script: { _, number in
      number < 3 ? Self.answer([], status: 503) : Self.answer(Self.clip)
    })
    #expect(try await service.handOver(push.payload).first?.sound == .named(push.clipName))
    #expect(try phone.library.contents(of: push.clipName) == Self.clip)
  }

  @Test("a downloaded clip with another digest is refused, and leaves no file")
  func wrongDigest() async throws {
    let phone = try PhoneFolder()
    let push = TestPush(hasTokens: false, clip: Self.clip)
    let service = phone.service(script: { _, _ in Self.answer(PhoneFolder.sound(milliseconds: 100, level: 9)) })
    #expect(try await service.handOver(push.payload).first?.sound == .systemDefault)
    #expect(try phone.library.names() == [])
    #expect(phone.errorCodes == [.downloadFailed])
  }

  @Test("if there is no announcement, the fixed phrase is heard, else the chosen tone, else the default sound")
  func otherSounds() async throws {
    let phone = try PhoneFolder()
    let push = TestPush(hasTokens: false)
    let service = phone.service()
    #expect(try await service.handOver(push.payload).first?.sound == .systemDefault)
    try phone.publish("chime.wav")
    try FileTonePreference(container: phone.container).setTone("chime.wav")
    #expect(
      try await service.handOver(TestPush(id: "p2", sequence: 2, hasTokens: false).payload).first?.sound
        == .named("chime.wav"))
    try phone.publish("received.en-US.wav")
    #expect(
      try await service.handOver(TestPush(id: "p3", sequence: 3, hasTokens: false).payload).first?.sound
        == .named("received.en-US.wav"))
  }

  @Test("the chosen tone takes precedence over the sound that the push names, and that sound over the default")
  func payloadSound() async throws {
    let phone = try PhoneFolder()
    let service = phone.service()
    let named = TestPush(hasTokens: false, sound: "cash.wav")
    #expect(try await service.handOver(named.payload).first?.sound == .named("cash.wav"))
    try phone.publish("chime.wav")
    try FileTonePreference(container: phone.container).setTone("chime.wav")
    let again = TestPush(id: "p2", sequence: 2, hasTokens: false, sound: "cash.wav")
    #expect(try await service.handOver(again.payload).first?.sound == .named("chime.wav"))
  }

  @Test("a fixed phrase of 30 s or more is never chosen", arguments: [29_999, 30_000])
  func longPhrase(milliseconds: Int) throws {
    let phone = try PhoneFolder()
    try phone.publish("received.en-US.wav", milliseconds: milliseconds)
    let duration = phone.service().sounds.duration(of: "received.en-US.wav")
    #expect((duration == nil) == (milliseconds >= 30_000))
  }

  @Test("the search for a sound ends with the first announcement, and keeps the best sound until then")
  func search() {
    var search = SoundSearch(hasClip: true, hasTokens: true, hasKind: true, hasSoundURL: false)
    let tone = PreparedSound(name: "default", quality: .tone, duration: 1)
    let phrase = PreparedSound(name: "received.wav", quality: .fixedPhrase, duration: 1)
    let exact = PreparedSound(name: "clip.wav", quality: .announcement, duration: 1)
    #expect(search.next == .tone)
    search.end(.tone, with: tone)
    #expect(search.best == tone)
    search.end(.fixedPhrase, with: phrase)
    search.end(.stored, with: nil)
    #expect(search.best == phrase)
    #expect(search.next == .stitched)
    search.end(.stitched, with: nil)
    #expect(search.next == .downloaded)
    search.end(.downloaded, with: exact)
    #expect(search.best == exact)
    #expect(search.next == nil)
  }

  @Test("a process removes the clips that were not used for the longest time, and keeps tones and recent clips")
  func pruning() async throws {
    let phone = try PhoneFolder()
    let names = ["a", "b"].map { String(repeating: $0, count: 64) + ".wav" }
    for name in names + ["ding.wav"] { try phone.publish(name) }
    for name in [names[0], "ding.wav"] {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
        ofItemAtPath: phone.container.soundsDirectory.appending(path: name).path)
    }
    var configuration = phone.service().configuration
    configuration.keeping = SoundKeeping(mostBytes: 0)
    let service = NotificationService(configuration)
    await service.catchUp()
    try await eventually("two sounds are left") { try phone.library.names().count <= 2 }
    #expect(Set(try phone.library.names()) == [names[1], "ding.wav"])
  }
}
