// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PushMessages

extension PushEnvironment {
  /// Reads the environment of a program's push tokens from the provisioning profile with which the program is signed.
  ///
  /// The entitlement `aps-environment` decides the environment. The build configuration does not: a release build that
  /// Xcode installs has tokens of the sandbox. The profile is a property list inside a signed message (CMS). This
  /// initializer finds the list by its first and its last tag. It does not verify the signature, because iOS has done
  /// that.
  ///
  /// - Parameter profile: The bytes of `embedded.mobileprovision`.
  /// - Returns: Nil if the bytes are not a profile, or if the profile does not say `development` or `production`.
  public init?(provisioningProfile profile: Data) {
    guard let start = profile.range(of: Data("<plist".utf8)),
      let end = profile.range(of: Data("</plist>".utf8), in: start.upperBound..<profile.endIndex),
      // Safe: the pointer for the format is nil, so nothing is written to it.
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
  /// Apps from the App Store have no profile, and their tokens are production tokens. A profile that cannot be read has
  /// the same result. The simulator has no profile either, but gets tokens of the sandbox.
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
