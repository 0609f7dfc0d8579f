// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A clip as a push describes it: where a phone downloads it, and how the phone checks it.
public struct PushedClip: Sendable, Hashable {
  /// The file name with its extension, which the file also has in the phone's `Library/Sounds`.
  public let name: String
  /// The signed URL, with the scheme `https` or `http`.
  public let url: URL
  /// SHA-256 over the whole file, in 64 lower-case hexadecimal digits.
  public let sha256: String
  /// The size of the file.
  public let bytes: Int
  /// The length of the sound in ms.
  public let durationMilliseconds: Int

  /// - Throws: ``PushMessageError`` with `clipInvalid`. A name must be safe to create in a folder, because the phone
  ///   writes a file of this name: 1 to 128 letters, digits and `-._`, without a period at the start.
  public init(
    name: String, url: URL, sha256: String, bytes: Int, durationMilliseconds: Int
  ) throws(PushMessageError) {
    guard (1...128).contains(name.utf8.count), !name.hasPrefix("."), name.utf8.allSatisfy(\.isOfFileName) else {
      throw PushMessageError(.clipInvalid, "must have a name of 1 to 128 letters, digits and -._, such as 9f2c….wav")
    }
    guard ["https", "http"].contains(url.scheme?.lowercased()), url.host(percentEncoded: true)?.isEmpty == false else {
      throw PushMessageError(.clipInvalid, "must have a URL that begins with https:// or http://")
    }
    guard sha256.utf8.count == 64, sha256.utf8.allSatisfy(\.isLowerCaseHexadecimal) else {
      throw PushMessageError(.clipInvalid, "must have a sha256 of 64 lower-case hexadecimal digits")
    }
    guard bytes >= 0, durationMilliseconds >= 0 else {
      throw PushMessageError(.clipInvalid, "must have a size and a length that are not negative")
    }
    self.name = name
    self.url = url
    self.sha256 = sha256
    self.bytes = bytes
    self.durationMilliseconds = durationMilliseconds
  }
}

extension PushedClip: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, url, sha256, bytes
    case durationMilliseconds = "duration_ms"
  }

  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      name: keys.decode(String.self, forKey: .name), url: keys.decode(URL.self, forKey: .url),
      sha256: keys.decode(String.self, forKey: .sha256), bytes: keys.decode(Int.self, forKey: .bytes),
      durationMilliseconds: keys.decode(Int.self, forKey: .durationMilliseconds))
  }
}

extension UInt8 {
  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

  var isLowerCaseHexadecimal: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self) }

  fileprivate var isOfFileName: Bool {
    isDigit || isLetter || self == UInt8(ascii: "-") || self == UInt8(ascii: ".") || self == UInt8(ascii: "_")
  }
}
