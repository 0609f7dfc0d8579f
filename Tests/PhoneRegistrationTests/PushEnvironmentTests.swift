// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushMessages
import Testing

@testable import PhoneRegistration

@Suite("The environment of a provisioning profile")
struct PushEnvironmentTests {
  /// Returns a profile: a property list between the bytes of a signed message.
  private static func profile(_ entitlements: String) -> Data {
    let list = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict><key>AppIDName</key><string>Shop</string>
      <key>Entitlements</key><dict>\(entitlements)</dict></dict></plist>
      """
    let (head, tail): ([UInt8], [UInt8]) = ([0x30, 0x82, 0x00, 0xFF, 0x3C, 0x70], [0xA0, 0x82, 0x3C, 0x2F, 0x00])
    return Data(head) + Data(list.utf8) + Data(tail)
  }

  private static func environment(_ name: String) -> Data {
    profile("<key>aps-environment</key><string>\(name)</string>")
  }

  @Test("a development profile means APNs' sandbox, and a production profile means production")
  func environments() {
    #expect(PushEnvironment(provisioningProfile: Self.environment("development")) == .sandbox)
    #expect(PushEnvironment(provisioningProfile: Self.environment("production")) == .production)
  }

  @Test("a provisioning profile in a slice of data is read")
  func slice() {
    let data = (Data([1, 2, 3]) + Self.environment("development")).dropFirst(3)
    #expect(PushEnvironment(provisioningProfile: data) == .sandbox)
  }

  @Test(
    "bytes that are not a profile, and a profile without a known environment, give no environment",
    arguments: [
      Data(), Data("<plist".utf8), Data("</plist><plist>".utf8), Data("<plist></plist>".utf8),
      Data("<plist version=\"1.0\"><string>Entitlements</string></plist>".utf8),
      Data("<plist version=\"1.0\"><dict><key>Entitlements</key><string>x</string></dict></plist>".utf8),
      profile(""), profile("<key>aps-environment</key><true/>"), environment("staging"), environment(""),
      environment("development").prefix(300),
    ])
  func unreadable(bytes: Data) {
    #expect(PushEnvironment(provisioningProfile: bytes) == nil)
  }

  @Test("the push environment of an app is that of its provisioning profile, or production without a readable profile")
  func app() throws {
    let folder = try TemporaryFolder()
    #expect(PushEnvironment(app: folder.url) == .production)
    let file = folder.url.appending(path: "embedded.mobileprovision")
    try Self.environment("development").write(to: file)
    #expect(PushEnvironment(app: folder.url) == .sandbox)
    try Data("damaged".utf8).write(to: file)
    #expect(PushEnvironment(app: folder.url) == .production)
  }
}
