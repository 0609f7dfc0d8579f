// SPDX-License-Identifier: Apache-2.0

public import Dispatch
public import Foundation

public struct PKPushType: Hashable, RawRepresentable, Sendable {
  public var rawValue: String
  public init(rawValue: String) { fatalError() }
  public static let voIP = PKPushType(rawValue: "")
  public static let fileProvider = PKPushType(rawValue: "")
}

open class PKPushCredentials: NSObject {
  open var type: PKPushType { fatalError() }
  open var token: Data { fatalError() }
}

open class PKPushRegistry: NSObject {
  weak open var delegate: (any PKPushRegistryDelegate)?
  open var desiredPushTypes: Set<PKPushType>?
  public init(queue: DispatchQueue?) { fatalError() }
  open func pushToken(for type: PKPushType) -> Data? { fatalError() }
}

public protocol PKPushRegistryDelegate: NSObjectProtocol {
  func pushRegistry(
    _ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType)

  // This method is optional in Objective-C. Here, it is required, so that a wrong name is an error.
  func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
}
