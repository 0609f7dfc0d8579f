// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
package import NIOSSL
import SwiftASN1
import X509

/// The certificate of a simulator's server, and the authority that signed it. The server's certificate is made anew at
/// each start.
package struct Certificates {
  /// The certificate of the authority, as PEM.
  package let authority: String
  private let server: Certificate
  private let serverKey: P256.Signing.PrivateKey

  /// - Throws: An error of the libraries that make certificates.
  package init(signedBy authority: CertificateAuthority) throws {
    let serverKey = P256.Signing.PrivateKey()
    server = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(serverKey.publicKey),
      // A clock that is set back a little must not make the certificate invalid.
      notValidBefore: Date(timeIntervalSinceNow: -86_400),
      notValidAfter: min(Date(timeIntervalSinceNow: 365 * 86_400), authority.certificate.notValidAfter),
      issuer: authority.certificate.subject, subject: try DistinguishedName { CommonName("localhost") },
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.notCertificateAuthority)
        Critical(KeyUsage(digitalSignature: true))
        try ExtendedKeyUsage([.serverAuth])
        AuthorityKeyIdentifier(
          keyIdentifier: SubjectKeyIdentifier(hash: authority.certificate.publicKey).keyIdentifier)
        SubjectAlternativeNames([
          .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
        ])
      },
      issuerPrivateKey: .init(authority.key))
    self.authority = try authority.pem()
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
