// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
package import NIOSSL
import SwiftASN1
import X509

/// A certificate authority that exists for one simulator, and the certificate of the server that it signed.
package struct Certificates {
  /// The certificate of the authority, as PEM.
  package let authority: String
  private let server: Certificate
  private let serverKey: P256.Signing.PrivateKey

  /// - Throws: An error of the libraries that make certificates.
  package init() throws {
    let (authorityKey, serverKey) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let authorityName = try DistinguishedName { CommonName("Crier APNs simulator") }
    // A clock that is set back a little must not make the certificates invalid.
    let (start, end) = (Date(timeIntervalSinceNow: -86_400), Date(timeIntervalSinceNow: 365 * 86_400))
    let authority = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(authorityKey.publicKey),
      notValidBefore: start, notValidAfter: end, issuer: authorityName, subject: authorityName,
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        SubjectKeyIdentifier(hash: Certificate.PublicKey(authorityKey.publicKey))
      },
      issuerPrivateKey: .init(authorityKey))
    server = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(serverKey.publicKey),
      notValidBefore: start, notValidAfter: end, issuer: authorityName,
      subject: try DistinguishedName { CommonName("localhost") },
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.notCertificateAuthority)
        Critical(KeyUsage(digitalSignature: true))
        try ExtendedKeyUsage([.serverAuth])
        AuthorityKeyIdentifier(
          keyIdentifier: SubjectKeyIdentifier(hash: Certificate.PublicKey(authorityKey.publicKey)).keyIdentifier)
        SubjectAlternativeNames([
          .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
        ])
      },
      issuerPrivateKey: .init(authorityKey))
    self.authority = try authority.serializeAsPEM().pemString + "\n"
    self.serverKey = serverKey
  }

  /// Returns the settings of a server that speaks HTTP/2 with TLS 1.2 or later.
  package func tlsContext() throws -> NIOSSLContext {
    let certificate = try NIOSSLCertificate(bytes: Array(server.serializeAsPEM().pemString.utf8), format: .pem)
    let key = try NIOSSLPrivateKey(bytes: Array(serverKey.pemRepresentation.utf8), format: .pem)
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["h2"]
    return try NIOSSLContext(configuration: configuration)
  }
}
