// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProviderSettings

/// The mapping files that come with the program. They are in the root of the checkout.
enum ShippedMappings {
  static let data = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static let names = [
    "cashfree", "flutterwave-v3", "flutterwave-v4", "midtrans", "mpesa", "omise", "paymongo", "paystack", "phonepe",
    "pix", "sepay", "sepay-api-key", "shopify", "woocommerce", "woovi", "xendit",
  ]

  static func file(_ name: String) throws -> MappingFile {
    try MappingFile.named(name + ".yaml", home: data.appending(path: "no-such-folder"), data: data)
  }
}
