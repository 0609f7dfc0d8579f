// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ServiceAccess

/// Who may make a call.
enum CallAccess: Sendable, Hashable {
  /// Anybody.
  case open
  /// Anybody who calls the service by one of its own names: what a page of another site is not to read in a browser.
  case openByName
  /// Whoever has a key with this scope.
  case key(Scope)
  /// Whoever has such a key, or the call's signed URL.
  case keyOrSignedURL(Scope)
}

/// A call that the service answers.
struct Route: Sendable {
  typealias Handler = @Sendable (Call) async throws -> Response

  var method: HTTPRequest.Method
  /// `/v1/clips/{name}`: a parameter may stand for the last segment.
  var template: String
  var access: CallAccess
  var handler: Handler

  static func get(_ template: String, _ access: CallAccess, _ handler: @escaping Handler) -> Route {
    Route(method: .get, template: template, access: access, handler: handler)
  }

  static func post(_ template: String, _ access: CallAccess, _ handler: @escaping Handler) -> Route {
    Route(method: .post, template: template, access: access, handler: handler)
  }

  static func delete(_ template: String, _ access: CallAccess, _ handler: @escaping Handler) -> Route {
    Route(method: .delete, template: template, access: access, handler: handler)
  }
}

/// Which call a request is: one table says what there is, who may call it, under which name it is counted, and which
/// methods a path has. A value without a socket; `HEAD` is what `GET` is.
///
/// The library's router has neither the methods of a path that was found (405 with `Allow`, RFC 9110, section 15.5.6) nor a
/// place for who may call.
struct RouteTable: Sendable {
  enum Match: Sendable {
    case route(Route, parameter: String?)
    /// The path is there and the method is not.
    case otherMethods(allow: String, template: String)
    case nothing
  }

  fileprivate struct Path: Sendable {
    var template: String
    var routes: [Route] = []

    /// The methods, for `Allow`.
    var allow: String {
      let methods = Set(routes.map(\.method.rawValue) + (routes.contains { $0.method == .get } ? ["HEAD"] : []))
      return methods.sorted().joined(separator: ", ")
    }
  }

  /// Paths without a parameter.
  private var fixed: [String: Path] = [:]
  /// Paths that end with one, by what stands before it.
  private var open: [String: Path] = [:]

  init(_ routes: [Route]) {
    for route in routes {
      if let start = route.template.firstIndex(of: "{") {
        precondition(route.template.hasSuffix("}"), "A parameter stands at a path's end.")
        open[String(route.template[..<start]), default: Path(template: route.template)].routes.append(route)
      } else {
        fixed[route.template, default: Path(template: route.template)].routes.append(route)
      }
    }
  }

  /// - Parameter path: as it was sent, without its query.
  func match(_ method: HTTPRequest.Method, _ path: String) -> Match {
    guard let found = fixed[path] else { return matchOpen(method, path) }
    let match = found.match(method, parameter: nil)
    guard case .otherMethods = match else { return match }
    // What is called as a fixed path is, may be meant: an announcement with the id `pause`.
    if case .route(let route, let parameter) = matchOpen(method, path) { return .route(route, parameter: parameter) }
    return match
  }

  private func matchOpen(_ method: HTTPRequest.Method, _ path: String) -> Match {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return .nothing }
    let start = path.utf8.index(after: slash)
    guard start < path.endIndex, let found = open[String(path[..<start])] else { return .nothing }
    let segment = String(path[start...])
    let isPlain = !segment.utf8.contains(UInt8(ascii: "%"))
    // What is no UTF-8 behind its percent signs names nothing that there is.
    guard let parameter = isPlain ? segment : segment.removingPercentEncoding, !parameter.isEmpty else {
      return .nothing
    }
    return found.match(method, parameter: parameter)
  }
}

extension RouteTable.Path {
  fileprivate func match(_ method: HTTPRequest.Method, parameter: String?) -> RouteTable.Match {
    let wanted = method == .head ? .get : method
    guard let route = routes.first(where: { $0.method == wanted }) else {
      return .otherMethods(allow: allow, template: template)
    }
    return .route(route, parameter: parameter)
  }
}
