// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The attachment that a notification's payload names.
public struct AttachmentRequest: Sendable, Hashable {
  /// The identifier of an attachment whose payload has none.
  public static let defaultIdentifier = "attachment"

  /// The attachment's URL, with `https` or `http` and a host. ``AttachmentDownloader`` checks it further.
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
/// A value that cannot be used is ignored, and a remark says so. A payload never keeps a notification from being shown.
public struct AttachmentPayload: Sendable, Hashable, Decodable {
  /// The keys that can have the URL, in the order in which they are tried.
  public static let urlKeys = ["attachment-url", "image-url", "image_url"]

  /// The attachment; nil if the payload names none.
  public private(set) var request: AttachmentRequest?

  /// Remarks for a log about what was ignored: the key and the problem, never the value.
  public private(set) var remarks: [AttachmentRemark] = []

  /// Reads a payload.
  ///
  /// - Parameter payload: The notification's `userInfo` as JSON.
  public init(_ payload: Data) {
    self = (try? JSONDecoder().decode(AttachmentPayload.self, from: payload)) ?? AttachmentPayload([:], .noObject)
  }

  /// Reads a payload that is being decoded. It throws no error of its own.
  public init(from decoder: any Decoder) throws {
    guard case .object(let keys) = try PayloadValue(from: decoder) else {
      self.init([:], .noObject)
      return
    }
    self.init(keys)
  }

  private init(_ keys: [String: PayloadValue], _ problem: AttachmentRemark.Problem? = nil) {
    remarks = problem.map { [AttachmentRemark(key: nil, problem: $0)] } ?? []
    guard let url = url(in: keys) else { return }
    var request = AttachmentRequest(url: url)
    if let value = keys["attachment-identifier"] {
      if case .text(let text) = value, (1...64).contains(text.count) {
        request.identifier = text
      } else {
        ignore("attachment-identifier", .noIdentifier)
      }
    }
    if let value = keys["attachment-options"] { request.options = options(value) }
    self.request = request
  }

  private mutating func ignore(_ key: String, _ problem: AttachmentRemark.Problem) {
    remarks.append(AttachmentRemark(key: key, problem: problem))
  }

  private mutating func url(in keys: [String: PayloadValue]) -> URL? {
    for key in Self.urlKeys {
      guard let value = keys[key] else { continue }
      guard case .text(let text) = value else {
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

  private mutating func options(_ value: PayloadValue) -> AttachmentOptions {
    var options = AttachmentOptions()
    guard case .object(let keys) = value else {
      ignore("attachment-options", .noObject)
      return options
    }
    if let value = keys["hidden"] {
      if case .boolean(let isHidden) = value { options.hidesThumbnail = isHidden } else { ignore("hidden", .noBoolean) }
    }
    if let value = keys["thumbnail-time"] {
      if let time = value.number, time >= 0 {
        options.thumbnailTime = time
      } else {
        ignore("thumbnail-time", .noTime)
      }
    }
    if let value = keys["thumbnail-clipping"] {
      options.thumbnailClipping = value.clippingRectangle
      if options.thumbnailClipping == nil { ignore("thumbnail-clipping", .noRectangle) }
    }
    return options
  }
}

/// A value of a payload that was ignored, and why.
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

  /// What was ignored, and what would be right.
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

/// A value of JSON, as far as an attachment needs it.
private enum PayloadValue: Decodable {
  case text(String)
  case number(Double)
  case boolean(Bool)
  case object([String: PayloadValue])
  /// `null` or an array.
  case other

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([String: PayloadValue].self) {
      self = .object(value)
    } else {
      self = .other
    }
  }

  var number: Double? {
    guard case .number(let value) = self else { return nil }
    return value
  }

  var clippingRectangle: AttachmentOptions.ClippingRectangle? {
    guard case .object(let keys) = self, let x = keys["x"]?.number, let y = keys["y"]?.number,
      let width = keys["width"]?.number, let height = keys["height"]?.number
    else { return nil }
    return AttachmentOptions.ClippingRectangle(x: x, y: y, width: width, height: height)
  }
}
