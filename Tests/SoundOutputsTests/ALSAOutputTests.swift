// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundOutputTestSupport
import SoundOutputs
import Testing
import Waveforms

/// Tests of ALSA without a server: PCMs that write to files or discard their input, and PCMs that do not exist.
@Suite final class ALSAOutputTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: directory) }

  private var path: String { directory.appending(path: "raw").path }
  private var written: [Int16] {
    get throws {
      let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
      return stride(from: 0, to: bytes.count - 1, by: 2).map {
        Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
      }
    }
  }

  @Test("a device with the sound's rate and one channel receives the unchanged samples, followed by silence")
  func unchanged() throws {
    let output = ALSAOutput(device: TestPCMs.file(path))
    let sound = Tone.ramp(milliseconds: 700, rate: 22_050)
    let control = PlayControl()
    #expect(try output.play(sound, volume: .full, control: control) == .heard)
    #expect(control.position == 700)
    output.release()
    output.release()
    let samples = try written
    #expect(Array(samples.prefix(sound.samples.count)) == sound.samples)
    #expect(samples.dropFirst(sound.samples.count).allSatisfy { $0 == 0 })
  }

  @Test("on a sink that swallows the first 300 ms, a sound is complete only with a lead-in of at least 300 ms")
  func leadIn() throws {
    let sound = Tone.ramp(milliseconds: 700, rate: 22_050)
    for (leadIn, isWhole) in [(0, false), (300, true), (500, true)] {
      try? FileManager.default.removeItem(atPath: path)
      var waking = Waking()
      waking.leadInMilliseconds = leadIn
      let output = ALSAOutput(device: TestPCMs.file(path), waking: waking)
      let control = PlayControl()
      #expect(try output.play(sound, volume: .full, control: control) == .heard)
      #expect(control.position == 700, "the lead-in is no part of the sound")
      output.release()
      let heard = try written.dropFirst(300 * 22_050 / 1000).filter { $0 != 0 }
      #expect((heard == sound.samples) == isWhole, "a lead-in of \(leadIn) ms: \(heard.count) samples are heard")
    }
  }

  @Test(
    "the device gets a lead-in whenever it is opened, and none before a second sound; at volume 0 the tone is silent"
  )
  func openings() throws {
    var waking = Waking()
    (waking.leadInMilliseconds, waking.sound) = (100, .tone)
    let output = ALSAOutput(device: TestPCMs.file(path), waking: waking)
    let sound = Waveform(samples: Array(repeating: 9_000, count: 2_205), sampleRate: 22_050)
    // The file is written anew by each opening.
    for isReopened in [false, true] {
      for _ in 0..<2 { #expect(try output.play(sound, volume: .full, control: PlayControl()) == .heard) }
      output.release()
      let samples = try written
      let sounds = Tone.sounds(in: samples, gap: 2)
      #expect(sounds.count == 2 && sounds.first?.lowerBound == 2_205, "opened again: \(isReopened)")
      #expect((30...33).contains(samples.prefix(2_205).max() ?? 0))
    }
    #expect(try output.play(sound, volume: .silent, control: PlayControl()) == .heard)
    output.release()
    #expect(try written.allSatisfy { $0 == 0 })
  }

  @Test("a device with 48,000 Hz and two channels receives the sound at the right pitch in both channels")
  func converted() throws {
    let output = ALSAOutput(device: TestPCMs.stereo48000(path))
    let sound = Tone.sine(1000, milliseconds: 500, rate: 22_050)
    #expect(try output.play(sound, volume: .full, control: PlayControl()) == .heard)
    output.release()
    let samples = try written
    let left = stride(from: 0, to: samples.count - 1, by: 2).map { samples[$0] }
    let right = stride(from: 1, to: samples.count, by: 2).map { samples[$0] }
    #expect(left == right)
    let heard = try #require(Tone.sounds(in: left, gap: 480).first)
    #expect(abs(heard.count - 24_000) < 48)
    #expect(abs(Tone.frequency(of: left[heard], rate: 48_000) - 1000) < 0.2)
    #expect(abs(Int(left.max() ?? 0) - 16_384) < 100)
  }

  @Test("sounds of different rates play one after another")
  func rates() throws {
    let output = ALSAOutput(device: TestPCMs.null)
    for rate in [22_050, 48_000, 8_000, 22_050] {
      let sound = Tone.sine(440, milliseconds: 100, rate: rate)
      #expect(try output.play(sound, volume: .full, control: PlayControl()) == .heard)
    }
  }

  @Test("an empty sound counts as heard at once, and no device is opened")
  func empty() throws {
    let output = ALSAOutput(device: "crier_no_such_pcm")
    #expect(
      try output.play(Waveform(samples: [], sampleRate: 22_050), volume: .full, control: PlayControl()) == .heard)
  }

  @Test(
    "the error for a missing PCM of ALSA names the PCM",
    arguments: ["crier_no_such_pcm", "hw:31,0", "plughw:CARD=None"])
  func missing(device: String) {
    TestPCMs.install()
    let error = #expect(throws: OutputError.self) {
      try ALSAOutput(device: device).play(
        Tone.sine(440, milliseconds: 100, rate: 22_050), volume: .full, control: PlayControl())
    }
    #expect(error?.code == .deviceMissing)
    #expect(error?.output == "alsa:\(device)")
    #expect(error?.description.contains("opening the device") == true)
    #expect(error?.remedy == "choose one of the PCMs that “aplay -L” lists")
  }

  @Test("a missing sound server counts as a lost device")
  func noServer() {
    let error = #expect(throws: OutputError.self) {
      try ALSAOutput(device: TestPCMs.pulse(socket: "unix:\(directory.path)/none")).play(
        Tone.sine(440, milliseconds: 100, rate: 22_050), volume: .full, control: PlayControl())
    }
    #expect(error?.code == .deviceLost)
  }

  @Test("an output that is never used, or is released before use, opens no device")
  func unused() throws {
    let pcm = TestPCMs.file(path)  // It creates its file when it is opened.
    _ = ALSAOutput(device: pcm)
    let output = ALSAOutput(device: pcm)
    output.release()
    #expect(!FileManager.default.fileExists(atPath: path))
    try output.open(rate: 22_050)
    #expect(FileManager.default.fileExists(atPath: path))
  }
}
