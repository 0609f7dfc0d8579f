// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension AlertMessage {
  /// The parts that are shortened or left out if a message is too large, in this order. `docs/push.md` has the reason
  /// for each.
  public enum Part: String, Sendable, Hashable, CaseIterable {
    case text
    case attachment
    case payer
    /// The body is shortened to ``visibleBody`` characters. It is shortened further only after the tokens have been
    /// left out.
    case body
    case subtitle
    case tokens
    /// The title is shortened, but never left out.
    case title
  }

  /// The smallest number of characters of the body that a banner shows: about four lines.
  public static let visibleBody = 160

  private enum Step {
    case leaveOut(Part)
    case shortenBody(toAtLeast: Int)
    case shortenTitle
  }

  private static let steps: [Step] = [
    .leaveOut(.text), .leaveOut(.attachment), .leaveOut(.payer), .shortenBody(toAtLeast: visibleBody),
    .leaveOut(.subtitle), .leaveOut(.tokens), .shortenBody(toAtLeast: 0), .shortenTitle,
  ]

  /// Returns the payload in at most 4,096 bytes.
  ///
  /// The sound, `mutable-content`, the clip, the id, the sequence number, the amount and the title are never left out.
  /// A shortened text ends with an ellipsis, never within a character and never within a number.
  ///
  /// - Returns: The payload, and the parts that were left out or shortened, in the order of ``Part``.
  /// - Throws: ``PushMessageError`` with `messageTooLarge` if the parts that must remain are too large.
  public func fitted() throws(PushMessageError) -> (body: Data, leftOut: [Part]) {
    let limit = PushRequest.largestBody
    if let data = data(within: limit) { return (data, []) }
    var message = self
    var shortestBody: Int?
    for step in Self.steps {
      switch step {
      case .leaveOut(let part): message.leaveOut(part)
      case .shortenBody(let shortest): shortestBody = shortest
      case .shortenTitle: message.body = nil
      }
      if let data = message.data(within: limit) { return (data, message.parts(missingFrom: self)) }
      var fitting: AlertMessage?
      if case .shortenTitle = step {
        fitting = message.shortening(\.title, toAtLeast: 0, within: limit)
        if fitting?.title == nil { fitting = nil }
      } else if let shortestBody {
        fitting = message.shortening(\.body, toAtLeast: shortestBody, within: limit)
      }
      if let fitting, let data = fitting.data(within: limit) { return (data, fitting.parts(missingFrom: self)) }
    }
    throw PushMessageError(
      .messageTooLarge,
      "has \(message.encoded().count) bytes even without all optional parts; APNs accepts at most \(limit), so "
        + "shorten the clip's URL, the id or the thread id")
  }

  private func data(within limit: Int) -> Data? {
    let data = encoded()
    return data.count <= limit ? data : nil
  }

  private mutating func leaveOut(_ part: Part) {
    switch part {
    case .text: content?.text = nil
    case .attachment: attachmentURL = nil
    case .payer: content?.payer = nil
    case .body: body = nil
    case .subtitle: subtitle = nil
    case .tokens: content?.spoken = nil
    case .title: title = nil
    }
  }

  private func parts(missingFrom original: AlertMessage) -> [Part] {
    Part.allCases.filter { part in
      switch part {
      case .text: content?.text != original.content?.text
      case .attachment: attachmentURL != original.attachmentURL
      case .payer: content?.payer != original.content?.payer
      case .body: body != original.body
      case .subtitle: subtitle != original.subtitle
      case .tokens: content?.spoken != original.content?.spoken
      case .title: title != original.title
      }
    }
  }

  /// Returns the message with the longest beginning of a text that fits.
  ///
  /// - Parameter shortest: The smallest number of characters to keep; 0 if the text may be left out.
  /// - Returns: nil if the message does not fit even with `shortest` characters, or if the text has no more than
  ///   `shortest` characters.
  private func shortening(
    _ text: WritableKeyPath<AlertMessage, String?>, toAtLeast shortest: Int, within limit: Int
  ) -> AlertMessage? {
    // A character has at least one byte, so more characters than bytes never fit.
    guard let characters = self[keyPath: text].map({ Array($0.prefix(limit + 1)) }), characters.count > shortest else {
      return nil
    }
    func message(keeping count: Int) -> AlertMessage? {
      var message = self
      message[keyPath: text] = characters.shortened(to: count)
      return message.data(within: limit) == nil ? nil : message
    }
    guard var best = message(keeping: shortest) else { return nil }
    // If more characters are kept, the text is never shorter, so a binary search finds the longest text that fits.
    var (low, high) = (shortest, characters.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if let longer = message(keeping: middle) { (best, low) = (longer, middle) } else { high = middle }
    }
    return best
  }
}
