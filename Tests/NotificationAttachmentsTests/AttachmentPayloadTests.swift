// SPDX-License-Identifier: Apache-2.0

import Foundation
import NotificationAttachments
import Testing

@Suite("Attachments in payloads")
struct AttachmentPayloadTests {
  private func read(_ json: String) -> AttachmentPayload { AttachmentPayload(Data(json.utf8)) }

  @Test(
    "each of the three attachment keys of a payload names the attachment",
    arguments: ["attachment-url", "image-url", "image_url"])
  func keys(_ key: String) {
    let payload = read(#"{"aps": {"alert": "a"}, "\#(key)": "https://a.example/1.jpg"}"#)
    #expect(payload.request == AttachmentRequest(url: Sample.url("https://a.example/1.jpg")))
    #expect(payload.request?.identifier == "attachment")
    #expect(payload.remarks.isEmpty)
  }

  @Test("if a payload has several attachment keys, a fixed order of the keys decides")
  func order() {
    let urls = ["image_url": 3, "image-url": 2, "attachment-url": 1].map { #""\#($0)": "https://a.example/\#($1)""# }
    let three = read("{\(urls.joined(separator: ", "))}")
    #expect(three.request?.url.path == "/1")
    let two = read(#"{"image_url": "https://a.example/3", "image-url": "https://a.example/2"}"#)
    #expect(two.request?.url.path == "/2")
  }

  @Test("an attachment key below the top level, or in another spelling, is not read")
  func otherPlaces() {
    for json in [
      "{}", #"{"aps": {"attachment-url": "https://a.example/1"}}"#, #"{"data": {"image-url": "https://a.example/1"}}"#,
      #"{"fcm_options": {"image": "https://a.example/1"}}"#, #"{"Image-Url": "https://a.example/1"}"#,
      #"{"attachment-options": {"hidden": 7}}"#,
    ] {
      #expect(read(json).request == nil)
      #expect(read(json).remarks.isEmpty)
    }
  }

  @Test(
    "an attachment key whose value is not a string is ignored with a remark",
    arguments: ["7", "true", "null", "[]", "{}", "1.5"])
  func noText(_ value: String) {
    let payload = read(#"{"attachment-url": \#(value)}"#)
    #expect(payload.request == nil)
    #expect(payload.remarks.map(\.problem) == [.noText])
    #expect(payload.remarks.first?.key == "attachment-url")
  }

  @Test(
    "an attachment key whose text is not the URL of a server is ignored with a remark",
    arguments: [
      "", "a", "a.example/1.jpg", "/1.jpg", "https://", "https:1.jpg", "file:///etc/passwd", "data:,a", "ftp://a/b",
    ])
  func noURL(_ text: String) {
    let payload = read(#"{"image-url": "\#(text)"}"#)
    #expect(payload.request == nil)
    #expect(payload.remarks.map(\.problem) == [.noURL])
  }

  @Test("if the value of an attachment key is unusable, the next key is taken")
  func nextKey() {
    let payload = read(#"{"attachment-url": 7, "image-url": "b", "image_url": "https://a.example/3"}"#)
    #expect(payload.request?.url.path == "/3")
    #expect(payload.remarks.map(\.problem) == [.noText, .noURL])
  }

  @Test(
    "a payload that is not an object has no attachment, and a remark says so",
    arguments: ["", "[]", "7", "{", "null", "\u{0}"])
  func noObject(_ json: String) {
    #expect(read(json).request == nil)
    #expect(read(json).remarks.map(\.problem) == [.noObject])
  }

  @Test("a deeply nested payload with an attachment does not crash the program")
  func nesting() {
    let depth = 100_000
    let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    #expect(read(#"{"a": \#(deep), "image-url": "https://a.example/1"}"#).request == nil)
  }

  private func options(_ json: String) -> AttachmentPayload {
    read(#"{"image-url": "https://a.example/1", "attachment-options": \#(json)}"#)
  }

  @Test("the options of an attachment determine how the thumbnail is made")
  func options() {
    let payload = options(
      #"{"hidden": true, "thumbnail-time": 2.5, "thumbnail-clipping": {"x": 0.7, "y": 0, "width": 0.3, "height": 1}}"#)
    let clipping = AttachmentOptions.ClippingRectangle(x: 0.7, y: 0, width: 0.3, height: 1)
    #expect(clipping != nil)
    #expect(
      payload.request?.options
        == AttachmentOptions(hidesThumbnail: true, thumbnailTime: 2.5, thumbnailClipping: clipping))
    #expect(payload.remarks.isEmpty)
  }

  @Test("unknown options of an attachment are ignored, and without options the system decides")
  func unknownOptions() {
    for json in ["{}", #"{"colour": "red", "Hidden": true}"#] {
      #expect(options(json).request?.options == AttachmentOptions())
      #expect(options(json).remarks.isEmpty)
    }
  }

  @Test(
    "an attachment's option with a wrong value is ignored with a remark, and the attachment is kept",
    arguments: [
      (#"{"hidden": 1}"#, .noBoolean), (#"{"hidden": "true"}"#, .noBoolean), (#"{"thumbnail-time": -1}"#, .noTime),
      (#"{"thumbnail-time": true}"#, .noTime), (#"{"thumbnail-time": "2"}"#, .noTime),
      (#"{"thumbnail-clipping": [0, 0, 1, 1]}"#, .noRectangle), (#"{"thumbnail-clipping": {"x": 0}}"#, .noRectangle),
      (#"{"thumbnail-clipping": {"x": 0, "y": 0, "width": 0, "height": 1}}"#, .noRectangle),
      (#"{"thumbnail-clipping": {"x": 0.5, "y": 0, "width": 0.6, "height": 1}}"#, .noRectangle),
      (#"{"thumbnail-clipping": {"x": -0.1, "y": 0, "width": 0.6, "height": 1}}"#, .noRectangle),
      (#"{"thumbnail-clipping": {"x": 0, "y": 0, "width": "1", "height": 1}}"#, .noRectangle),
    ] as [(String, AttachmentRemark.Problem)])
  func wrongOption(_ json: String, _ problem: AttachmentRemark.Problem) {
    let payload = options(json)
    #expect(payload.request?.options == AttachmentOptions())
    #expect(payload.remarks.map(\.problem) == [problem])
    let mixed = options(json.dropLast() + #", "unknown": 1}"#)
    #expect(mixed.request != nil)
  }

  @Test("a wrong option of an attachment does not affect the valid options")
  func mixedOptions() {
    let payload = options(#"{"hidden": true, "thumbnail-time": "2"}"#)
    #expect(payload.request?.options == AttachmentOptions(hidesThumbnail: true))
    #expect(payload.remarks.map(\.key) == ["thumbnail-time"])
  }

  @Test(
    "attachment options that are not an object are ignored with a remark", arguments: ["[]", "7", "\"hidden\"", "null"])
  func noOptions(_ json: String) {
    #expect(options(json).request?.options == AttachmentOptions())
    #expect(options(json).remarks.map(\.problem) == [.noObject])
  }

  @Test("the identifier of an attachment has 1 to 64 characters")
  func identifiers() {
    func read(_ value: String) -> AttachmentPayload {
      self.read(#"{"image-url": "https://a.example/1", "attachment-identifier": \#(value)}"#)
    }
    #expect(read("\"receipt\"").request?.identifier == "receipt")
    #expect(read("\"\(String(repeating: "a", count: 64))\"").request?.identifier.count == 64)
    for value in ["\"\"", "\"\(String(repeating: "a", count: 65))\"", "7", "null"] {
      #expect(read(value).request?.identifier == "attachment")
      #expect(read(value).remarks.map(\.problem) == [.noIdentifier])
    }
  }

  @Test("a remark about a payload names the key and a valid value, and does not contain the wrong value")
  func texts() {
    let payload = read(#"{"attachment-url": "secret"}"#)
    #expect(
      payload.remarks.map(\.description) == [
        "The attachment's key 'attachment-url' is ignored. Use a URL such as https://example.com/picture.jpg."
      ])
    #expect(read("7").remarks.map(\.description) == ["The payload is ignored. Use a JSON object."])
  }
}
