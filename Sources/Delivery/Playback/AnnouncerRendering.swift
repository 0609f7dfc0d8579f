// SPDX-License-Identifier: Apache-2.0

import Announcements
public import Announcer
public import Ledger
public import SoundLibrary
import SpeechEngine
public import Waveforms

/// Renders announcements with an announcer, which publishes the clips in the sound library. Sound files are played
/// unchanged.
public struct AnnouncerRendering: Rendering {
  private let announcer: Announcer?
  private let options: RenderOptions
  private let library: @Sendable (_ group: String?) throws -> SoundLibrary

  /// - Parameters:
  ///   - announcer: The announcer, or nil if there is none. Without it, files are played, and announcements wait for
  ///     another player.
  ///   - options: The options for everything that an announcement does not specify.
  ///   - library: Returns the library of an app group, or of announcements that name no group.
  public init(
    _ announcer: Announcer?, options: RenderOptions = RenderOptions(),
    library: @escaping @Sendable (_ group: String?) throws -> SoundLibrary
  ) {
    self.announcer = announcer
    self.options = options
    self.library = library
  }

  public func decided(_ announcement: StoredAnnouncement) async -> RenderedSound? {
    // If the folder cannot be read, the attempt to make the clip again reports why.
    guard let clip = announcement.decision?.clip, let library = try? library(clip.group),
      let waveform = try? await Announcer.publishedClip(named: clip.name, in: library)
    else { return nil }
    return RenderedSound(waveform: waveform, clip: clip.name)
  }

  public func render(_ announcement: StoredAnnouncement) async throws -> RenderedSound {
    try await reported {
      switch try announcement.content {
      case .file(let file): return RenderedSound(waveform: try PlayableFile.waveform(of: file))
      case .announcement(let content, let requested):
        let options = try RenderOptions(requested, defaults: announcement.defaults, base: options)
        guard let decision = announcement.decision else {
          return try await clip(content, options, group: requested.group ?? announcement.defaultGroup)
        }
        do {
          let pack = decision.packDigest == nil ? nil : decision.voice
          return try await clip(content, options.again(in: decision.locale, pack: pack), group: decision.clip.group)
        } catch {
          // The voice is no longer available either, so another voice announces the payment in the same language.
          return try await clip(content, options.speaking(in: decision.locale), group: decision.clip.group)
        }
      }
    }
  }

  public func again(before replay: StoredAnnouncement) async throws -> Waveform {
    try await reported {
      var (locale, group) = (replay.decision?.locale, replay.decision?.clip.group)
      var options = options
      if locale == nil, case .announcement(let announcement, let requested) = try replay.content {
        options = try RenderOptions(requested, defaults: replay.defaults, base: options)
        (locale, group) = (announcement.locale, requested.group ?? replay.defaultGroup)
      }
      // The clip of the word is only played here and never sent to a client, so the request's format does not matter.
      (options.format, options.method) = (self.options.format, .auto)
      return try await clip(.again(locale: locale), options, group: group).waveform
    }
  }

  /// Renders the clip of an announcement and publishes it in the library.
  private func clip(
    _ announcement: Announcement, _ options: RenderOptions, group: String?
  ) async throws -> RenderedSound {
    guard let announcer else { throw RenderFailure(code: "announcer_missing", isPassing: true) }
    do {
      let clip = try await announcer.render(announcement, options: options, into: try library(group))
      return RenderedSound(
        waveform: clip.waveform, clip: clip.report.clip.name,
        decision: Decision(announcement, clip.report, group: group))
    } catch is SoundLibraryError {
      // If the library's folder is full or not writable, the announcement is still played. The clip is just not stored.
      return RenderedSound(waveform: try await announcer.render(announcement, options: options, into: nil).waveform)
    }
  }

  /// - Throws: ``RenderFailure`` instead of any error that the closure throws.
  private func reported<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch let error as RenderFailure {
      throw error
    } catch let error as PlayableFileError {
      throw RenderFailure(code: error.code.rawValue, isPassing: false)
    } catch {
      throw RenderFailure(code: ErrorReport(error).code, isPassing: Self.mayPass(error))
    }
  }

  /// Whether an error may be temporary. Only errors in the announcement itself are permanent. An operator can repair
  /// other causes, such as a phrase book, an option, a pack or a voice. Such errors, and all unknown ones, count as
  /// temporary, so that a payment waits until they are repaired.
  static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case let error as AnnouncementError: [.phraseBooksMissing, .phraseBookInvalid].contains(error.code)
    case let error as AnnouncerError: error.code != .tooLong
    case let error as SpeechEngineError: ![.textUnspeakable, .requestRefused].contains(error.code)
    default: true
    }
  }
}

extension RenderOptions {
  /// Returns the options for any voice of a language.
  fileprivate func speaking(in locale: String) -> RenderOptions {
    var options = self
    (options.method, options.pack, options.voice, options.defaultLocale) = (.auto, nil, nil, locale)
    return options
  }
}
