// SPDX-License-Identifier: Apache-2.0

import Ledger
import SoundOutputs
import Waveforms

/// The messages to a lane's task.
enum LaneMessage: Sendable {
  /// `by` names the key or command that pauses, and `account` is the account of the key.
  case pause(by: String?, account: String?, Reply<Void>)
  case resume(Reply<Void>)
  /// A volume in per cent, or nil for the volume of the settings.
  case volume(Int?, Reply<Void>)
  case chimes(Chimes, Reply<Void>)
  case skip(Reply<Bool>)
  case cancel(Int64, Reply<Bool>)
  case restore(Int64, Reply<Bool>)
  case replay(Int64?, requester: String?, Reply<Int64>)
  case status(Reply<LaneStatus>)
  case rendered(Int64, RenderOutcome)
  case ended(PlayEnding)
  /// The device was opened while nothing played, to see whether it works.
  case probed(Result<Void, OutputError>)
  case summaryMade(StoredAnnouncement?)
  case stop(finishing: Bool, cancelling: [Int64])

  /// Replies to waiting callers with an error, because the message will not be handled.
  func refuse(_ error: any Error) {
    switch self {
    case .pause(_, _, let reply), .resume(let reply), .volume(_, let reply), .chimes(_, let reply):
      reply.fail(error)
    case .skip(let reply), .cancel(_, let reply), .restore(_, let reply): reply.fail(error)
    case .replay(_, _, let reply): reply.fail(error)
    case .status(let reply): reply.fail(error)
    case .rendered, .ended, .probed, .summaryMade, .stop: break
    }
  }
}

/// How and when a sound ended.
struct PlayEnding: Sendable {
  var result: Result<PlayResult, OutputError>
  /// The time when the sound ended, in ms of the player's clock.
  var at: Int64
}

/// A reply that is sent once.
struct Reply<Value: Sendable>: Sendable {
  let give: @Sendable (Result<Value, any Error>) -> Void

  init(_ give: @escaping @Sendable (Result<Value, any Error>) -> Void) { self.give = give }

  func callAsFunction(_ value: Value) { give(.success(value)) }
  func fail(_ error: any Error) { give(.failure(error)) }
}

enum RenderOutcome: Sendable {
  case ready(LaneSound)
  case failed(RenderFailure)
  /// The ledger could not be read or written; the value is the code of its error. Such an error is not the
  /// announcement's fault, so it never ends the announcement.
  case unwritten(String)
  /// The announcement has ended meanwhile.
  case gone
}
