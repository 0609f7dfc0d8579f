// SPDX-License-Identifier: Apache-2.0

import AVFoundation
import Foundation
import PhoneRegistration
import SoundLibrary
import SwiftUI
import UserNotifications

/// The tones in the group's `Library/Sounds`. A tap chooses a tone and plays it. The service extension reads the choice
/// for each notification, so it takes effect at once.
struct TonePage: View {
  @State private var tones: [String] = []
  @State private var chosen: String?
  @State private var message: String?
  /// The sound that is playing ends with its player.
  @State private var player: AVAudioPlayer?

  var body: some View {
    List {
      Section("Tone of payments without a spoken clip") {
        row("Default", isChosen: chosen == nil) { choose(nil) }
        ForEach(tones, id: \.self) { tone in
          row(tone, isChosen: tone == chosen) { choose(tone) }
        }
      }
      if let message { Text(message) }
    }
    .navigationTitle("Tones")
    .task { load() }
  }

  private func row(_ name: String, isChosen: Bool, action: @escaping @MainActor () -> Void) -> some View {
    Button(action: action) {
      HStack {
        Text(name)
        Spacer()
        if isChosen { Image(systemName: "checkmark") }
      }
    }
  }

  private func load() {
    perform { library, preference in
      // The app brings its tones in its bundle. iOS also finds them there, but the extension cannot list the bundle of
      // the app.
      if let folder = Bundle.main.url(forResource: "Tones", withExtension: nil) {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files where file.pathExtension == "wav" && !library.hasSound(file.lastPathComponent) {
          _ = try library.publish([UInt8](Data(contentsOf: file)), as: file.lastPathComponent)
        }
      }
      tones = try library.tones()
      chosen = try preference.tone()
    }
  }

  private func choose(_ tone: String?) {
    perform { library, preference in
      player?.stop()
      if let tone {
        try preference.setTone(tone)
        player = try AVAudioPlayer(contentsOf: library.url(for: tone))
        player?.play()
      } else {
        try preference.removeTone()
        Task { await playDefault() }
      }
      chosen = tone
      // The service knows the tone too, for payments that it has no clip for.
      Task { await Shop.registration?.register() }
    }
  }

  /// Plays the default sound. Only a notification can: an app has no access to the system's sounds.
  private func playDefault() async {
    let content = UNMutableNotificationContent()
    content.title = "Default tone"
    content.sound = .default
    // A later one replaces it.
    let request = UNNotificationRequest(identifier: "default-tone", content: content, trigger: nil)
    try? await UNUserNotificationCenter.current().add(request)
  }

  /// Calls a closure with the group's sounds, and shows its error.
  private func perform(_ body: (SoundLibrary, any TonePreference) throws -> Void) {
    guard let phone = Shop.phone else {
      message = "The app group \(Shop.appGroup) cannot be used."
      return
    }
    do {
      try body(SoundLibrary(container: phone.container), phone.tone)
      message = nil
    } catch {
      message = "\(error)"
    }
  }
}
