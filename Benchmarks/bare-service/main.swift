// SPDX-License-Identifier: Apache-2.0

// Shows the smallest possible cost of a request in this framework: the program reads a body and returns the same bytes
// each time. The benchmark compares it with the service's answer to a repeated request.
//     bare-service PORT FILE     the port on 127.0.0.1, and the JSON answer to POST /v1/announcements

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

let arguments = CommandLine.arguments
guard arguments.count == 3, let port = Int(arguments[1]) else {
  FileHandle.standardError.write(Data("bare-service: usage: bare-service PORT FILE\n".utf8))
  exit(64)
}
let answer = ByteBuffer(bytes: try Data(contentsOf: URL(filePath: arguments[2])))

let router = Router()
router.post("/v1/announcements") { request, _ -> Response in
  // This is the service's limit for the body of an announcement.
  _ = try await request.body.collect(upTo: 65_536)
  return Response(
    status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: answer))
}
let application = Application(
  router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
try await application.runService()
