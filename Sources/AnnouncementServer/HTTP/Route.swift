// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore

/// A route: a method and a path that the service answers.
struct Route: Sendable {
  typealias Handler = @Sendable (Call) async throws -> Response

  var method: HTTPRequest.Method
  /// The template of the path, such as `/v1/clips/{name}`. A segment in braces is a parameter.
  var template: String
  var access: CallAccess
  var handler: Handler

  static func get(_ template: String, _ access: CallAccess, _ handler: @escaping Handler) -> Route {
    Route(method: .get, template: template, access: access, handler: handler)
  }

  static func post(_ template: String, _ access: CallAccess, _ handler: @escaping Handler) -> Route {
    Route(method: .post, template: template, access: access, handler: handler)
  }

  static func put(_ template: String, _ access: CallAccess, _ handler: @escaping Handler) -> Route {
    Route(method: .put, template: template, access: access, handler: handler)
  }

  static func delete(_ template: String, _ access: CallAccess, _ handler: @escaping Handler) -> Route {
    Route(method: .delete, template: template, access: access, handler: handler)
  }
}
