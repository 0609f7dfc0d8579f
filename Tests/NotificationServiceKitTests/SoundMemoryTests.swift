// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DownloadTestSupport
import Foundation
import PushMessages
import SoundDownloads
import SoundLibrary
import Testing
import Waveforms

@testable import NotificationServiceKit

@Suite("The memory that sounds take", .timeLimit(.minutes(5)))
struct SoundMemoryTests {
  /// A step of a test: the time of a work that holds memory.
  private final class Work: Sendable {
    let began = Event()
    let end = Event()
  }

  private func begin(_ bytes: Int, in memory: SoundMemory, _ work: Work) -> Task<Bool, Never> {
    Task {
      await memory.hold(bytes) {
        work.began.happen()
        await work.end.wait()
        return true
      } ?? false
    }
  }

  @Test("a large sound waits until another large sound has left the memory, and a small sound does not")
  func oneLargeSound() async {
    let memory = SoundMemory()
    let (first, second, small) = (Work(), Work(), Work())
    let firstTask = begin(SoundMemory.mostBytes - 600_000, in: memory, first)
    await first.began.wait()
    let secondTask = begin(SoundMemory.mostBytes, in: memory, second)
    let smallTask = begin(600_000, in: memory, small)
    await small.began.wait()
    #expect(memory.mostHeld == SoundMemory.mostBytes)
    small.end.happen()
    first.end.happen()
    await second.began.wait()
    second.end.happen()
    #expect(await firstTask.value)
    #expect(await secondTask.value)
    #expect(await smallTask.value)
    #expect(memory.mostHeld == SoundMemory.mostBytes)
  }

  @Test("a clip of usual length does not wait for a slow download that has all bytes for large sounds")
  func usualClip() async {
    let memory = SoundMemory()
    let large = Work()
    let task = begin(SoundMemory.mostBytes, in: memory, large)
    await large.began.wait()
    #expect(await memory.hold(SoundMemory.smallBytes) { true } == true)
    large.end.happen()
    #expect(await task.value)
  }

  @Test("a sound that needs more than the limit of memory is read alone, and is not refused")
  func tooLarge() async {
    let memory = SoundMemory()
    #expect(await memory.hold(.max) { true } == true)
    #expect(await memory.hold(-1) { true } == true)
    #expect(memory.mostHeld == SoundMemory.mostBytes)
  }

  @Test("cancelled work stops waiting for memory, and the next work begins")
  func cancelled() async {
    let memory = SoundMemory()
    let (first, second) = (Work(), Work())
    let firstTask = begin(SoundMemory.mostBytes, in: memory, first)
    await first.began.wait()
    let secondTask = begin(SoundMemory.mostBytes, in: memory, second)
    secondTask.cancel()
    #expect(await secondTask.value == false)
    first.end.happen()
    #expect(await firstTask.value)
    #expect(await memory.hold(SoundMemory.mostBytes) { true } == true)
  }

  @Test("the memory of a sound is free again after an error")
  func failed() async {
    struct Failure: Error {}
    let memory = SoundMemory()
    for _ in 1...2 {
      await #expect(throws: Failure.self) {
        _ = try await memory.hold(SoundMemory.mostBytes) { () async throws(Failure) -> Bool in throw Failure() }
      }
    }
  }

  private func payload(soundURL: String) -> Data {
    Data(#"{"aps":{"alert":"Hello","sound":"default"},"sound-url":"\#(soundURL)"}"#.utf8)
  }

  @Test("a downloaded message of more than 30 s at 48,000 Hz is refused before it is fetched")
  func largeSound() async throws {
    let phone = try PhoneFolder()
    let bytes = [UInt8](repeating: 0, count: AnnouncementSounds.mostBytesFromElsewhere + 1)
    let service = phone.service { _, _ in
      SoundAnswer(200, ["Content-Type": "audio/wav", "Content-Length": "\(bytes.count)"], [bytes])
    }
    let handOver = await service.handOver(payload(soundURL: "https://sounds.example/long.wav")).first
    #expect(handOver?.sound == .systemDefault)
    #expect(phone.errorCodes == [.downloadFailed])
    #expect(try phone.library.names() == [])
  }

  @Test("a clip with a declared size beyond the limit is not fetched, and the process does not crash")
  func hugeClip() async throws {
    let phone = try PhoneFolder()
    let service = phone.service { _, _ in
      Issue.record("It is fetched.")
      return SoundAnswer(404, [:], [])
    }
    for bytes in [AnnouncementSounds.mostClipBytes + 1, Int.max] {
      let crier =
        #"{"id":"p\#(bytes % 7)","locale":"en-US","kind":"received","amount":"1.00","currency":"USD","clip":{"name":"#
        + #""\#(String(repeating: "a", count: 64)).wav","url":"https://sounds.example/clip.wav","sha256":"#
        + #""\#(String(repeating: "a", count: 64))","bytes":\#(bytes),"duration_ms":\#(Int.max)}}"#
      let payload = Data(#"{"aps":{"alert":"Hello","sound":"default"},"crier":\#(crier)}"#.utf8)
      let handOver = await service.handOver(payload).first
      #expect(handOver?.sound == .systemDefault)
    }
  }

  @Test("a stored clip whose declared size is beyond the limit is not read")
  func largeClip() throws {
    let phone = try PhoneFolder()
    let name = String(repeating: "ab", count: 32) + ".wav"
    try phone.publish(name)
    let url = try #require(URL(string: "https://sounds.example/clip.wav"))
    let clip = try PushedClip(
      name: name, url: url, sha256: String(repeating: "a", count: 64), bytes: AnnouncementSounds.mostClipBytes + 1,
      durationMilliseconds: 100)
    #expect(phone.service().sounds.stored(clip) == nil)
  }

  #if os(Linux)
    /// Returns a value of `/proc/<pid>/status` in KiB; nil if the process has ended.
    private static func status(_ key: String, of process: Process) -> Int? {
      let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
      let line = text?.split(separator: "\n").first { $0.hasPrefix("\(key):") }
      return line.flatMap { Int($0.filter(\.isNumber)) }
    }

    /// Runs an extension process, gives it lines and returns the most anonymous pages that it had, in KiB.
    private func peak(_ arguments: [String], lines: [String]) throws -> Int {
      let (process, input, output) = (Process(), Pipe(), Pipe())
      process.executableURL = EndedProcessTests.program
      process.arguments = arguments
      (process.standardInput, process.standardOutput) = (input, output)
      process.standardError = FileHandle.nullDevice
      try process.run()
      for line in lines { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }
      try input.fileHandleForWriting.close()
      var most = 0
      while process.isRunning {
        most = max(most, Self.status("RssAnon", of: process) ?? 0)
        usleep(500)  // The time between two looks.
      }
      return most
    }

    @Test("the largest sounds take at most 20 MB more memory than an idle process")
    func largest() throws {
      let phone = try PhoneFolder()
      // Three words of 9.5 s, a clip and a tone of nearly 30 s.
      try phone.installPack(tokens: ["Received", "two", "dollars"], milliseconds: 9_500)
      func sound(channels: Int) -> [UInt8] {
        WAVFile.encode(Waveform(samples: [Int16](repeating: 99, count: 29_900 * 48 * channels), sampleRate: 48_000))
      }
      let clip = sound(channels: 1)
      var lines: [String] = []
      for number in 1...6 {
        let isStored = number.isMultiple(of: 2)
        let name = String(repeating: "\(number)", count: 64) + ".wav"
        if isStored { _ = try phone.library.publish(clip, as: name) }
        let push = TestPush(
          id: "p\(number)", sequence: nil, hasTokens: !isStored, clip: isStored ? clip : nil, clipName: name)
        let payload = String(decoding: try push.payload, as: UTF8.self)
        lines.append(#"{"do":"push","request":"r\#(number)","payload":\#(payload)}"#)
      }
      _ = try phone.library.publish(sound(channels: 2), as: "default.wav")
      let settings = phone.container.directory.appending(path: "settings.json")
      let path = phone.container.directory.path(percentEncoded: false)
      try Data(#"{"container":"\#(path)","budget":6000}"#.utf8).write(to: settings)
      let empty = try peak(["empty"], lines: [])
      let most = try peak([settings.path(percentEncoded: false)], lines: lines)
      #expect(empty > 0)
      #expect(most - empty <= 20_480, "The extension had \(most) KiB, and the empty process \(empty) KiB.")
    }
  #endif
}
