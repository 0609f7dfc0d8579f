// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import SoundFiles
import SoundMeasurement
import Testing
import Waveforms

@Suite("The sample rate of a clip", .timeLimit(.minutes(10)))
struct SampleRateTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  @Test(
    "at every sample rate, a clip of each language is as loud and as long as at the voices' own rate",
    arguments: [8_000, 11_025, 16_000, 24_000, 44_100, 48_000])
  func rates(rate: Int) async throws {
    for (index, announcement) in try Workshop.announcements().enumerated() {
      let standard = try await workshop.announcer.render(announcement, into: workshop.library)
      let clip = try await workshop.announcer.render(
        announcement, options: RenderOptions(sampleRate: rate), into: workshop.library)
      let report = try SoundReport.measure(file: clip.report.clip.path)
      #expect(report.sampleRate == rate && clip.report.clip.sampleRate == rate)
      #expect(abs(report.loudnessLUFS + 16) <= 1, "\(index): \(report.loudnessLUFS) LUFS")
      #expect(report.truePeakDBTP <= -1, "\(index): \(report.truePeakDBTP) dBTP")
      #expect(abs(clip.report.loudnessLUFS - report.loudnessLUFS) < 0.02)
      let frames = try SoundFiles.decode(clip.bytes).waveform.samples.count
      let voice = try SoundFiles.decode(standard.bytes).waveform.samples.count
      // The two were mastered with different limits of the peak, which may move an end by some milliseconds.
      #expect(abs(Double(frames) / Double(rate) - Double(voice) / 22_050) < 0.02)
      #expect(clip.report.text == standard.report.text && clip.report.clip.name != standard.report.clip.name)
    }
  }

  @Test("a clip at the voices' own rate equals one without a requested rate, and equal rates give equal bytes")
  func names() async throws {
    let payment = try Workshop.payment()
    func bytes(_ options: RenderOptions) async throws -> (name: String, bytes: [UInt8]) {
      let clip = try await workshop.announcer.render(payment, options: options, into: nil)
      return (clip.report.clip.name, clip.bytes)
    }
    let plain = try await bytes(RenderOptions())
    #expect(try await bytes(RenderOptions(sampleRate: 22_050)) == plain)
    let low = try await bytes(RenderOptions(sampleRate: 8_000))
    #expect(try await bytes(RenderOptions(sampleRate: 8_000)) == low)
    #expect(try await bytes(RenderOptions(sampleRate: 16_000)).name != low.name)
    #expect(low.bytes.count < plain.bytes.count / 2)
  }

  @Test(
    "a clip in every format has the requested sample rate and the usual loudness, and is found again under its name",
    arguments: SoundFormat.Container.allCases.flatMap { container in
      SoundFormat.encodings(of: container).map { SoundFormat(container: container, encoding: $0) }
    })
  func formats(format: SoundFormat) async throws {
    let payment = try Workshop.payment("1048.05", "USD", locale: "en-US")
    let options = RenderOptions(format: format, sampleRate: 8_000)
    let clip = try await workshop.announcer.render(payment, options: options, into: workshop.library)
    let report = try SoundReport.measure(file: clip.report.clip.path)
    #expect(report.sampleRate == 8_000 && abs(report.loudnessLUFS + 16) <= 1 && report.truePeakDBTP <= -1)
    #expect(try await workshop.announcer.render(payment, options: options, into: workshop.library).report.cached)
  }

  @Test("a sample rate that Crier does not offer is refused", arguments: [0, -1, 7_999, 48_001, 96_000, .max])
  func refused(rate: Int) async throws {
    let payment = try Workshop.payment()
    let error = await #expect(throws: AnnouncerError.self) {
      try await workshop.announcer.render(payment, options: RenderOptions(sampleRate: rate), into: nil)
    }
    #expect(error?.code == .optionInvalid && error?.description.contains("give 8000 to 48000 Hz") == true)
  }
}
