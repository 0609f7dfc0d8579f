// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SwiftASN1
import X509

/// The authority that signs the certificates of simulators.
package struct CertificateAuthority {
  /// The name in its certificate, by which the simulator recognises its own authorities.
  private static let commonName = "Crier APNs simulator"
  /// The time for which an authority is valid, in days. Clients keep its certificate over many starts.
  private static let days = 3_650.0

  let certificate: Certificate
  let key: P256.Signing.PrivateKey

  /// The reason why two texts are not the authority of a simulator.
  enum Fault: Error {
    /// The text is not a certificate in PEM.
    case notACertificate
    /// The certificate belongs to another program.
    case foreign
    /// The key is not a P-256 key in PEM, or not the key of the certificate.
    case wrongKey
    case expired
  }

  /// Makes a new authority.
  ///
  /// - Throws: An error of the libraries that make certificates.
  package init() throws {
    let key = P256.Signing.PrivateKey()
    let name = try DistinguishedName { CommonName(Self.commonName) }
    certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
      // A clock that is set back a little must not make the certificate invalid.
      notValidBefore: Date(timeIntervalSinceNow: -86_400),
      notValidAfter: Date(timeIntervalSinceNow: Self.days * 86_400), issuer: name, subject: name,
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
      },
      issuerPrivateKey: .init(key))
    self.key = key
  }

  /// Reads an authority that a simulator made before.
  ///
  /// - Parameters:
  ///   - pem: The certificate in PEM.
  ///   - keyPEM: Its private key in PEM.
  ///   - now: The time at which the certificate must be valid.
  init(pem: String, keyPEM: String, now: Date = Date()) throws(Fault) {
    guard let certificate = try? Certificate(pemEncoded: pem) else { throw .notACertificate }
    let own = try? DistinguishedName { CommonName(Self.commonName) }
    guard certificate.subject == own, certificate.issuer == own else { throw .foreign }
    guard let key = try? P256.Signing.PrivateKey(pemRepresentation: keyPEM),
      certificate.publicKey == Certificate.PublicKey(key.publicKey),
      certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
    else { throw .wrongKey }
    guard certificate.notValidAfter > now else { throw .expired }
    self.certificate = certificate
    self.key = key
  }

  /// Returns the certificate as PEM.
  package func pem() throws -> String { try certificate.serializeAsPEM().pemString + "\n" }
}
