// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications)
  import ConcurrencySupport
  import Foundation
  public import LibraryCopies
  public import SoundLibrary
  // This file uses the module only for the condition above.
  import UserNotifications

  /// Fetches the large files of the library with a background `URLSession`. iOS fetches them even while no program of
  /// the app runs, and stores the phone's key for this. The next update of the copy puts the files that have arrived
  /// into place.
  ///
  /// Two processes must not use sessions with the same identifier, so each program of the app has its own identifier.
  /// When the files of an extension have arrived and the extension does not run, iOS starts the app for the extension's
  /// session.
  public final class BackgroundLibraryFiles: LargeFileFetching {
    private static let known = Locked<[String: BackgroundLibraryFiles]>([:])

    private let events: Events
    private let session: URLSession

    /// Returns the session of this process with an identifier. It is created at the first call.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the session; nil for this program's own session.
    ///   - appGroup: The app group. iOS keeps the downloaded files in its container until they are moved.
    public static func session(
      _ identifier: String? = nil, appGroup: String, container: GroupContainer
    ) -> BackgroundLibraryFiles {
      let identifier = identifier ?? "\(Bundle.main.bundleIdentifier ?? appGroup).crier-library"
      return known.withLock { known in
        if let session = known[identifier] { return session }
        let new = BackgroundLibraryFiles(identifier, appGroup, LibraryArrivals(container: container))
        known[identifier] = new
        return new
      }
    }

    private init(_ identifier: String, _ appGroup: String, _ arrivals: LibraryArrivals) {
      events = Events(arrivals)
      let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
      configuration.sharedContainerIdentifier = appGroup
      configuration.httpCookieStorage = nil
      configuration.urlCache = nil
      // The limit is one day. Afterwards, an update asks for the file again.
      configuration.timeoutIntervalForResource = 86_400
      session = URLSession(configuration: configuration, delegate: events, delegateQueue: nil)
    }

    public func begin(_ request: LargeFileRequest) {
      var sent = URLRequest(url: request.url)
      for (name, value) in request.fields { sent.setValue(value, forHTTPHeaderField: name) }
      let task = session.downloadTask(with: sent)
      // iOS keeps this text even when the process ends.
      task.taskDescription = request.sha256
      task.resume()
    }

    /// Returns when iOS has reported all downloads for which it started the app.
    public func finishEvents() async { await events.finish() }

    /// The delegate of the session. The session holds it until the session ends.
    private final class Events: NSObject, URLSessionDownloadDelegate, Sendable {
      private let arrivals: LibraryArrivals
      private let state = Locked((areFinished: false, waiting: [AwaitedAnswer<Void>]()))

      init(_ arrivals: LibraryArrivals) { self.arrivals = arrivals }

      func finish() async {
        await waitForAnswer { answer in
          let areFinished = state.withLock { state in
            // When iOS starts the app the next time, it reports other events.
            defer { state.areFinished = false }
            if !state.areFinished { state.waiting.append(answer) }
            return state.areFinished
          }
          if areFinished { answer.give(()) }
        }
      }

      func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
      ) {
        guard let sha256 = downloadTask.taskDescription else { return }
        let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
        // iOS removes the file when this method returns.
        _ = arrivals.receive(location, sha256: sha256, status: status)
      }

      func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let error, let sha256 = task.taskDescription else { return }
        arrivals.fail(sha256: sha256, isCancelled: (error as? URLError)?.code == .cancelled)
      }

      func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        let waiting = state.withLock { state in
          defer { state = (state.waiting.isEmpty, []) }
          return state.waiting
        }
        for answer in waiting { answer.give(()) }
      }
    }
  }

  extension PhoneSettings {
    /// Receives the large files of the library for which iOS started the app, and puts them into place. Call this
    /// method in `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// - Parameter identifier: The identifier of the session, which may be that of an extension.
    /// - Returns: The same as ``updateLibrary()``.
    /// - Throws: The same as ``updateLibrary()``.
    @discardableResult
    public func finishBackgroundSession(_ identifier: String, appGroup: String) async throws -> LibraryUpdate? {
      await BackgroundLibraryFiles.session(identifier, appGroup: appGroup, container: container).finishEvents()
      return try await updateLibrary()
    }
  }
#endif
