// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Mastering
import SoundFiles
import SpeakingPlans
import SpeechEngine
import SpeechServers
import VoicePacks
import Waveforms

/// The part of the pipeline in which speech servers speak.
///
/// If any of the announcement's servers fails, the engine or a pack speaks the whole announcement. The clip then has
/// the same bytes and the same name as on an installation without speech servers.
extension Announcer {
  /// The result of a request to the speech servers.
  enum Served {
    case clip(Rendered)
    /// Another voice must speak. The reason is a code for the report; it is nil if no server was responsible for the
    /// words.
    case other(reason: String?)
  }

  /// Returns the server that the options name as the voice; nil if they name none.
  ///
  /// - Throws: `.optionInvalid` for options that do not work with the server.
  func namedServer(
    for announcement: Announcement, _ options: RenderOptions
  ) throws -> SpeechServerVoice? {
    guard let voice = speechServers.voice(named: options.voice) else { return nil }
    let locale = try phraseBooks.book(for: announcement.locale ?? options.defaultLocale).locale
    let id = voice.server.id
    guard voice.server.speaks(locale) else {
      throw AnnouncerError(
        .optionInvalid, "voice \(id)", "does not speak \(locale)",
        remedy: "choose another voice, or add \(locale) to the locales of this speech server")
    }
    let other = options.rate != nil ? "rate" : options.pack != nil ? "pack" : options.method == .clips ? "method" : nil
    if let other {
      throw AnnouncerError(
        .optionInvalid, other, "cannot be used with the speech server \(id)", remedy: "leave one of them out")
    }
    return voice
  }

  /// Lets speech servers speak the words that have no recording.
  ///
  /// - Parameters:
  ///   - options: The options, without the name of a server.
  ///   - named: The server that the request names; nil to choose among the servers of the settings.
  /// - Throws: The errors of `render(_:options:into:permit:)`, except those of the servers and the engine.
  func served(
    _ announcement: Announcement, _ options: RenderOptions, by named: SpeechServerVoice?, into place: ClipPlace,
    _ permit: NewClipPermit
  ) async throws -> Served {
    // If the request contains a voice, a rate or the method `clips`, no speech server is used.
    guard !speechServers.voices.isEmpty, options.voice == nil, options.rate == nil, options.method != .clips else {
      return .other(reason: nil)
    }
    let written = try ways(announcement, options, requiresVoices: false) { script, pauses, options in
      named == nil ? try packs.recordedPack(for: script, pauses: pauses, options: options) : nil
    }
    // No parameter for the speaking rate works with all servers, so ways with a faster rate are left out.
    let ways = written.ways.filter { !$0.plan.isRecorded && !$0.attempt.taken.contains(.rate) }
    guard let whole = ways.first else { return .other(reason: nil) }
    var servers: [String: SpeakingServer] = [:]
    var reason: String?
    // `longest` is the longest time limit of the servers. No step begins after this time, and each step takes at most
    // this time again, so a payment waits for at most twice the limit.
    let start = ContinuousClock.now
    let longest = (named.map { [$0] } ?? speechServers.voices).map(\.server.limits.whole).max() ?? .zero
    func isOver() -> Bool { start.duration(to: .now) >= longest }
    for language in whole.plan.spokenLanguages {
      if isOver() { return .other(reason: reason ?? SpeechServerError.Code.timedOut.rawValue) }
      do throws(SpeechServerError) {
        servers[language] = try await speechServers.server(for: language, in: whole.script.locale, named: named)
      } catch {
        reason = reason ?? error.reason
        // If the server for the language of the sentence fails, no other server speaks a name in the sentence.
        if language == whole.script.locale { return .other(reason: reason) }
      }
    }
    guard !servers.isEmpty else { return .other(reason: reason) }
    for way in ways {
      if isOver() { return .other(reason: reason ?? SpeechServerError.Code.timedOut.rawValue) }
      let stretches = try stretches(of: way, saying: announcement, by: servers)
      let kept = stretches.joined().firstReason
      reason = reason ?? kept
      guard stretches.joined().contains(where: \.isSent), stretches.joined().allSatisfy(\.hasVoice) else { continue }
      switch try await make(announcement, options, way, stretches, written, into: place, permit, kept) {
      case .clip(let made): return .clip(made)
      case .other(let why?):
        return .other(reason: why)
      case .other(nil):
        // The announcement is too long. A shorter form of it may fit.
        reason = "too_long"
      }
    }
    return .other(reason: reason)
  }

  private func stretches(
    of way: Way, saying announcement: Announcement, by servers: [String: SpeakingServer]
  ) throws(AnnouncerError) -> [[ReadBackWords.Stretch]] {
    let locale = way.script.locale
    do throws(ReadbackMismatch) {
      return try ReadBackWords.stretches(
        of: way.plan, saying: announcement, in: locale, readers: readers, by: { servers[$0] })
    } catch {
      throw Self.mismatch(error, way.plan, locale)
    }
  }

  /// Lets the servers speak the announcement in one way, and stores the clip.
  ///
  /// - Returns: The clip, or the reason why another voice must speak. The reason is nil if the announcement is too
  ///   long.
  private func make(
    _ announcement: Announcement, _ options: RenderOptions, _ way: Way, _ stretches: [[ReadBackWords.Stretch]],
    _ written: Written, into place: ClipPlace, _ permit: NewClipPermit, _ kept: String?
  ) async throws -> Served {
    try await permit.begin()
    do {
      let usesEngine = stretches.joined().contains { !$0.isSent }
      let engine = usesEngine ? try await engine.identity() : nil
      let sounds = try await sounds(of: stretches, rate: way.script.rate)
      let mastered = try master(parts(of: way.plan, sounds), by: Self.mastering(for: options))
      guard Self.isShortEnough(mastered.waveform, options) else {
        permit.end(.serviceFailed)
        return .other(reason: nil)
      }
      let finished = try SampleRateConversion.convert(
        mastered, to: options.sampleRate, for: options.format.encoding)
      let speakers = Set(stretches.joined().compactMap(\.server)).sorted()
      let recipe = ClipRecipe.digest(
        of: finished.waveform.samples, spokenBy: speakers.joined(separator: "; "),
        instead: Self.recipe([way], engine, options))
      let record = ClipRecord(
        recipe: recipe, text: way.script.text, method: way.plan.method,
        voice: way.plan.recording?.pack.manifest.id ?? stretches.joined().mainServer(in: way.script.locale),
        engine: engine?.description, server: speakers.joined(separator: "; "), loudnessLUFS: finished.loudnessLUFS,
        shortened: way.attempt.taken, marks: finished.waveform.marks.map(ClipRecord.Mark.init), frames: 0)
      let made = try await store(
        finished.waveform, record, announcement, ([way], written.remarks), options, into: place, kept)
      permit.end(.made(bytes: made.clip.bytes.count))
      return .clip(made)
    } catch {
      permit.end(.serviceFailed)
      switch error {
      case let error as SpeechServerError where error.code != .cancelled: return .other(reason: error.reason)
      case let error as SpeechEngineError where error.code != .cancelled: return .other(reason: error.code.rawValue)
      case let error as MasteringError: return .other(reason: error.code.rawValue)
      case is SpeechServerError: throw CancellationError()
      default: throw error
      }
    }
  }

  /// Speaks all stretches at the same time, so that the announcement waits for its slowest stretch only.
  private func sounds(of stretches: [[ReadBackWords.Stretch]], rate: Int) async throws -> [[Waveform]] {
    try await withThrowingTaskGroup(of: (part: Int, place: Int, sound: Waveform).self) { group in
      for (part, stretches) in stretches.enumerated() {
        for (place, stretch) in stretches.enumerated() {
          group.addTask { (part, place, try await self.sound(of: stretch, rate: rate)) }
        }
      }
      var sounds = stretches.map { $0.map { _ in Waveform(samples: [], sampleRate: Mastering.sampleRate) } }
      for try await (part, place, sound) in group { sounds[part][place] = sound }
      return sounds
    }
  }

  private func sound(of stretch: ReadBackWords.Stretch, rate: Int) async throws -> Waveform {
    switch stretch {
    case .kept(let run, _): return try await engine.waveform(of: run, rate: rate).waveform
    case .sent(let words, let server):
      var sound = try await server.speak(words)
      // A server does not report when each word begins, so the whole stretch gets one mark.
      sound.marks = [
        Waveform.Mark(
          text: words.text.trimmingCharacters(in: .whitespacesAndNewlines), startMilliseconds: 0,
          endMilliseconds: sound.durationMilliseconds)
      ]
      return sound
    }
  }

  /// Returns the parts of a plan with their sounds. A sound is a pack's recording, or one of `sounds`, which servers
  /// and the engine spoke.
  private func parts(of plan: SpeakingPlan, _ sounds: [[Waveform]]) -> [SpokenPart] {
    zip(plan.parts, sounds).flatMap { part, sounds in
      var waveforms = sounds
      if case .recorded(let clips) = part.source, let recording = plan.recording {
        waveforms = [recording.pack.stitched(clips, pauses: recording.pauses, edgeMilliseconds: 0)]
      }
      return waveforms.indices.map { index in
        SpokenPart(
          waveform: waveforms[index], isAmount: part.saysAmount, isRecorded: false,
          pauseMilliseconds: index == waveforms.count - 1
            ? part.pauseMilliseconds : SpeakingPlan.pauseBetweenVoicesMilliseconds)
      }
    }
  }
}

extension SpeakingPlan {
  /// The languages of the words that have no recording, in the order in which they first occur.
  fileprivate var spokenLanguages: [String] {
    var languages: [String] = []
    for case .spoken(let run) in parts.map(\.source) where !languages.contains(run.language) {
      languages.append(run.language)
    }
    return languages
  }
}

extension ReadBackWords.Stretch {
  fileprivate var isSent: Bool { if case .sent = self { true } else { false } }

  /// Whether a speech server or a voice of the engine can speak the stretch.
  fileprivate var hasVoice: Bool { if case .kept(let run, _) = self { run.voice != nil } else { true } }

  /// The id of the server, with its program and voice; nil if the engine speaks.
  fileprivate var server: String? {
    guard case .sent(_, let server) = self else { return nil }
    return "\(server.voice.server.id): \(server.identity)"
  }
}

extension Sequence<ReadBackWords.Stretch> {
  /// The first reason why a server may not speak one of the stretches.
  fileprivate var firstReason: String? {
    lazy.compactMap { stretch -> String? in if case .kept(_, let reason) = stretch { reason } else { nil } }.first
  }

  /// The id of the server that speaks the language of the sentence. If there is none, the id of the first server.
  fileprivate func mainServer(in locale: String) -> String {
    let sent = compactMap { stretch -> (language: String, id: String)? in
      guard case .sent(let words, let server) = stretch else { return nil }
      return (words.language, server.voice.server.id)
    }
    return (sent.first { $0.language == locale } ?? sent.first)?.id ?? ""
  }
}
