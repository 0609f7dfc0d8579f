// SPDX-License-Identifier: Apache-2.0

import SoundDownloads
import Testing

@testable import NotificationAttachments

@Suite("Bytes of an attachment as they arrive")
struct AttachmentIntakeTests {
  private func code(_ work: () throws -> Void) -> DownloadError.Code? {
    do {
      try work()
      return nil
    } catch {
      return (error as? DownloadError)?.code
    }
  }

  /// Receives a file of a number of bytes, in pieces of 1 MB after the first 12 bytes.
  private func receive(_ kind: AttachmentKind, _ count: Int, declared: Int? = nil) throws {
    var intake = try AttachmentIntake(declared: declared, host: "a.example")
    #expect(try intake.receive(Sample.start(kind)) == Sample.start(kind))
    let piece = [UInt8](repeating: 1, count: 1_000_000)
    while intake.byteCount < count {
      let next = Array(piece.prefix(count - intake.byteCount))
      #expect(try intake.receive(next).count == next.count)
    }
    try intake.end(isBroken: false)
    #expect(intake.kind == kind && intake.byteCount == count)
  }

  @Test(
    "an attachment of exactly the size limit is accepted, and one byte more is refused",
    arguments: AttachmentKind.allCases)
  func limits(_ kind: AttachmentKind) throws {
    let limit = kind.family.maximumBytes
    try receive(kind, limit)
    try receive(kind, limit, declared: limit)
    #expect(code { try receive(kind, limit + 1) } == .tooLarge)
  }

  @Test("a declared length beyond the limit for images, audio or movies ends the transfer at the first bytes")
  func declaredBeyondFamily() throws {
    for kind in AttachmentKind.allCases where kind.family != .movie {
      var intake = try AttachmentIntake(declared: kind.family.maximumBytes + 1, host: nil)
      #expect(code { _ = try intake.receive(Sample.start(kind)) } == .tooLarge)
    }
  }

  @Test("a declared length beyond every limit ends an attachment's transfer before the first byte")
  func declaredBeyondAll() {
    #expect(code { _ = try AttachmentIntake(declared: 50_000_000, host: nil) } == nil)
    #expect(code { _ = try AttachmentIntake(declared: 50_000_001, host: nil) } == .tooLarge)
    #expect(code { _ = try AttachmentIntake(declared: .max, host: nil) } == .tooLarge)
  }

  @Test("the error for an attachment that is too large names the limit for images, audio or movies")
  func limitText() {
    #expect(throws: DownloadError(.tooLarge, of: .attachment, host: "a.example", reason: "the limit of audio is 5 MB"))
    {
      try receive(.wav, 5_000_001)
    }
    #expect(
      throws: DownloadError(.tooLarge, of: .attachment, host: "a.example", reason: "the limit of an image is 10 MB")
    ) {
      try receive(.gif, 10_000_001)
    }
    #expect(throws: DownloadError(.tooLarge, of: .attachment, reason: "the limit of a movie is 50 MB")) {
      try AttachmentIntake(declared: 60_000_000, host: nil)
    }
  }

  @Test("a payer's picture is an image of at most 1 MB, and another format is refused at its first bytes")
  func portrait() throws {
    for kind in AttachmentKind.allCases {
      var intake = try AttachmentIntake(declared: nil, host: nil, limits: .portrait)
      let code = code { _ = try intake.receive(Sample.start(kind)) }
      #expect(code == (kind.family == .image ? nil : .kindRefused))
      guard code == nil else { continue }
      _ = try intake.receive([UInt8](repeating: 1, count: 1_000_000 - intake.byteCount))
      #expect(self.code { _ = try intake.receive([1]) } == .tooLarge)
    }
    #expect(throws: DownloadError(.tooLarge, of: .attachment, reason: "the limit of an image is 1 MB")) {
      try AttachmentIntake(declared: 1_000_001, host: nil, limits: .portrait)
    }
  }

  @Test("the first small pieces of an attachment are held until the format is known, and are then passed on")
  func smallPieces() throws {
    let bytes = Sample.file(.png, 100)
    var intake = try AttachmentIntake(declared: nil, host: nil)
    var stored: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      #expect(try intake.receive([]).isEmpty)
      stored += try intake.receive([byte])
      #expect(intake.head.count < AttachmentKind.recognizedBytes)
      #expect(stored.count == (index < 11 ? 0 : index + 1))
    }
    try intake.end(isBroken: false)
    #expect(stored == bytes)
  }

  @Test("an attachment with unknown content is refused at the 12th byte")
  func unknown() throws {
    var intake = try AttachmentIntake(declared: nil, host: nil)
    _ = try intake.receive(Array("<!DOCTYPE h".utf8))
    #expect(code { _ = try intake.receive([0x74]) } == .unknownContent)
  }

  @Test("an attachment of fewer than 12 bytes has an unknown format, and one without bytes is an empty answer")
  func short() throws {
    var short = try AttachmentIntake(declared: nil, host: nil)
    _ = try short.receive([0xFF, 0xD8, 0xFF])
    #expect(code { try short.end(isBroken: false) } == .unknownContent)
    #expect(code { try AttachmentIntake(declared: nil, host: nil).end(isBroken: false) } == .emptyAnswer)
    #expect(code { try AttachmentIntake(declared: 0, host: nil).end(isBroken: false) } == .emptyAnswer)
  }

  @Test("more bytes of an attachment than declared are refused at once, and fewer bytes at the end")
  func lyingLength() throws {
    var long = try AttachmentIntake(declared: 12, host: nil)
    _ = try long.receive(Sample.start(.gif))
    #expect(code { _ = try long.receive([0]) } == .lengthMismatch)
    var short = try AttachmentIntake(declared: 14, host: nil)
    _ = try short.receive(Sample.start(.gif) + [0])
    #expect(code { try short.end(isBroken: false) } == .truncated)
    #expect(code { try short.end(isBroken: true) } == .connectionLost)
  }

  @Test("a connection that breaks during an attachment is an error, except after the last declared byte")
  func broken() throws {
    var undeclared = try AttachmentIntake(declared: nil, host: nil)
    _ = try undeclared.receive(Sample.file(.gif, 50))
    #expect(code { try undeclared.end(isBroken: true) } == .connectionLost)
    var whole = try AttachmentIntake(declared: 50, host: nil)
    _ = try whole.receive(Sample.file(.gif, 50))
    try whole.end(isBroken: true)
  }
}
