// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundHeaders
import SoundLibrary
import Testing
import Waveforms

@testable import NotificationServiceKit

@Suite("The length of tones")
struct ToneDurationTests {
  private func tone(_ phone: PhoneFolder, payload: String? = nil, bundle: URL? = nil) -> PreparedSound {
    var configuration = phone.service().configuration
    configuration.bundle = bundle
    return NotificationService(configuration).sounds.tone(payload: payload)
  }

  private func duration(_ phone: PhoneFolder, payload: String? = nil) -> Int64 {
    tone(phone, payload: payload).duration
  }

  private static func fallback(_ duration: Int64) -> PreparedSound {
    PreparedSound(name: "default.wav", quality: .tone, duration: duration)
  }

  private func bundle(of phone: PhoneFolder, _ name: String, milliseconds: Int) throws -> URL {
    let folder = phone.container.directory.appending(path: "bundle", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(PhoneFolder.sound(milliseconds: milliseconds)).write(to: folder.appending(path: name))
    return folder
  }

  @Test("if no file has the named tone, the length of the system's sound is assumed")
  func assumed() throws {
    let phone = try PhoneFolder()
    for payload in [nil, "default", "cash.wav"] {
      let sound = PreparedSound(
        name: payload ?? "default", quality: .tone, duration: PreparedSound.assumedDuration)
      #expect(tone(phone, payload: payload) == sound)
    }
  }

  @Test("in place of the default sound, a notification names default.wav of the app group, or else of the bundle")
  func defaultFile() throws {
    let phone = try PhoneFolder()
    let bundle = try bundle(of: phone, "default.wav", milliseconds: 7_000)
    for payload in [nil, "default"] {
      #expect(tone(phone, payload: payload, bundle: bundle) == Self.fallback(7_001))
    }
    try phone.publish("default.wav", milliseconds: 5_000)
    #expect(tone(phone, bundle: bundle) == Self.fallback(5_001))
  }

  @Test("default.wav is named as the sound if the named sound is missing or 30 s long")
  func replaced() throws {
    let phone = try PhoneFolder()
    try phone.publish("default.wav", milliseconds: 5_000)
    #expect(tone(phone, payload: "cash.wav") == Self.fallback(5_001))
    try phone.publish("cash.wav", milliseconds: 30_000)
    #expect(tone(phone, payload: "cash.wav") == Self.fallback(5_001))
    try phone.publish("cash.wav", milliseconds: 3_000)
    #expect(tone(phone, payload: "cash.wav") == PreparedSound(name: "cash.wav", quality: .tone, duration: 3_001))
  }

  @Test("a default.wav that iOS would not play is not named as the sound", arguments: [0, 30_000])
  func unplayable(milliseconds: Int) throws {
    let phone = try PhoneFolder()
    if milliseconds > 0 {
      try phone.publish("default.wav", milliseconds: milliseconds)
    } else {
      _ = try phone.library.publish(Array("not a sound".utf8), as: "default.wav")
    }
    #expect(tone(phone).name == "default")
  }

  @Test("the length of a tone file of more than 6 MB is known")
  func largeTone() throws {
    let phone = try PhoneFolder()
    // 29 s at 192,000 Hz.
    let samples = [Int16](repeating: 1, count: 29 * 192_000)
    _ = try phone.library.publish(WAVFile.encode(Waveform(samples: samples, sampleRate: 192_000)), as: "cash.wav")
    #expect(duration(phone, payload: "cash.wav") == 29_001)
  }

  @Test("reading the header of a sound file gives the same result as reading its bytes, even if the file is cut short")
  func header() throws {
    let phone = try PhoneFolder()
    let file = phone.container.directory.appending(path: "sound.wav")
    let bytes = PhoneFolder.sound(milliseconds: 500)
    for count in [bytes.count, 10_000, 60, 44, 20, 11, 0] {
      try Data(bytes.prefix(count)).write(to: file)
      #expect(SoundHeader(ofFileAt: file) == SoundHeader(of: Array(bytes.prefix(count))))
    }
    #expect(SoundHeader(ofFileAt: phone.container.directory.appending(path: "none.wav")) == nil)
    #expect(SoundHeader(ofFileAt: phone.container.directory) == nil)
  }
}
