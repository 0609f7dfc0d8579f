// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The attachment that a notification's payload names.
public struct AttachmentRequest: Sendable, Hashable {
  /// The identifier of an attachment if the payload names none.
  public static let defaultIdentifier = "attachment"

  /// The attachment's URL, with `https` or `http` and a host. ``AttachmentDownloader`` makes further checks.
  public var url: URL

  /// The identifier for `UNNotificationAttachment`.
  public var identifier: String

  public var options: AttachmentOptions

  public init(
    url: URL, identifier: String = AttachmentRequest.defaultIdentifier, options: AttachmentOptions = AttachmentOptions()
  ) {
    self.url = url
    self.identifier = identifier
    self.options = options
  }
}

/// What a notification's payload says about its attachment.
///
/// These keys are read at the top level of the payload, beside `aps`:
///
/// - `attachment-url`, `image-url` and `image_url`: the URL. The first of them, in this order, that has a usable value
///   is taken.
/// - `attachment-identifier`: a text of 1 to 64 characters; ``AttachmentRequest/defaultIdentifier`` by default.
/// - `attachment-options`: an object with `hidden` (a boolean), `thumbnail-time` (a number of at least 0) and
///   `thumbnail-clipping` (an object of the numbers `x`, `y`, `width` and `height`). Other keys of the object are
///   ignored.
///
/// A value that cannot be used is ignored and recorded in ``remarks``. Whatever the payload contains, the notification
/// can be shown.
public struct AttachmentPayload: Sendable, Hashable, Decodable {
  /// The keys under which the URL may be, in the order in which they are tried.
  private static let urlKeys: [CodingKeys] = [.attachmentURL, .imageURL, .otherImageURL]

  private enum CodingKeys: String, CodingKey {
    case attachmentURL = "attachment-url"
    case imageURL = "image-url"
    case otherImageURL = "image_url"
    case identifier = "attachment-identifier"
    case options = "attachment-options"
  }

  private enum OptionKeys: String, CodingKey {
    case hidden
    case time = "thumbnail-time"
    case clipping = "thumbnail-clipping"
  }

  /// The attachment; nil if the payload names none.
  public private(set) var request: AttachmentRequest?

  /// Remarks for a log about ignored values: the key and the problem, never the value.
  public private(set) var remarks: [AttachmentRemark] = []

  /// Reads a payload.
  ///
  /// - Parameter payload: The notification's `userInfo` as JSON.
  public init(_ payload: Data) {
    self = (try? JSONDecoder().decode(AttachmentPayload.self, from: payload)) ?? AttachmentPayload()
  }

  private init() { remarks = [Self.noObject] }

  private static let noObject = AttachmentRemark(key: nil, problem: .noObject)

  /// Reads a payload that is being decoded. This initializer throws no error.
  public init(from decoder: any Decoder) throws {
    guard let keys = try? decoder.container(keyedBy: CodingKeys.self) else {
      remarks = [Self.noObject]
      return
    }
    guard let url = url(in: keys) else { return }
    var request = AttachmentRequest(url: url)
    if keys.contains(.identifier) {
      if let text = try? keys.decode(String.self, forKey: .identifier), (1...64).contains(text.count) {
        request.identifier = text
      } else {
        ignore(CodingKeys.identifier, .noIdentifier)
      }
    }
    if keys.contains(.options) { request.options = options(in: keys) }
    self.request = request
  }

  private mutating func ignore(_ key: any CodingKey, _ problem: AttachmentRemark.Problem) {
    remarks.append(AttachmentRemark(key: key.stringValue, problem: problem))
  }

  private mutating func url(in keys: KeyedDecodingContainer<CodingKeys>) -> URL? {
    for key in Self.urlKeys where keys.contains(key) {
      guard let text = try? keys.decode(String.self, forKey: key) else {
        ignore(key, .noText)
        continue
      }
      guard let url = URL(string: text), ["https", "http"].contains(url.scheme?.lowercased()),
        let host = url.host(percentEncoded: true), !host.isEmpty
      else {
        ignore(key, .noURL)
        continue
      }
      return url
    }
    return nil
  }

  private mutating func options(in keys: KeyedDecodingContainer<CodingKeys>) -> AttachmentOptions {
    var options = AttachmentOptions()
    guard let keys = try? keys.nestedContainer(keyedBy: OptionKeys.self, forKey: .options) else {
      ignore(CodingKeys.options, .noObject)
      return options
    }
    if keys.contains(.hidden) {
      if let isHidden = try? keys.decode(Bool.self, forKey: .hidden) {
        options.hidesThumbnail = isHidden
      } else {
        ignore(OptionKeys.hidden, .noBoolean)
      }
    }
    if keys.contains(.time) {
      if let time = try? keys.decode(Double.self, forKey: .time), time >= 0 {
        options.thumbnailTime = time
      } else {
        ignore(OptionKeys.time, .noTime)
      }
    }
    if keys.contains(.clipping) {
      options.thumbnailClipping = (try? keys.decode(Clipping.self, forKey: .clipping))?.rectangle
      if options.thumbnailClipping == nil { ignore(OptionKeys.clipping, .noRectangle) }
    }
    return options
  }

  private struct Clipping: Decodable {
    var x, y, width, height: Double

    var rectangle: AttachmentOptions.ClippingRectangle? {
      AttachmentOptions.ClippingRectangle(x: x, y: y, width: width, height: height)
    }
  }
}

/// A remark on an ignored value of a payload, with the reason.
public struct AttachmentRemark: Sendable, Hashable, CustomStringConvertible {
  public enum Problem: String, Sendable, Hashable, CaseIterable {
    case noObject = "no_object"
    case noText = "no_text"
    case noURL = "no_url"
    case noIdentifier = "no_identifier"
    case noBoolean = "no_boolean"
    case noTime = "no_time"
    case noRectangle = "no_rectangle"
  }

  /// The key of the value; nil for the whole payload.
  public let key: String?
  public let problem: Problem

  /// The ignored key, and the form that its value must have.
  public var description: String {
    let subject = key.map { "The attachment's key '\($0)'" } ?? "The payload"
    return "\(subject) is ignored. \(remedy)"
  }

  private var remedy: String {
    switch problem {
    case .noObject: "Use a JSON object."
    case .noText: "Use a string with a URL."
    case .noURL: "Use a URL such as https://example.com/picture.jpg."
    case .noIdentifier: "Use a string of 1 to 64 characters."
    case .noBoolean: "Use true or false."
    case .noTime: "Use a number of at least 0."
    case .noRectangle:
      "Use an object of the numbers x, y, width and height, each from 0 to 1, for a part within the image."
    }
  }
}
