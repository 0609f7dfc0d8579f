// SPDX-License-Identifier: Apache-2.0

import Announcements
public import Announcer
import SoundFiles
public import SoundLibrary
import SpeechEngine

/// Announcements said by the one way to make a clip, which is left in the sound library; files as they stand.
public struct AnnouncerRendering: Rendering {
  private let announcer: Announcer
  private let options: RenderOptions
  private let library: SoundLibrary

  public init(_ announcer: Announcer, options: RenderOptions = RenderOptions(), library: SoundLibrary) {
    self.announcer = announcer
    self.options = options
    self.library = library
  }

  public func render(_ announcement: StoredAnnouncement) async throws -> RenderedSound {
    do {
      switch try announcement.content {
      case .file(let file): return RenderedSound(waveform: try PlayableFile.waveform(of: file))
      case .announcement(let announcement):
        let clip = try await announcer.render(announcement, options: options, into: library)
        return RenderedSound(waveform: clip.waveform, clip: clip.report.clip.name)
      }
    } catch let error as PlayableFileError {
      throw RenderFailure(code: error.code.rawValue, isPassing: false)
    } catch {
      throw RenderFailure(code: ErrorReport(error).code, isPassing: Self.mayPass(error))
    }
  }

  /// Only what trying again would certainly give again is for good; where there is doubt, money waits.
  static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case let error as AnnouncementError: error.code == .phraseBooksMissing
    case is AnnouncerError: false
    case let error as SpeechEngineError:
      switch error.code {
      case .engineUnavailable, .queueFull, .speakerDied, .cancelled: true
      case .voiceUnknown, .textUnspeakable, .requestRefused: false
      }
    case let error as SoundLibraryError: error.action != .naming && error.code != .tooLarge
    case let error as SoundFileError: error.code == .writingFailed
    default: true
    }
  }
}
