// SPDX-License-Identifier: Apache-2.0

import NotificationAttachments
import Testing

@Suite("Formats of attachments")
struct AttachmentKindTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var kind: AttachmentKind?

    init(_ name: String, _ bytes: [UInt8], _ kind: AttachmentKind? = nil) {
      self.testDescription = name
      self.bytes = bytes + [UInt8](repeating: 0, count: max(0, 12 - bytes.count))
      self.kind = kind
    }

    init(_ text: String, _ kind: AttachmentKind? = nil) { self.init(text, Array(text.utf8), kind) }

    static let known = [
      Row("JPEG with JFIF", [0xFF, 0xD8, 0xFF, 0xE0], .jpeg), Row("JPEG with Exif", [0xFF, 0xD8, 0xFF, 0xE1], .jpeg),
      Row("GIF87a", .gif), Row("GIF89a", .gif), Row("FORM1234AIFC", .aiff), Row("FORM1234AIFF", .aiff),
      Row("RIFF1234WAVEfmt ", .wav), Row("RIFF1234AVI LIST", .avi),
      Row("ID3v2.2", Array("ID3".utf8) + [2], .mp3), Row("ID3v2.3", Array("ID3".utf8) + [3], .mp3),
      Row("an MPEG-1 layer III frame", [0xFF, 0xFB, 0x90], .mp3),
      Row("a frame with a checksum", [0xFF, 0xFA, 0x90], .mp3),
      Row("an MPEG-2 layer III frame", [0xFF, 0xF3, 0x48], .mp3),
      Row("an MPEG-2.5 layer III frame", [0xFF, 0xE3, 0x48], .mp3),
      Row("a program stream", [0, 0, 1, 0xBA], .mpeg), Row("a video sequence", [0, 0, 1, 0xB3], .mpeg),
      Row("moov", [0, 0, 9, 9] + Array("moov".utf8), .quickTime),
      Row("mdat of 2 MiB", [0, 0x20, 0, 0] + Array("mdat".utf8), .quickTime),
      Row("mdat with a long size", [0, 0, 0, 1] + Array("mdat".utf8), .quickTime),
      Row("wide", [0, 0, 0, 8] + Array("wide".utf8), .quickTime), Row("qt", Sample.box("qt  "), .quickTime),
      Row("M4A", Sample.box("M4A "), .m4a),
    ]

    static let brands = ["mp41", "mp42", "isom", "iso2", "iso5", "iso6", "avc1", "M4V "].map {
      Row($0, Sample.box($0), .mpeg4)
    }

    static let unknown = [
      Row("nothing", []), Row("<!DOCTYPE html><html>"), Row("<html><body>GIF89a"), Row("{\"url\": \"a.jpg\"}"),
      Row("<?xml version='1.0'?><svg/>"), Row("%PDF-1.7\n%abc"), Row("RIFF1234WEBPVP8 "), Row("RIFX1234WAVE"),
      Row("caff12345678"), Row("OggS12345678"), Row("fLaC12345678"), Row("FORM12348SVX"), Row("GIF88a123456"),
      Row("The free lunch"), Row("The wide road"), Row("Say ftypmp42"), Row("Say moov1234"),
      Row("HEIC", Sample.box("heic")), Row("AVIF", Sample.box("avif")), Row("3GPP", Sample.box("3gp4")),
      Row("Canon", Sample.box("crx ")), Row("a brand that is no text", Array(Sample.box("mp42").dropLast()) + [0xFF]),
      Row("AAC frames", [0xFF, 0xF1, 0x50, 0x80]), Row("AAC frames of MPEG-2", [0xFF, 0xF9, 0x50, 0x80]),
      Row("UTF-16", [0xFF, 0xFE, 0x3C, 0]), Row("UTF-16, big-endian", [0xFE, 0xFF, 0, 0x3C]),
      Row("a layer II frame", [0xFF, 0xFD, 0x90]), Row("a frame of a reserved version", [0xFF, 0xEB, 0x90]),
      Row("a frame with the bit rate 15", [0xFF, 0xFB, 0xF0]), Row("a frame with the bit rate 0", [0xFF, 0xFB, 0]),
      Row("a frame with the sample rate 3", [0xFF, 0xFB, 0x9C]),
      Row("an ID3 tag of version 9", Array("ID3".utf8) + [9]),
      Row("an ID3 tag of an invalid size", Array("ID3".utf8) + [4, 0, 0, 0x80]),
      Row("half a PNG signature", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A]), Row("FF D8 alone", [0xFF, 0xD8]),
      Row("a transport stream", [0x47, 0x40, 0, 0x10]), Row("another start code", [0, 0, 1, 0xB7]),
      Row("Matroska", [0x1A, 0x45, 0xDF, 0xA3]), Row("gzip", [0x1F, 0x8B, 8]),
    ]
  }

  @Test("the format of an attachment is recognised by its first bytes", arguments: Row.known + Row.brands)
  func known(_ row: Row) { #expect(AttachmentKind(firstBytes: row.bytes) == row.kind) }

  @Test("content that iOS does not accept as an attachment has no format", arguments: Row.unknown)
  func unknown(_ row: Row) { #expect(AttachmentKind(firstBytes: row.bytes) == nil) }

  @Test(
    "the format of an attachment is known after 12 bytes, and later bytes make no difference",
    arguments: AttachmentKind.allCases)
  func length(_ kind: AttachmentKind) {
    let start = Sample.start(kind)
    #expect(start.count == 12)
    #expect(AttachmentKind(firstBytes: start) == kind)
    #expect(AttachmentKind(firstBytes: start + Array("<html>".utf8)) == kind)
    #expect(AttachmentKind(firstBytes: start.dropLast()) == nil)
    #expect(AttachmentKind(firstBytes: ([7] + start).dropFirst()) == kind)
  }

  @Test(
    "each format of an attachment has its type, its extension and its family",
    arguments: [
      (.jpeg, "public.jpeg", "jpg", .image), (.png, "public.png", "png", .image),
      (.gif, "com.compuserve.gif", "gif", .image), (.wav, "com.microsoft.waveform-audio", "wav", .audio),
      (.aiff, "public.aiff-audio", "aiff", .audio), (.mp3, "public.mp3", "mp3", .audio),
      (.m4a, "public.mpeg-4-audio", "m4a", .audio), (.mpeg4, "public.mpeg-4", "mp4", .movie),
      (.quickTime, "com.apple.quicktime-movie", "mov", .movie), (.mpeg, "public.mpeg", "mpg", .movie),
      (.avi, "public.avi", "avi", .movie),
    ] as [(AttachmentKind, String, String, AttachmentKind.Family)])
  func facts(_ kind: AttachmentKind, _ type: String, _ fileExtension: String, _ family: AttachmentKind.Family) {
    #expect(kind.uniformTypeIdentifier == type)
    #expect(kind.fileExtension == fileExtension)
    #expect(kind.family == family)
  }

  @Test("an image attachment has at most 10 MB, an audio attachment 5 MB and a movie 50 MB")
  func limits() {
    #expect(AttachmentKind.Family.image.maximumBytes == 10_000_000)
    #expect(AttachmentKind.Family.audio.maximumBytes == 5_000_000)
    #expect(AttachmentKind.Family.movie.maximumBytes == 50_000_000)
  }
}
