// SPDX-License-Identifier: Apache-2.0

// The least that a request costs in this framework: reads a body and answers the same bytes each time. What the service
// does beyond that, when a request is repeated, is measured beside it.
//   bare-service PORT FILE     where to listen on 127.0.0.1, and the JSON that is answered to POST /v1/announcements

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

let arguments = CommandLine.arguments
guard arguments.count == 3, let port = Int(arguments[1]) else {
  FileHandle.standardError.write(Data("bare-service: give a port and a file\n".utf8))
  exit(64)
}
let answer = ByteBuffer(bytes: try Data(contentsOf: URL(filePath: arguments[2])))

let router = Router()
router.post("/v1/announcements") { request, _ -> Response in
  // As much as the service reads of an announcement.
  _ = try await request.body.collect(upTo: 65_536)
  return Response(
    status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: answer))
}
let application = Application(
  router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
try await application.runService()
