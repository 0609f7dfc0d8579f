// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications)
  package import Foundation
  public import SoundLibrary
  // This file uses the module only for the condition above.
  import UserNotifications

  extension GroupContainer {
    /// Creates the container of an app group of this app.
    ///
    /// - Throws: ``NotificationServiceError`` with `groupUnavailable` if this program is not a member of the group.
    public init(appGroup: String) throws(NotificationServiceError) {
      let manager = FileManager.default
      guard let directory = manager.containerURL(forSecurityApplicationGroupIdentifier: appGroup) else {
        throw NotificationServiceError(.groupUnavailable, reason: "no container of \"\(appGroup)\"")
      }
      self.init(directory: directory)
    }

    /// Makes the folders for sounds and for Crier's own files if they are missing. Their files can be read while the
    /// phone is locked, once the user has unlocked it after a start. The protection of the folders must be set, because
    /// new files take the protection of their folder, and an app with Data Protection may have a stricter default. The
    /// folders are not backed up: the phone fetches the service's files again, and the app brings its own tones.
    ///
    /// An error is ignored: without these attributes, everything still works while the phone is unlocked.
    func prepareFolders() {
      for name in ["Sounds", "Crier"] {
        var folder = directory.appending(path: "Library/\(name)", directoryHint: .isDirectory)
        let manager = FileManager.default
        try? manager.createDirectory(at: folder, withIntermediateDirectories: true)
        #if !os(macOS)
          try? manager.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
            ofItemAtPath: folder.path(percentEncoded: false))
        #endif
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? folder.setResourceValues(values)
      }
    }
  }

  extension Bundle {
    /// The bundle of the app to which this program belongs. An extension is in the folder `PlugIns` of its app.
    package var app: URL {
      bundleURL.pathExtension == "appex"
        ? bundleURL.deletingLastPathComponent().deletingLastPathComponent() : bundleURL
    }
  }

  extension NotificationService.Configuration {
    /// Creates the configuration of an app group: its container with its folders, the tone in its `UserDefaults`, and
    /// local notifications. The app must add a downloader and a source of lost pushes if it wants them; the default is
    /// none.
    ///
    /// - Throws: ``NotificationServiceError`` with `groupUnavailable` if this program is not a member of the group.
    public init(appGroup: String) throws(NotificationServiceError) {
      let container = try GroupContainer(appGroup: appGroup)
      container.prepareFolders()
      do throws(SoundLibraryError) {
        self.init(container: container, tone: try DefaultsTonePreference(group: appGroup))
      } catch {
        throw NotificationServiceError(.groupUnavailable, reason: "no preferences of \"\(appGroup)\"")
      }
      notifier = UserNotificationCenterNotifier()
      uninterrupted = { work in
        // The error is never thrown, because `work` does not throw.
        try? await ExpiringActivity.run("Catching up on notifications") { await work() }
      }
      bundle = Bundle.main.app
    }
  }
#endif
