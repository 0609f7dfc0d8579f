// SPDX-License-Identifier: Apache-2.0

import Foundation
import SpeechEngine
import Testing
import TestSupport

#if os(Linux)
  import Glibc

  @Suite("The memory of the speaker's processes", .timeLimit(.minutes(2)))
  struct WaitingChildMemoryTests {
    /// A process from the system's list.
    private struct ProcessMemory {
      var process: Int32

      /// The direct children.
      var children: [ProcessMemory] {
        get throws { try SystemProcess.children(of: process).map(ProcessMemory.init) }
      }

      /// Returns all readable memory, with one part for each mapping.
      func parts() throws -> [Data] {
        let memory = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/mem"))
        defer { try? memory.close() }
        return try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8).split(separator: "\n")
          .compactMap { line in
            let fields = line.split(separator: " ")
            let bounds = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            // The kernel's own pages contain none of our data, and some cannot be read.
            guard fields[1].hasPrefix("r"), bounds.count == 2, fields.last?.hasPrefix("[v") != true else { return nil }
            try memory.seek(toOffset: bounds[0])
            return try memory.read(upToCount: Int(bounds[1] - bounds[0]))
          }
      }

      static func found(_ bytes: Data, in parts: [Data]) -> Bool {
        bytes.withUnsafeBytes { sought in parts.contains { $0.withUnsafeBytes { found(sought, in: $0) } } }
      }

      /// Returns whether the memory contains the bytes. The search uses the C library, because there are tens of
      /// megabytes.
      private static func found(_ sought: UnsafeRawBufferPointer, in all: UnsafeRawBufferPointer) -> Bool {
        guard let begin = sought.baseAddress, let first = sought.first else { return true }
        var rest = all
        while rest.count >= sought.count, let start = rest.baseAddress {
          guard let place = memchr(start, CInt(first), rest.count - sought.count + 1) else { return false }
          if memcmp(place, begin, sought.count) == 0 { return true }
          rest = UnsafeRawBufferPointer(rebasing: rest[(start.distance(to: place) + 1)...])
        }
        return false
      }
    }

    /// The payer's name, which occurs nowhere else.
    private static let name = "Quibbleworth"

    /// The name in the encodings of the request, of the engine, and of other programs.
    private static let traces: [Data] = [
      Data(name.utf8), name.data(using: .utf32LittleEndian), name.data(using: .utf16LittleEndian),
    ].compactMap(\.self)

    /// Returns a unique run of samples: the loudest sample with its neighbours.
    private static func trace(of speech: Speech) throws -> Data {
      let loudest = try #require(
        speech.samples.indices.max { speech.samples[$0].magnitude < speech.samples[$1].magnitude })
      let run = speech.samples[max(0, loudest - 64)..<min(speech.samples.count, loudest + 64)]
      return run.withUnsafeBytes { Data($0) }
    }

    @Test(
      "the memory of a waiting child and of its parent contains neither words nor sound of earlier requests")
    func waiting() async throws {
      let engine = BuiltSpeaker.engine(speakers: 1)
      let utterance = Utterance(
        voice: "en-us+f2", rate: 160, text: "Received twelve thousand dollars from Mister \(Self.name)")
      let speech = try await engine.speak(utterance)
      _ = try await engine.phonemes(utterance)
      // The process of another voice is started after all that.
      _ = try await engine.speak(BuiltSpeaker.chinese)
      let speaker = ProcessMemory(process: try #require(await engine.speakerProcesses().first))
      let voices = try speaker.children
      #expect(voices.count == 2)
      // The last child to speak has ended, and its replacement may not be ready yet.
      var children: [ProcessMemory] = []
      try await eventually {
        children = try voices.flatMap { try $0.children }
        return children.count >= 4
      }
      #expect(children.count == 4)
      let traces = Self.traces + [try Self.trace(of: speech)]
      for process in voices + children {
        let parts = try process.parts().filter { !$0.isEmpty }
        for trace in traces { #expect(!ProcessMemory.found(trace, in: parts)) }
        // The engine's own words are found, so the search examines the right memory.
        #expect(ProcessMemory.found(Data("espeak-ng-data".utf8), in: parts))
      }
    }
  }
#endif
