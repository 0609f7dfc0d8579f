// SPDX-License-Identifier: Apache-2.0

import Testing
import WebhookMessages

@Suite("URLs of webhook endpoints")
struct WebhookURLTests {
  @Test(
    "a webhook's https URL with a name or an address is accepted, with any port, path and query",
    arguments: [
      ("https://shop.example/hooks", "shop.example"), ("https://shop.example", "shop.example"),
      ("https://Shop.Example:8443/a/b?key=1&x=%20", "Shop.Example"), ("https://93.184.216.34/", "93.184.216.34"),
      ("https://[2600::1]:65535/x", "2600::1"), ("HTTPS://shop.example/", "shop.example"),
      ("https://shop.example/a@b", "shop.example"), ("https://xn--fiq228c.example/", "xn--fiq228c.example"),
      ("https://localhost.example/", "localhost.example"), ("https://mylocalhost/", "mylocalhost"),
      ("https://10.example/", "10.example"),
    ])
  func accepted(text: String, host: String) throws {
    let url = try WebhookURL(text)
    #expect(url.text == text && url.host == host && url.isEncrypted)
    #expect("\(url)" == "WebhookURL", "the path may be a secret")
  }

  @Test(
    "any other URL of a webhook endpoint is refused with a reason",
    arguments: [
      ("", .urlInvalid), ("shop.example/hooks", .urlInvalid), ("/hooks", .urlInvalid), ("https:///hooks", .urlInvalid),
      ("https://", .urlInvalid), ("ftp://shop.example/", .urlInvalid), ("unix:///tmp/x", .urlInvalid),
      ("http+unix://%2Ftmp%2Fx/", .urlInvalid), ("https://shop.example:0/", .urlInvalid),
      ("https://shop.example:65536/", .urlInvalid), ("https://shop example/", .urlInvalid),
      ("https://shop.example/ä", .urlInvalid), ("https://店.example/", .urlInvalid),
      ("https://127%2E0.0.1/", .urlInvalid), ("https://shop%00.example/", .urlInvalid),
      ("https://[fe80::1%25eth0]/", .urlInvalid), ("https://shop.example\\@10.0.0.1/", .urlInvalid),
      ("https://shop.example/\n", .urlInvalid), ("https://" + String(repeating: "a", count: 254) + "/", .urlInvalid),
      ("https://shop.example/" + String(repeating: "a", count: 1_980), .urlInvalid),
      ("https://127.0.0.1/h", .addressPrivate), ("https://[::1]/h", .addressPrivate),
      ("https://0x7f.1/h", .addressPrivate), ("https://2130706433/", .addressPrivate),
      ("https://10.1.2.3:8443/", .addressPrivate), ("https://[fd00::1]/", .addressPrivate),
      ("https://[::ffff:192.168.0.1]/", .addressPrivate), ("https://192.0.2.1/", .addressPrivate),
      ("https://localhost/h", .addressPrivate), ("https://LocalHost.:8443/", .addressPrivate),
      ("https://shop.localhost/", .addressPrivate), ("http://127.0.0.1:8000/", .addressPrivate),
      ("http://shop.example/hooks", .notEncrypted), ("https://user@shop.example/", .credentialsInURL),
      ("https://user:secret@shop.example/", .credentialsInURL), ("https://@shop.example/", .credentialsInURL),
      ("https://shop.example/#top", .fragmentInURL), ("https://shop.example/#", .fragmentInURL),
    ] as [(String, WebhookError.Code)])
  func refused(text: String, code: WebhookError.Code) {
    let error = #expect(throws: WebhookError.self) { try WebhookURL(text) }
    #expect(error?.code == code)
    #expect(error.map { !"\($0)".contains("secret@") } ?? false)
  }

  @Test("a webhook's URL may have http or a private address only if these are allowed")
  func unencrypted() throws {
    for text in ["https://127.0.0.1/h", "https://[::1]/h", "https://localhost/h", "https://0x7f.1/h"] {
      #expect(try WebhookURL(text, allowsPrivateAddresses: true).text == text)
    }
    #expect(try !WebhookURL("http://127.0.0.1:8000/", allowsPrivateAddresses: true).isEncrypted)
    #expect(throws: WebhookError.self) { try WebhookURL("ftp://127.0.0.1/", allowsPrivateAddresses: true) }
  }
}
