// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PushMessages

extension PushEnvironment {
  /// Reads the environment of a program's tokens in the provisioning profile that the program is signed with.
  ///
  /// The build configuration does not decide this: a release build that Xcode installs has tokens of the sandbox. The
  /// entitlement `aps-environment` does. The profile is a property list inside a signed message (CMS). The list is found
  /// by its first and its last tag, and the signature is not verified, because iOS has done that.
  ///
  /// - Parameter profile: The bytes of `embedded.mobileprovision`.
  /// - Returns: Nil if the bytes are not a profile, or if it does not say `development` or `production`.
  public init?(provisioningProfile profile: Data) {
    guard let start = profile.range(of: Data("<plist".utf8)),
      let end = profile.range(of: Data("</plist>".utf8), in: start.upperBound..<profile.endIndex),
      // Safe: the format is not asked for.
      let list = try? unsafe PropertyListSerialization.propertyList(
        from: profile[start.lowerBound..<end.upperBound], format: nil),
      let entitlements = (list as? [String: Any])?["Entitlements"] as? [String: Any]
    else { return nil }
    switch entitlements["aps-environment"] as? String {
    case "development": self = .sandbox
    case "production": self = .production
    default: return nil
    }
  }

  /// Returns the environment of the tokens of an app.
  ///
  /// Apps from the App Store have no profile, and their tokens are those of production. This is also the result for a
  /// profile that cannot be read. The simulator has no profile either, and gets tokens of the sandbox.
  ///
  /// - Parameter app: The app's bundle. The profile of an extension does not have the entitlement.
  public init(app: URL) {
    #if targetEnvironment(simulator)
      self = .sandbox
    #else
      let profile = app.appending(path: "embedded.mobileprovision", directoryHint: .notDirectory)
      self = (try? Data(contentsOf: profile)).flatMap(PushEnvironment.init(provisioningProfile:)) ?? .production
    #endif
  }
}
