// SPDX-License-Identifier: Apache-2.0

import Announcements
public import Announcer
public import SoundLibrary
import SpeechEngine
public import Waveforms

/// Announcements said by the one way to make a clip, which is left in the sound library; files as they stand.
public struct AnnouncerRendering: Rendering {
  private let announcer: Announcer?
  private let options: RenderOptions
  private let library: @Sendable (_ group: String?) throws -> SoundLibrary

  /// - Parameters:
  ///   - announcer: nil where none can be made: files are played, and announcements wait for another player.
  ///   - options: for what an announcement does not say.
  ///   - library: of an app group, or of announcements that name none.
  public init(
    _ announcer: Announcer?, options: RenderOptions = RenderOptions(),
    library: @escaping @Sendable (_ group: String?) throws -> SoundLibrary
  ) {
    self.announcer = announcer
    self.options = options
    self.library = library
  }

  /// - Parameter library: of all announcements.
  public init(_ announcer: Announcer?, options: RenderOptions = RenderOptions(), library: SoundLibrary) {
    self.init(announcer, options: options) { _ in library }
  }

  public func render(_ announcement: StoredAnnouncement) async throws -> RenderedSound {
    try await reported {
      switch try announcement.content {
      case .file(let file): return RenderedSound(waveform: try PlayableFile.waveform(of: file))
      case .announcement(let announcement, let requested, let defaults):
        let options = try RenderOptions(requested, defaults: defaults, base: options)
        return try await clip(announcement, options, group: requested.group ?? defaults.group)
      }
    }
  }

  public func again(before replay: StoredAnnouncement) async throws -> Waveform {
    try await reported {
      var (locale, group): (String?, String?) = (nil, nil)
      var options = options
      if case .announcement(let announcement, let requested, let defaults) = try replay.content {
        options = try RenderOptions(requested, defaults: defaults, base: options)
        (locale, group) = (announcement.locale, requested.group ?? defaults.group)
        // It is heard and not sent anywhere, and a pack has no recording of it.
        (options.format, options.method) = (self.options.format, .auto)
      }
      return try await clip(.again(locale: locale), options, group: group).waveform
    }
  }

  /// The clip of an announcement, which is left in the library.
  private func clip(
    _ announcement: Announcement, _ options: RenderOptions, group: String?
  ) async throws -> RenderedSound {
    guard let announcer else { throw RenderFailure(code: "announcer_missing", isPassing: true) }
    do {
      let clip = try await announcer.render(announcement, options: options, into: try library(group))
      return RenderedSound(waveform: clip.waveform, clip: clip.report.clip.name)
    } catch is SoundLibraryError {
      // A folder that is full or not ours keeps nobody silent: it is made to be heard, and not kept.
      return RenderedSound(waveform: try await announcer.render(announcement, options: options, into: nil).waveform)
    }
  }

  /// - Throws: ``RenderFailure``, whatever the work throws.
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

  /// Only what lies in the announcement itself is for good. What an operator can mend (a phrase book, an option, a pack,
  /// a voice) may pass, and so may whatever is in doubt: money waits for it.
  static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case let error as AnnouncementError: [.phraseBooksMissing, .phraseBookInvalid].contains(error.code)
    case let error as AnnouncerError: error.code != .tooLong
    case let error as SpeechEngineError: ![.textUnspeakable, .requestRefused].contains(error.code)
    default: true
    }
  }
}
