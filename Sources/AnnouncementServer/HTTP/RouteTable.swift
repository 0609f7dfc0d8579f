// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes

/// The table that finds the route of a request. It defines in one place which routes exist, who may use them, the path
/// under which the metrics count them, and the methods of each path. It works without a socket. `HEAD` uses the route
/// of `GET`.
///
/// The library's router is not used because it neither provides the methods of a path that was found (405 with `Allow`,
/// RFC 9110, section 15.5.6) nor stores who may use a route.
struct RouteTable: Sendable {
  enum Match: Sendable {
    case route(Route, parameter: String?)
    /// The path exists, but not with this method.
    case otherMethods(allow: String, template: String)
    case nothing
  }

  fileprivate struct Path: Sendable {
    var template: String
    var routes: [Route] = []

    /// The methods of the path, as the value of the field `Allow`.
    var allow: String {
      let methods = Set(routes.map(\.method.rawValue) + (routes.contains { $0.method == .get } ? ["HEAD"] : []))
      return methods.sorted().joined(separator: ", ")
    }
  }

  /// The paths without a parameter, by template.
  private var fixed: [String: Path] = [:]
  /// The paths that end with a parameter, by the part before the parameter.
  private var open: [String: Path] = [:]

  init(_ routes: [Route]) {
    for route in routes {
      if let start = route.template.firstIndex(of: "{") {
        precondition(route.template.hasSuffix("}"), "A parameter must be at the end of the path.")
        open[String(route.template[..<start]), default: Path(template: route.template)].routes.append(route)
      } else {
        fixed[route.template, default: Path(template: route.template)].routes.append(route)
      }
    }
  }

  /// Returns the route of a request.
  ///
  /// - Parameter path: The path as it was sent, without its query.
  func match(_ method: HTTPRequest.Method, _ path: String) -> Match {
    guard let found = fixed[path] else { return matchOpen(method, path) }
    let match = found.match(method, parameter: nil)
    guard case .otherMethods = match else { return match }
    // The last segment of a fixed path may also be the value of a parameter, for example an announcement with the id
    // `pause`.
    if case .route(let route, let parameter) = matchOpen(method, path) { return .route(route, parameter: parameter) }
    return match
  }

  private func matchOpen(_ method: HTTPRequest.Method, _ path: String) -> Match {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return .nothing }
    let start = path.utf8.index(after: slash)
    guard start < path.endIndex, let found = open[String(path[..<start])] else { return .nothing }
    let segment = String(path[start...])
    let isPlain = !segment.utf8.contains(UInt8(ascii: "%"))
    // A segment that does not decode to UTF-8 matches nothing.
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
