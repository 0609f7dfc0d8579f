// SPDX-License-Identifier: Apache-2.0

#if canImport(AVFAudio)
  private import AVFAudio
  private import ConcurrencySupport
  private import Foundation
  public import Waveforms

  /// Plays to the output selected in the settings of an Apple system.
  public final class AVAudioPlayerOutput: SoundOutput {
    public let name = "default"

    public init() {}

    public func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult {
      guard !control.isStopped else { return .stopped(atMilliseconds: 0) }
      guard !sound.samples.isEmpty else { return .heard }
      let ending = PlayerEnding(control)
      let player: AVAudioPlayer
      do {
        player = try AVAudioPlayer(data: Data(WAVFile.encode(volume.applied(to: sound))))
      } catch {
        throw OutputError(
          .formatUnsupported, name, "\(error.localizedDescription)", remedy: "give a sound of 8,000 to 48,000 Hz")
      }
      player.delegate = ending
      defer { player.delegate = nil }

      var isPlaying = false
      while true {
        let place = min(sound.durationMilliseconds, Int(player.currentTime * 1000))
        switch control.state {
        case .stopped:
          player.stop()
          return .stopped(atMilliseconds: isPlaying ? place : control.position)
        case .paused:
          player.pause()  // The player keeps its position.
          isPlaying = false
          control.setPosition(place)
          control.wait(while: .paused, atMost: nil)
        case .playing:
          if !isPlaying {
            guard player.play() else { throw lost }
            isPlaying = true
          }
          // The wait ends at the end of the sound or at a request, and regularly to update the position.
          switch ending.wait(.milliseconds(20)) {
          case .heard:
            control.setPosition(sound.durationMilliseconds)
            return .heard
          case .failed: throw lost
          case nil: control.setPosition(place)
          }
        }
      }
    }

    public func open(rate: Int) throws(OutputError) {}

    public func release() {}

    private var lost: OutputError {
      OutputError(
        .deviceLost, name, "the system stopped playing", remedy: "connect an output, and play the sound again")
    }
  }

  /// Receives the player's notification, on a system thread, that the sound has ended.
  private final class PlayerEnding: NSObject, AVAudioPlayerDelegate, Sendable {
    enum Ending: Sendable { case heard, failed }

    private let control: PlayControl
    private let semaphore = DispatchSemaphore(value: 0)
    private let ending = Locked<Ending?>(nil)

    init(_ control: PlayControl) { self.control = control }

    func wait(_ limit: DispatchTimeInterval) -> Ending? {
      _ = semaphore.wait(timeout: .now() + limit)
      return ending.withLock { $0 }
    }

    func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully isWhole: Bool) {
      end(isWhole ? .heard : .failed)
    }

    func audioPlayerDecodeErrorDidOccur(_ player: AVAudioPlayer, error: (any Error)?) { end(.failed) }

    private func end(_ ending: Ending) {
      self.ending.withLock { $0 = ending }
      semaphore.signal()
    }
  }
#endif
