// SPDX-License-Identifier: Apache-2.0

public import Announcements
import ConcurrencySupport
import SpeakingPlans
import SpeechEngine
import SpeechServers

extension Announcer {
  /// Makes a clip again that was made somewhere else, and publishes nothing.
  ///
  /// The name is computed before anything is spoken, and compared with the wanted one. It differs if the words, the voice
  /// packs or the engine differ, and for each clip that a speech server spoke.
  ///
  /// - Parameters:
  ///   - name: The clip's file name: the digest of its recipe and a file extension.
  ///   - options: The options with which the clip was made; see ``RenderOptions/again(in:pack:)``.
  ///   - permit: The permit to request before rendering.
  /// - Returns: Nil if the announcement gives a clip with another name here.
  /// - Throws: The errors of ``render(_:options:into:permit:)``.
  public func renderAgain(
    _ name: String, of announcement: Announcement, options: RenderOptions, permit: NewClipPermit = .always
  ) async throws -> RenderedClip? {
    try await withTaskExecutorPreference(WaitingThreads.shared) {
      try options.check()
      var options = options
      // A speech server never gives the same bytes again. If it failed, the voice of the phrase book spoke instead.
      if speechServers.voice(named: options.voice) != nil { options.voice = nil }
      let written = try ways(announcement, options, by: packs.pack(for:pauses:options:))
      let engine = written.ways.allSatisfy(\.plan.isRecorded) ? nil : try await engine.identity()
      guard Self.name(Self.recipe(written.ways, engine, options), options) == name else { return nil }
      let clip = try await rendered(announcement, options, written, into: ClipPlace(library: nil), permit, nil).clip
      // If the engine failed on some of the words, the clip has another name.
      return clip.report.clip.name == name ? clip : nil
    }
  }
}

extension RenderOptions {
  /// Returns the options with which a clip is made again in its own voice, whatever the default voice is now.
  ///
  /// - Parameters:
  ///   - locale: The language of the clip, as a BCP 47 tag.
  ///   - pack: The id of the voice pack that spoke; nil if the engine spoke all words.
  public func again(in locale: String, pack: String?) -> RenderOptions {
    var options = self
    (options.defaultLocale, options.pack) = (locale, pack)
    if pack == nil { options.method = .speech }
    return options
  }
}
