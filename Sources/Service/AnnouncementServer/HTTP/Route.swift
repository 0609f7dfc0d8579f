// SPDX-License-Identifier: Apache-2.0

import Announcements
import HTTPTypes
import HummingbirdCore

/// A route: a method and a path that the service answers.
struct Route: Sendable {
  typealias Handler = @Sendable (Call) async throws -> Response

  var method: HTTPRequest.Method
  /// The template of the path, such as `/v1/clips/{name}`. A segment in braces is a parameter.
  var template: String
  var access: CallAccess
  /// The names of the parameters that the query may contain.
  var query: [String] = []
  /// Whether the answer's length grows with what the account has stored; see ``LongAnswers``.
  var isLong = false
  /// Whether the handler begins on the event loop of its connection, because most of its answers are in memory. For
  /// work that may block or takes long, it moves to a thread that may wait. All other handlers begin on such a thread.
  var isOnLoop = false
  var handler: Handler

  static func get(
    _ template: String, _ access: CallAccess, query: [String] = [], isLong: Bool = false, isOnLoop: Bool = false,
    _ handler: @escaping Handler
  ) -> Route {
    Route(
      method: .get, template: template, access: access, query: query, isLong: isLong, isOnLoop: isOnLoop,
      handler: handler)
  }

  static func post(
    _ template: String, _ access: CallAccess, query: [String] = [], isOnLoop: Bool = false,
    _ handler: @escaping Handler
  ) -> Route {
    Route(method: .post, template: template, access: access, query: query, isOnLoop: isOnLoop, handler: handler)
  }

  static func put(
    _ template: String, _ access: CallAccess, query: [String] = [], _ handler: @escaping Handler
  ) -> Route {
    Route(method: .put, template: template, access: access, query: query, handler: handler)
  }

  static func delete(_ template: String, _ access: CallAccess, _ handler: @escaping Handler) -> Route {
    Route(method: .delete, template: template, access: access, handler: handler)
  }

  /// Checks that the route knows every parameter of the query. Otherwise, a misspelt parameter, or one that belongs in
  /// the body, would have no effect, and nobody would notice.
  ///
  /// The check applies to routes that need a key, which only programs written for this service call. Monitors, browsers
  /// and caches may add parameters to the URLs of open pages and of clips, so these routes accept any parameter.
  ///
  /// Every route refuses a parameter that is given twice, because a proxy or another reader of the URL might take the
  /// other value.
  ///
  /// - Throws: ``Problem`` with 400 `parameter_invalid` that names the first repeated or unknown parameter.
  func requireKnownQuery(of call: Call) throws(Problem) {
    if let name = call.request.uri.repeatedParameter {
      throw Problem.parameterInvalid("\(PayloadDecoder.printable(name)): is given more than once; give it once.")
    }
    guard access.needsKey, call.request.uri.query != nil,
      let name = call.request.uri.queryParameters.map({ String($0.key) }).first(where: {
        !$0.isEmpty && !query.contains($0)
      })
    else { return }
    let remedy =
      if let meant = SimilarNames.name(like: name, among: query) {
        "; did you mean \(meant)?"
      } else if !query.isEmpty {
        "; use only \(query.joined(separator: ", "))."
      } else if method == .get || method == .delete {
        ", which has none; remove it."
      } else {
        "; send options in the body, not in the URL."
      }
    throw Problem.parameterInvalid("\(PayloadDecoder.printable(name)): is not a parameter of this call\(remedy)")
  }
}

extension URI {
  /// The name of the first query parameter that occurs twice, as it was sent; nil if each occurs once. Names are
  /// compared as they were sent: a percent-encoded name is a different name everywhere in the service.
  var repeatedParameter: String? {
    guard query != nil else { return nil }
    var names: Set<Substring> = []
    return queryParameters.first { !$0.key.isEmpty && !names.insert($0.key).inserted }.map { String($0.key) }
  }
}
