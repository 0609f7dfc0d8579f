// SPDX-License-Identifier: Apache-2.0

public import Announcements
import SoundFiles

extension RenderOptions {
  /// Creates the options for a request.
  ///
  /// - Parameters:
  ///   - requested: The options in the request.
  ///   - defaults: The defaults of the sender's API key. They apply to options that the request leaves out.
  ///   - base: The values for options that are neither in the request nor in the defaults.
  /// - Throws: `.optionInvalid`, with the option's name and the permitted values.
  public init(
    _ requested: AnnouncementRequest.Options, defaults: AnnouncementRequest.Defaults,
    base: RenderOptions = RenderOptions()
  ) throws(AnnouncerError) {
    self = base
    if let name = requested.method { method = try Self.choice(name, "method") }
    if let name = requested.format { format.container = try Self.choice(name, "format") }
    if let name = requested.encoding { format.encoding = try Self.choice(name, "encoding") }
    pack = requested.pack ?? base.pack
    preferredPack = defaults.pack ?? base.preferredPack
    voice = requested.voice ?? base.voice
    rate = requested.rate ?? base.rate
    sampleRate = requested.sampleRate ?? base.sampleRate
    defaultLocale = defaults.locale ?? base.defaultLocale
    try check()
  }

  private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ option: String
  ) throws(AnnouncerError) -> Choice {
    guard let choice = Choice(rawValue: name) else {
      let names = Choice.allCases.map(\.rawValue)
      throw AnnouncerError(
        .optionInvalid, option, "unknown \(option)",
        remedy: "use \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")")
    }
    return choice
  }
}
