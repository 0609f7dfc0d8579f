// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundFiles
import Testing
import Waveforms

@testable import VoicePackMaking

@Suite("Recording: any sound file becomes one channel at 22,050 Hz")
struct RecordingFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func level(_ recording: Recording) -> Double {
    amplitude(of: 1000, in: recording.samples[2205..<19_845], rate: 22_050)
  }

  private func failure(_ name: String, _ bytes: [UInt8]) throws -> PackMakingError? {
    let file = try folder.file(name, bytes)
    return #expect(throws: PackMakingError.self) { try Recording.read(file) }
  }

  @Test("a recording keeps its level at every sample depth", arguments: Depth.allCases)
  func depths(depth: Depth) throws {
    let file = try folder.wav("a.wav", Signals.tone(1000, 0.5, seconds: 1), depth: depth)
    let recording = try Recording.read(file)
    #expect(abs(recording.samples.count - 22_050) <= 1)
    #expect(abs(decibels(level(recording) / 0.5)) < 0.05)
  }

  @Test(
    "a recording at a rate from 8 to 192 kHz is converted to 22,050 Hz",
    arguments: [8000, 11_025, 22_050, 44_100, 96_000, 192_000])
  func rates(rate: Int) throws {
    let file = try folder.wav("a.wav", Signals.tone(1000, 0.5, seconds: 1, rate: rate), rate: rate)
    let recording = try Recording.read(file)
    #expect(abs(recording.samples.count - 22_050) <= 1)
    #expect(abs(decibels(level(recording) / 0.5)) < 0.05)
  }

  @Test(
    "AIFF and CAF recordings are read like WAV recordings, whatever the file's name",
    arguments: [SoundFormat.Container.aiff, .caf])
  func containers(container: SoundFormat.Container) throws {
    let tone = Signals.waveform(Signals.tone(1000, 0.5, seconds: 1, rate: 22_050))
    let format = SoundFormat(container: container, encoding: .pcm16)
    let file = try folder.file("a.wav", SoundFiles.encode(tone, as: format))
    let recording = try Recording.read(file)
    #expect(recording.samples.count == tone.samples.count)
    #expect(zip(recording.samples, tone.samples).allSatisfy { abs($0 - Float($1) / 32_768) < 0.000_02 })
  }

  @Test("a truncated WAV or AIFF file is refused, because half a word would be taken for the whole")
  func cutOff() throws {
    let tone = Signals.waveform(Signals.tone(1000, 0.5, seconds: 1, rate: 22_050))
    for container in [SoundFormat.Container.wav, .aiff] {
      let bytes = try SoundFiles.encode(tone, as: SoundFormat(container: container, encoding: .pcm16))
      let error = try failure("a.wav", Array(bytes.prefix(bytes.count / 2)))
      #expect(error?.code == .recordingUnreadable)
      #expect(error?.problem.hasPrefix("is cut off") == true)
    }
  }

  @Test("the channels of a recording are averaged, so a voice that is in both keeps its level")
  func stereo() throws {
    let tone = Signals.tone(1000, 0.5, seconds: 1)
    let recording = try Recording.read(folder.wav("a.wav", tone, tone))
    #expect(abs(decibels(level(recording) / 0.5)) < 0.05)
  }

  @Test("an unused channel of a recording does not halve the voice, even with noise and a DC offset")
  func unusedChannel() throws {
    let tone = Signals.tone(1000, 0.5, seconds: 1)
    let unused = Signals.noise(0.002, seconds: 1).map { $0 + 0.1 }
    for file in [try folder.wav("a.wav", tone, unused), try folder.wav("b.wav", unused, tone)] {
      #expect(abs(decibels(level(try Recording.read(file)) / 0.5)) < 0.05)
    }
  }

  @Test("a channel with reversed polarity does not cancel a recording's other channel")
  func oppositeChannel() throws {
    let tone = Signals.tone(1000, 0.5, seconds: 1)
    let recording = try Recording.read(folder.wav("a.wav", tone, tone.map { -0.97 * $0 }))
    #expect(abs(decibels(level(recording) / 0.5)) < 0.05)
  }

  @Test("three or more equal samples at full scale count as clipped, and a tone just below full scale is not clipped")
  func clipping() throws {
    let clipped = Signals.tone(200, 1.5, seconds: 1)
    let recording = try Recording.read(folder.wav("a.wav", clipped))
    let expected = clipped.count { abs($0) >= 1 }
    #expect(abs(recording.clippedSampleCount - expected) < expected / 100)
    let whole = try Recording.read(folder.wav("b.wav", Signals.tone(200, 0.9999, seconds: 1)))
    #expect(whole.clippedSampleCount == 0)
  }

  @Test("the sound of a speech engine is used unchanged, or is converted")
  func waveforms() throws {
    let tone = Signals.waveform(Signals.tone(1000, 0.5, seconds: 1, rate: 22_050).map { $0 + 0.1 })
    let recording = try Recording(tone)
    #expect(zip(recording.samples, tone.samples).allSatisfy { abs($0 - Float($1) / 32_768 + 0.1) < 0.000_2 })
    let other = try Recording(Signals.waveform(Signals.tone(1000, 0.5, seconds: 1, rate: 16_000), rate: 16_000))
    #expect(abs(decibels(level(other) / 0.5)) < 0.05)
  }

  @Test("reading a recording leaves its file unchanged")
  func leavesTheFile() throws {
    let file = try folder.wav("a.wav", Signals.take())
    let before = try Data(contentsOf: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file.path)
    _ = try Recording.read(file)
    #expect(try Data(contentsOf: file) == before)
  }

  @Test("the error for a recording that is not a sound names the file")
  func noSound() throws {
    for bytes in [Array("not a sound".utf8), [], Array("RIFF".utf8)] {
      let error = try failure("words.wav", bytes)
      #expect(error?.code == .recordingUnreadable)
      #expect(error?.subject == "words.wav")
    }
  }

  @Test("a missing recording, and a folder in its place, are refused")
  func noFile() throws {
    for url in [folder.url.appending(path: "missing.wav"), folder.url] {
      let error = #expect(throws: PackMakingError.self) { try Recording.read(url) }
      #expect(error?.code == .recordingUnreadable)
    }
  }

  @Test("a recording at a rate outside 4 to 192 kHz is refused", arguments: [3000, 200_000])
  func refusesRates(rate: Int) throws {
    let file = try folder.wav("a.wav", Signals.silence(seconds: 0.1, rate: rate), rate: rate)
    let error = #expect(throws: PackMakingError.self) { try Recording.read(file) }
    #expect(error?.code == .recordingUnreadable)
  }

  @Test(
    "a recording with samples that are not numbers, or far above full scale, is refused",
    arguments: [Double.nan, .infinity, 1e9])
  func refusesWildSamples(value: Double) throws {
    let file = try folder.wav("a.wav", [0, value, 0], depth: .float32)
    let error = #expect(throws: PackMakingError.self) { try Recording.read(file) }
    #expect(error?.code == .recordingUnreadable)
  }

  @Test("a recording of more than 512 MiB is refused without being read")
  func refusesLargeFiles() throws {
    let file = try folder.wav("large.wav", Signals.take())
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: UInt64(Recording.maximumFileSize) + 1)  // The file takes no space on the disk.
    try handle.close()
    let error = #expect(throws: PackMakingError.self) { try Recording.read(file) }
    #expect(error?.description.contains("512 MiB") == true)
  }

  @Test("a recording of more than 2 h is refused without being read")
  func refusesLongRecordings() throws {
    let rate = 8000
    let file = try folder.wav("long.wav", [0], rate: rate, depth: .bits8)
    var bytes = [UInt8](try Data(contentsOf: file))
    let length = rate * (Recording.maximumSeconds + 1)
    for place in 0..<4 {
      bytes[40 + place] = UInt8(truncatingIfNeeded: length >> (place * 8))
      bytes[4 + place] = UInt8(truncatingIfNeeded: (length + 36) >> (place * 8))
    }
    try Data(bytes).write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: UInt64(length + 44))
    try handle.close()
    let error = #expect(throws: PackMakingError.self) { try Recording.read(file) }
    #expect(error?.code == .tooLong)
  }
}
