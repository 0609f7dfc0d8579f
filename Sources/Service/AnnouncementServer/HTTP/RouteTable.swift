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
    /// A route, with the decoded values of the parameters in its path.
    case route(Route, parameters: [String])
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
  /// The paths that end with their only parameter, by the part before the parameter.
  private var open: [String: Path] = [:]
  /// The paths with a parameter before their end, with their segments. They are few.
  private var others: [(segments: [Segment], path: Path)] = []

  private enum Segment: Equatable {
    case fixed(Substring)
    case parameter
  }

  /// All routes, in the order in which they were given.
  let all: [Route]

  init(_ routes: [Route]) {
    all = routes
    for route in routes {
      if let start = route.template.firstIndex(of: "{") {
        guard route.template[start...].lastIndex(of: "/") == nil else {
          add(route)
          continue
        }
        open[String(route.template[..<start]), default: Path(template: route.template)].routes.append(route)
      } else {
        fixed[route.template, default: Path(template: route.template)].routes.append(route)
      }
    }
  }

  private mutating func add(_ route: Route) {
    let segments = Self.segments(route.template).map { $0.hasPrefix("{") ? Segment.parameter : .fixed($0) }
    if let index = others.firstIndex(where: { $0.segments == segments }) {
      others[index].path.routes.append(route)
    } else {
      others.append((segments, Path(template: route.template, routes: [route])))
    }
  }

  private static func segments(_ path: String) -> [Substring] {
    path.split(separator: "/", omittingEmptySubsequences: false)
  }

  /// Returns the route of a request.
  ///
  /// - Parameter path: The path as it was sent, without its query.
  func match(_ method: HTTPRequest.Method, _ path: String) -> Match {
    guard let found = fixed[path] else { return matchOpen(method, path) }
    let match = found.match(method, parameters: [])
    guard case .otherMethods = match else { return match }
    // The last segment of a fixed path may also be the value of a parameter, for example an announcement with the id
    // `pause`.
    let other = matchOpen(method, path)
    if case .route = other { return other }
    return match
  }

  /// Returns the template of the path that was meant by a path with superfluous slashes at its end; nil for other
  /// paths.
  func meant(by path: String) -> String? {
    guard let end = path.lastIndex(where: { $0 != "/" }), path.hasSuffix("/") else { return nil }
    return switch match(.get, String(path[...end])) {
    case .route(let route, _): route.template
    case .otherMethods(_, let template): template
    case .nothing: nil
    }
  }

  private func matchOpen(_ method: HTTPRequest.Method, _ path: String) -> Match {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return .nothing }
    let start = path.utf8.index(after: slash)
    guard start < path.endIndex, let found = open[String(path[..<start])] else { return matchOthers(method, path) }
    guard let parameter = Self.decoded(path[start...]) else { return .nothing }
    return found.match(method, parameters: [parameter])
  }

  private func matchOthers(_ method: HTTPRequest.Method, _ path: String) -> Match {
    guard !others.isEmpty else { return .nothing }
    let given = Self.segments(path)
    for (segments, found) in others where segments.count == given.count {
      var parameters: [String] = []
      let isMatch = zip(segments, given).allSatisfy { segment, text in
        switch segment {
        case .fixed(let name): return name == text
        case .parameter:
          guard let parameter = Self.decoded(text) else { return false }
          parameters.append(parameter)
          return true
        }
      }
      if isMatch { return found.match(method, parameters: parameters) }
    }
    return .nothing
  }

  /// Returns the value of a parameter; nil if the segment is empty or does not decode to UTF-8.
  private static func decoded(_ segment: Substring) -> String? {
    let text = String(segment)
    let isPlain = !text.utf8.contains(UInt8(ascii: "%"))
    guard let parameter = isPlain ? text : text.removingPercentEncoding, !parameter.isEmpty else { return nil }
    return parameter
  }
}

extension RouteTable.Path {
  fileprivate func match(_ method: HTTPRequest.Method, parameters: [String]) -> RouteTable.Match {
    let wanted = method == .head ? .get : method
    guard let route = routes.first(where: { $0.method == wanted }) else {
      return .otherMethods(allow: allow, template: template)
    }
    return .route(route, parameters: parameters)
  }
}
