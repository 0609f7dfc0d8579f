// SPDX-License-Identifier: Apache-2.0
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct Payment: Codable {
  var id: String
  var amount: String  // decimal text: no binary fraction is ever an amount
  var currency: String
  var deliver = ["clip", "play"]
}

/// The service did not accept the payment; `problem` says why.
struct NotAccepted: Error { var problem: String }

/// A redirect would become a GET, whose answer says nothing about the payment.
final class NoRedirects: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) { completionHandler(nil) }
}

let session = URLSession(configuration: .ephemeral, delegate: NoRedirects(), delegateQueue: nil)

/// Returns the report; the same payment may be sent any number of times.
func announce(_ payment: Payment) async throws -> Data {
  let environment = ProcessInfo.processInfo.environment
  let key = (environment["CRIER_KEY"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
  guard !key.isEmpty, key.utf8.allSatisfy({ (33...126).contains($0) }),
    let url = URL(string: environment["CRIER_URL"] ?? "")?.appending(path: "v1/announcements"),
    ["http", "https"].contains(url.scheme), url.host != nil
  else { throw NotAccepted(problem: "set CRIER_URL, with http:// or https://, and CRIER_KEY") }
  var request = URLRequest(url: url, timeoutInterval: 30)
  request.httpMethod = "POST"
  request.setValue("Bearer " + key, forHTTPHeaderField: "Authorization")
  request.setValue("application/json", forHTTPHeaderField: "Content-Type")
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys  // the same bytes at each attempt, also of another process
  request.httpBody = try encoder.encode(payment)
  let started = ContinuousClock.now
  var attempt = 0
  while true {
    var wait = 1 << attempt
    attempt += 1
    var problem = "no whole answer"  // it may have been accepted or not, and asking again is safe
    if let (body, response) = try? await session.data(for: request), let answer = response as? HTTPURLResponse {
      problem = "\(answer.statusCode) \(String(decoding: body, as: UTF8.self))"
      switch answer.statusCode {
      case 200, 201: return body  // 200: it came before, and is not announced twice
      case 429, 500...:
        // A proxy may send a date.
        if let after = answer.value(forHTTPHeaderField: "Retry-After").flatMap({ Int($0) }), after >= 0 { wait = after }
      default:  // 409: another payment has this id; others: correct the request
        throw NotAccepted(problem: "\(payment.id): \(problem)")
      }
    }
    if attempt == 8 || ContinuousClock.now - started + .seconds(wait) > .seconds(600) {
      throw NotAccepted(problem: "\(payment.id): gave up after \(attempt) attempts: \(problem)")
    }
    try await Task.sleep(for: .seconds(wait))
  }
}

@main struct Main {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 4 else {
      FileHandle.standardError.write(Data("usage: announce ID AMOUNT CURRENCY\n".utf8))
      exit(1)
    }
    do {
      let payment = Payment(id: words[1], amount: words[2], currency: words[3])
      print(String(decoding: try await announce(payment), as: UTF8.self))
    } catch let error as NotAccepted {
      FileHandle.standardError.write(Data((error.problem + "\n").utf8))
      exit(1)
    }
  }
}
