// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// The two files that keep an authority across restarts. One file holds the certificate. The file beside it, with the
/// suffix `.key`, holds the key, and only its owner may read it.
///
/// Files that exist are read and never written.
struct AuthorityFiles {
  let certificate: URL

  var key: URL { certificate.deletingLastPathComponent().appending(path: certificate.lastPathComponent + ".key") }

  /// Returns the authority of the files, or a new one that is written to them if neither file exists.
  ///
  /// - Throws: ``APNSSimulatorError`` with `authorityInvalid`, `fileNotWritten` or `certificateFailed`.
  func authority() throws(APNSSimulatorError) -> (authority: CertificateAuthority, isNew: Bool) {
    switch (Self.exists(certificate), Self.exists(key)) {
    case (true, true): return (try read(), false)
    case (false, false): return (try make(), true)
    case (true, false):
      throw invalid(
        "exists, but its key \(key.lastPathComponent) does not, so it cannot be used again",
        "Choose the name of a new file, or remove this one")
    case (false, true):
      throw invalid(
        "does not exist, but a key \(key.lastPathComponent) does", "Choose the name of a new file, or remove the key")
    }
  }

  /// Whether a file, a folder or a link of this name exists.
  private static func exists(_ file: URL) -> Bool {
    (try? FileManager.default.attributesOfItem(atPath: file.path)) != nil
  }

  // MARK: Reading

  private func read() throws(APNSSimulatorError) -> CertificateAuthority {
    let (pem, keyPEM) = (Self.text(of: certificate), Self.text(of: key))
    let remedy = "It was left as it is. Choose the name of a new file, or remove this file and its key"
    guard let pem else { throw invalid("is not a certificate", remedy) }
    guard let keyPEM else { throw invalid("has a key \(key.lastPathComponent) that cannot be read", remedy) }
    let mode = try? FileManager.default.attributesOfItem(atPath: key.resolvingSymlinksInPath().path)[.posixPermissions]
    guard let mode = mode as? Int, mode & 0o077 == 0 else {
      throw invalid(
        "has a key \(key.lastPathComponent) that other users can read", "Run chmod 600 on the key, and try again")
    }
    do throws(CertificateAuthority.Fault) {
      return try CertificateAuthority(pem: pem, keyPEM: keyPEM)
    } catch {
      switch error {
      case .notACertificate: throw invalid("is not a certificate", remedy)
      case .foreign: throw invalid("is not a certificate of a push simulator", remedy)
      case .wrongKey: throw invalid("has a key \(key.lastPathComponent) that does not belong to it", remedy)
      case .expired: throw invalid("has expired", "Remove this file and its key, and the next start makes new ones")
      }
    }
  }

  /// Returns the text of a file; nil if it cannot be read, or is too large for a certificate or a key.
  private static func text(of file: URL) -> String? {
    guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: 64 << 10) else { return nil }
    return String(data: data, encoding: .utf8)
  }

  private func invalid(_ problem: String, _ remedy: String) -> APNSSimulatorError {
    APNSSimulatorError(code: .authorityInvalid, description: "ca: the file \(problem). \(remedy).")
  }

  // MARK: Writing

  private func make() throws(APNSSimulatorError) -> CertificateAuthority {
    let (authority, pem): (CertificateAuthority, String)
    do {
      authority = try CertificateAuthority()
      pem = try authority.pem()
    } catch {
      throw .certificatesFailed(error)
    }
    try Self.create(key, authority.key.pemRepresentation + "\n", mode: 0o600)
    do {
      try Self.create(certificate, pem, mode: 0o644)
    } catch {
      // A key file without its certificate would make the next start fail.
      unlink(key.path)
      throw error
    }
    return authority
  }

  /// Creates a file with a text. A file that exists is not touched.
  private static func create(_ file: URL, _ text: String, mode: mode_t) throws(APNSSimulatorError) {
    let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw notWritten(String(cString: strerror(errno))) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try handle.write(contentsOf: Data(text.utf8))
      try handle.close()
    } catch {
      unlink(file.path)
      throw notWritten((error as NSError).localizedDescription)
    }
  }

  private static func notWritten(_ reason: String) -> APNSSimulatorError {
    APNSSimulatorError(
      code: .fileNotWritten,
      description: "ca: the file and its key cannot be written (\(reason)); choose a file in a folder that you can "
        + "write to.")
  }
}
