// SPDX-License-Identifier: Apache-2.0

import SpeechServers
import Testing

/// Expects an error of a speech server with one of the codes.
func expectSpeechServerError(
  _ codes: SpeechServerError.Code..., comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ work: () async throws -> some Any
) async {
  do {
    _ = try await work()
    Issue.record("There is no error instead of \(codes).", sourceLocation: sourceLocation)
  } catch let error as SpeechServerError {
    #expect(codes.contains(error.code), comment ?? "\(error)", sourceLocation: sourceLocation)
  } catch {
    Issue.record(error, sourceLocation: sourceLocation)
  }
}
