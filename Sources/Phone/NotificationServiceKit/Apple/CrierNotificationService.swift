// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications)
  import ConcurrencySupport
  import Foundation
  public import UserNotifications

  /// The principal class of a notification service extension. Define a subclass that names your app group:
  ///
  ///     nonisolated final class ShopNotificationService: CrierNotificationService {
  ///       override var appGroup: String { "group.com.example.shop" }
  ///     }
  ///
  /// All instances in a process share one ``NotificationService`` for each app group. One instance may receive any
  /// number of requests. If the app group cannot be used, each notification is handed over as it was sent.
  open class CrierNotificationService: UNNotificationServiceExtension {
    /// The longest time in seconds for which ``serviceExtensionTimeWillExpire()`` waits for the hand-overs.
    private static let expiryWait = 2.0

    private static let services = Locked<[String: NotificationService]>([:])
    private let works = Locked<[UUID: NotificationWork]>([:])
    /// The hand-overs that have not happened yet.
    private let handOvers = DispatchGroup()

    /// The identifier of the app group, such as `group.com.example.shop`. Each subclass overrides it.
    open var appGroup: String { "" }

    /// Changes the configuration of the process's service, for example to add a downloader. This method is called
    /// before the first notification of a process. It may be called more than once if several notifications arrive at
    /// the same time.
    ///
    /// - Parameter configuration: The value of ``NotificationService/Configuration/init(appGroup:)``, to be changed.
    open func configure(_ configuration: inout NotificationService.Configuration) {}

    /// Changes the texts of a notification, for example to decrypt or to translate them. This method is called once for
    /// each notification that is handed over, and once for each local notification that the extension adds. It is
    /// called on any thread, shortly before iOS gets the content. The content already has the texts of a summary and
    /// the attachments. The payer's name and picture are added afterwards.
    ///
    /// - Parameters:
    ///   - content: The content. Do not change its `sound`, because the order of the notifications relies on the length
    ///     of that sound.
    ///   - handOver: What the service changed in the content.
    open class func modify(_ content: UNMutableNotificationContent, for handOver: HandOver) {}

    /// Receives the errors of the work, for example to log them. They contain no amounts, names or URLs. This method is
    /// called on any thread.
    open class func report(_ error: NotificationServiceError) {}

    open override func didReceive(
      _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
      let reporter = type(of: self)
      do throws(NotificationServiceError) {
        let service = try service()
        guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else {
          contentHandler(request.content)
          return
        }
        let delivery = Delivery(content: content, handler: contentHandler) { reporter.modify($0, for: $1) }
        let id = UUID()
        handOvers.enter()
        // Two requests may have the same identifier, because APNs takes it from the push's collapse id.
        let (works, handOvers) = (works, handOvers)
        works.withLock { waiting in
          waiting[id] = service.receive(
            UserInfo.payload(of: request.content.userInfo), identifier: request.identifier
          ) { handOver in
            delivery.give(handOver)
            works.withLock { $0[id] = nil }
            handOvers.leave()
          }
        }
      } catch {
        reporter.report(error)
        contentHandler(request.content)
      }
    }

    open override func serviceExtensionTimeWillExpire() {
      let waiting = works.withLock { Array($0.values) }
      // Each call may wait for the disk, so the calls run in parallel.
      DispatchQueue.concurrentPerform(iterations: waiting.count) { waiting[$0].expire() }
      // iOS may end the process as soon as this method returns. Pushes that were not handed over are then shown
      // unchanged.
      _ = handOvers.wait(timeout: .now() + Self.expiryWait)
    }

    private func service() throws(NotificationServiceError) -> NotificationService {
      let group = appGroup
      if let known = Self.services.withLock({ $0[group] }) { return known }
      var configuration = try NotificationService.Configuration(appGroup: group)
      let reporter = type(of: self)
      configuration.report = { reporter.report($0) }
      configuration.notifier = UserNotificationCenterNotifier { reporter.modify($0, for: $1) }
      configure(&configuration)
      let new = NotificationService(configuration)
      return Self.services.withLock { services in
        // Another instance may have made the service in the meantime.
        if let known = services[group] { return known }
        services[group] = new
        return new
      }
    }
  }

  /// The content of one request, the handler that iOS gave for it, and the change that the subclass makes to the
  /// content.
  ///
  /// A delivery is passed to another thread once. That is safe: iOS gives content and handler to this request alone,
  /// and the work hands over exactly once.
  private struct Delivery: @unchecked Sendable {  // Only one thread uses it at a time.
    let content: UNMutableNotificationContent
    let handler: (UNNotificationContent) -> Void
    let modify: (UNMutableNotificationContent, HandOver) -> Void

    func give(_ handOver: HandOver) {
      content.apply(handOver)
      modify(content, handOver)
      handler(content.withSender(of: handOver))
    }
  }
#endif
