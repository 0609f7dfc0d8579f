// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import PushMessages
import ServiceAccess

/// The routes of `/v1/devices/{id}/enumerators` and `…/{container}`, with which a phone's file-provider extension
/// registers the containers that it shows now. Only changes of these containers, and of the working set, are pushed to
/// the phone.
struct EnumeratorRoutes: Sendable {
  /// The longest name of a container, in bytes.
  static let longestContainer = 128

  let ledger: any Ledger.LibraryStore

  var routes: [Route] {
    [
      .get("/v1/devices/{id}/enumerators", .keyOrOwnDevice(.read), list),
      .put("/v1/devices/{id}/enumerators/{container}", .keyOrOwnDevice(.announce), add),
      .delete("/v1/devices/{id}/enumerators/{container}", .keyOrOwnDevice(.announce), remove),
    ]
  }

  private struct Line: Encodable {
    var container: String
    var registeredAt: Date

    init(_ enumerator: Ledger.Enumerator) {
      (container, registeredAt) = (enumerator.container, enumerator.registeredAt)
    }
  }

  /// Returns the identifier of the container of a call.
  private static func container(of call: Call) throws(Problem) -> String {
    guard call.parameter.utf8.count <= longestContainer,
      let container = try? FileProviderMessage.Container(call.parameter)
    else {
      throw Problem.fieldInvalid(
        "container: is not valid; give root, working-set, or 1 to \(longestContainer) bytes without control characters."
      )
    }
    return container.identifier
  }

  private func add(_ call: Call) async throws -> Response {
    let container = try Self.container(of: call)
    let enumerator = try await ledger.addEnumerator(
      of: container, account: try call.sender.account, device: call.parameters[0])
    guard let enumerator else { throw DeviceRoutes.unknown }
    return try ServiceJSON.response(enumerator.isNew ? .created : .ok, Line(enumerator))
  }

  private func list(_ call: Call) async throws -> Response {
    let enumerators = try await ledger.enumerators(account: try call.sender.account, device: call.parameters[0])
    guard let enumerators else { throw DeviceRoutes.unknown }
    return try ServiceJSON.response(.ok, ["enumerators": enumerators.map(Line.init)])
  }

  private func remove(_ call: Call) async throws -> Response {
    let container = try Self.container(of: call)
    let isRemoved = try await ledger.removeEnumerator(
      of: container, account: try call.sender.account, device: call.parameters[0])
    guard isRemoved else {
      throw Problem.notFound("The account has no such device, or the device does not show this container.")
    }
    return try ServiceJSON.response(.ok, ["container": container])
  }
}
