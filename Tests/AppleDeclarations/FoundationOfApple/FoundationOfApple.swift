// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import FoundationNetworking

// The parts of Apple's Foundation that Foundation on Linux lacks. The check imports this module into each file that
// imports Foundation.

extension FileManager {
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { fatalError() }
}

extension ProcessInfo {
  public struct ActivityOptions: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { fatalError() }
    public static var userInitiatedAllowingIdleSystemSleep: ActivityOptions { fatalError() }
  }

  public func beginActivity(options: ActivityOptions = [], reason: String) -> any NSObjectProtocol { fatalError() }
  public func endActivity(_ activity: any NSObjectProtocol) { fatalError() }

  @available(macOS, unavailable)
  public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
    fatalError()
  }
}

extension URLSessionConfiguration {
  public class func background(withIdentifier identifier: String) -> BackgroundSessionConfiguration { fatalError() }
}

// A configuration as on Apple's systems, where this property can be set. It is @unchecked Sendable, because its superclass is.
public class BackgroundSessionConfiguration: URLSessionConfiguration, @unchecked Sendable {
  public override var sharedContainerIdentifier: String? {
    get { fatalError() }
    set { fatalError() }
  }
}

// The types of Core Foundation that the keychain takes. Apple's Foundation exports them, and bridges them to these.
public typealias CFDictionary = NSDictionary
public typealias CFString = NSString
public typealias CFTypeRef = AnyObject
public typealias OSStatus = Int32
