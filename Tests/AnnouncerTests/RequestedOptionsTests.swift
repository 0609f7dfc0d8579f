// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundFiles
import Testing

@Suite("Requested options")
struct RequestedOptionsTests {
  private func requested(_ change: (inout AnnouncementRequest.Options) -> Void) -> AnnouncementRequest.Options {
    var options = AnnouncementRequest.Options()
    change(&options)
    return options
  }

  @Test("a request without options uses the base options")
  func nothing() throws {
    let base = RenderOptions(
      method: .clips, rate: 120, format: SoundFormat(container: .caf, encoding: .ulaw), defaultLocale: "hi-IN")
    #expect(try RenderOptions(.init(), defaults: .init(), base: base) == base)
    #expect(try RenderOptions(.init(), defaults: .init()) == RenderOptions())
  }

  @Test("the options of a request take precedence over the locale and the pack of its key")
  func said() throws {
    let options = try RenderOptions(
      requested {
        ($0.method, $0.voice, $0.rate, $0.pack) = ("auto", "en-us", 200, "own")
        ($0.format, $0.encoding, $0.sampleRate) = ("aiff", "alaw", 8_000)
      }, defaults: .init(locale: "ja-JP", pack: "preferred"),
      base: RenderOptions(method: .clips, voice: "v", rate: 100, defaultLocale: "hi-IN"))
    #expect(options.method == .auto && options.voice == "en-us" && options.rate == 200 && options.pack == "own")
    #expect(options.format == SoundFormat(container: .aiff, encoding: .alaw) && options.sampleRate == 8_000)
    #expect(options.preferredPack == "preferred" && options.defaultLocale == "ja-JP")
  }

  @Test(
    "an unknown method, format or encoding is refused with the choices, and the error does not repeat its name",
    arguments: [("method", "sing"), ("format", "mp3"), ("encoding", "opus"), ("method", ""), ("format", "WAV")])
  func unknown(option: String, name: String) {
    let requested = requested { options in
      switch option {
      case "method": options.method = name
      case "format": options.format = name
      default: options.encoding = name
      }
    }
    let error = #expect(throws: AnnouncerError.self) { try RenderOptions(requested, defaults: .init()) }
    #expect(
      error?.code == .optionInvalid
        && error?.description.hasPrefix(
          "\(option): unknown \(option); use") == true
    )
    if !name.isEmpty { #expect(error?.description.contains(name) == false) }
  }

  @Test("options that exclude each other are refused")
  func together() {
    for requested in [
      requested { ($0.method, $0.pack) = ("speech", "p") }, requested { ($0.format, $0.encoding) = ("caf", "ima4") },
      requested { $0.rate = 79 },
      requested { $0.rate = 451 },
    ] {
      let error = #expect(throws: AnnouncerError.self) { try RenderOptions(requested, defaults: .init()) }
      #expect(error?.code == .optionInvalid)
    }
  }

  @Test("a request can choose the engine even if its key has a preferred pack")
  func preferredWithSpeech() throws {
    let options = try RenderOptions(requested { $0.method = "speech" }, defaults: .init(pack: "p"))
    #expect(options.method == .speech && options.pack == nil)
  }
}

@Suite("The preferred pack")
struct PreferredPackTests {
  private func options(_ id: String?, _ method: RenderOptions.Method = .auto) -> RenderOptions {
    var options = RenderOptions(method: method)
    options.preferredPack = id
    return options
  }

  @Test("the preferred pack of a key speaks announcements of its locale before other packs that have all words")
  func preferred() async throws {
    let workshop = try Workshop()
    _ = try await workshop.recordedAnnouncer(in: "zh-CN", id: "a")
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", id: "b")
    let payment = try Workshop.payment()
    #expect(try await announcer.render(payment, into: nil).report.voice == "a")
    #expect(try await announcer.render(payment, options: options("b"), into: nil).report.voice == "b")
    #expect(try await announcer.render(payment, options: options("b", .clips), into: nil).report.voice == "b")
  }

  @Test("the preferred pack is skipped if it is missing or of another locale, or if the request names the engine")
  func passedOver() async throws {
    let workshop = try Workshop()
    _ = try await workshop.recordedAnnouncer(in: "en-US", id: "english")
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", id: "voice")
    let payment = try Workshop.payment()
    for id in ["nobody", "english", ""] {
      #expect(try await announcer.render(payment, options: options(id), into: nil).report.voice == "voice")
    }
    #expect(
      try await announcer.render(payment, options: options("voice", .speech), into: nil).report.method == "speech")
    var fast = options("voice")
    fast.rate = 200
    #expect(try await announcer.render(payment, options: fast, into: nil).report.method == "speech")
  }

  @Test("the preferred pack is skipped if its files were changed")
  func broken() async throws {
    let workshop = try Workshop()
    _ = try await workshop.recordedAnnouncer(in: "zh-CN", id: "voice")
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", id: "broken")
    let pack = workshop.voices.appending(path: "broken")
    let names = try FileManager.default.contentsOfDirectory(atPath: pack.path).filter { $0.hasSuffix(".wav") }.sorted()
    let (one, other) = (pack.appending(path: names[3]), pack.appending(path: names[4]))
    try FileManager.default.removeItem(at: one)
    try FileManager.default.copyItem(at: other, to: one)
    let clip = try await announcer.render(try Workshop.payment(), options: options("broken"), into: nil)
    #expect(clip.report.voice == "voice")
  }

  @Test("a pack that the request names takes precedence over the preferred pack")
  func askedFor() async throws {
    let workshop = try Workshop()
    _ = try await workshop.recordedAnnouncer(in: "zh-CN", id: "a")
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", id: "b")
    var options = options("b")
    options.pack = "a"
    #expect(try await announcer.render(try Workshop.payment(), options: options, into: nil).report.voice == "a")
  }
}
