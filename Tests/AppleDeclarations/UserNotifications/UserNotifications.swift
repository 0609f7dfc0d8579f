// SPDX-License-Identifier: Apache-2.0

public import Foundation

open class UNNotificationServiceExtension: NSObject {
  open func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) { fatalError() }

  open func serviceExtensionTimeWillExpire() { fatalError() }
}

open class UNNotificationRequest: NSObject {
  open var identifier: String { fatalError() }
  open var content: UNNotificationContent { fatalError() }
  open var trigger: UNNotificationTrigger? { fatalError() }

  public convenience init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
    fatalError()
  }
}

open class UNNotification: NSObject {
  open var date: Date { fatalError() }
  open var request: UNNotificationRequest { fatalError() }
}

public protocol UNNotificationContentProviding: NSObjectProtocol {}

open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
  open var attachments: [UNNotificationAttachment] { fatalError() }
  open var badge: NSNumber? { fatalError() }
  open var body: String { fatalError() }
  open var categoryIdentifier: String { fatalError() }
  open var interruptionLevel: UNNotificationInterruptionLevel { fatalError() }
  open var relevanceScore: Double { fatalError() }
  open var sound: UNNotificationSound? { fatalError() }
  open var subtitle: String { fatalError() }
  open var threadIdentifier: String { fatalError() }
  open var title: String { fatalError() }
  open var userInfo: [AnyHashable: Any] { fatalError() }

  public func copy(with zone: NSZone? = nil) -> Any { fatalError() }
  public func mutableCopy(with zone: NSZone? = nil) -> Any { fatalError() }
  open func updating(from provider: any UNNotificationContentProviding) throws -> UNNotificationContent { fatalError() }
}

open class UNMutableNotificationContent: UNNotificationContent {
  open override var attachments: [UNNotificationAttachment] {
    get { fatalError() }
    set { fatalError() }
  }
  open override var badge: NSNumber? {
    get { fatalError() }
    set { fatalError() }
  }
  open override var body: String {
    get { fatalError() }
    set { fatalError() }
  }
  open override var categoryIdentifier: String {
    get { fatalError() }
    set { fatalError() }
  }
  open override var interruptionLevel: UNNotificationInterruptionLevel {
    get { fatalError() }
    set { fatalError() }
  }
  open override var relevanceScore: Double {
    get { fatalError() }
    set { fatalError() }
  }
  open override var sound: UNNotificationSound? {
    get { fatalError() }
    set { fatalError() }
  }
  open override var subtitle: String {
    get { fatalError() }
    set { fatalError() }
  }
  open override var threadIdentifier: String {
    get { fatalError() }
    set { fatalError() }
  }
  open override var title: String {
    get { fatalError() }
    set { fatalError() }
  }
  open override var userInfo: [AnyHashable: Any] {
    get { fatalError() }
    set { fatalError() }
  }
}

public enum UNNotificationInterruptionLevel: UInt, Sendable {
  case passive, active, timeSensitive, critical
}

public struct UNNotificationSoundName: Hashable, RawRepresentable, Sendable {
  public var rawValue: String
  public init(_ rawValue: String) { fatalError() }
  public init(rawValue: String) { fatalError() }
}

open class UNNotificationSound: NSObject {
  open class var `default`: UNNotificationSound { fatalError() }
  open class var defaultCritical: UNNotificationSound { fatalError() }
  open class func defaultCriticalSound(withAudioVolume volume: Float) -> Self { fatalError() }
  open class func criticalSoundNamed(_ name: UNNotificationSoundName) -> Self { fatalError() }
  open class func criticalSoundNamed(_ name: UNNotificationSoundName, withAudioVolume volume: Float) -> Self {
    fatalError()
  }
  public convenience init(named name: UNNotificationSoundName) { fatalError() }
  @available(*, unavailable)
  public override init() { fatalError() }
}

public let UNNotificationAttachmentOptionsTypeHintKey = ""
public let UNNotificationAttachmentOptionsThumbnailHiddenKey = ""
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey = ""
public let UNNotificationAttachmentOptionsThumbnailTimeKey = ""

open class UNNotificationAttachment: NSObject {
  open var identifier: String { fatalError() }
  open var url: URL { fatalError() }
  open var type: String { fatalError() }
  public convenience init(identifier: String, url URL: URL, options: [AnyHashable: Any]? = nil) throws { fatalError() }
}

open class UNNotificationTrigger: NSObject {
  open var repeats: Bool { fatalError() }
}

open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
  open var timeInterval: TimeInterval { fatalError() }
  public convenience init(timeInterval: TimeInterval, repeats: Bool) { fatalError() }
}

public struct UNAuthorizationOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { fatalError() }
  public static var badge: UNAuthorizationOptions { fatalError() }
  public static var sound: UNAuthorizationOptions { fatalError() }
  public static var alert: UNAuthorizationOptions { fatalError() }
  public static var criticalAlert: UNAuthorizationOptions { fatalError() }
}

public struct UNNotificationPresentationOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { fatalError() }
  public static var badge: UNNotificationPresentationOptions { fatalError() }
  public static var sound: UNNotificationPresentationOptions { fatalError() }
  public static var list: UNNotificationPresentationOptions { fatalError() }
  public static var banner: UNNotificationPresentationOptions { fatalError() }
}

// The method is optional in Objective-C. Here, it is required, so that a wrong name is an error.
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)
}

open class UNUserNotificationCenter: NSObject {
  weak open var delegate: (any UNUserNotificationCenterDelegate)?
  open class func current() -> UNUserNotificationCenter { fatalError() }
  open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool { fatalError() }
  open func add(
    _ request: UNNotificationRequest, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
  ) { fatalError() }
  open func add(_ request: UNNotificationRequest) async throws { fatalError() }
  @available(*, unavailable)
  public override init() { fatalError() }
}
