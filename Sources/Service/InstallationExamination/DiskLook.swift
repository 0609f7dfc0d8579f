// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import InstallationDiagnosis

/// A look at the file system of a folder.
public enum DiskLook {
  /// The kinds of network file systems, by their names in the kernel.
  static let networks: Set<String> = [
    "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "ncpfs", "nfs", "nfs4", "smb3", "smbfs",
  ]

  /// Returns the facts about a folder's file system; nil if there is no such folder.
  public static func look(at folder: URL) -> DiskFacts? {
    let path = folder.path(percentEncoded: false)
    var status = statvfs()
    // unsafe: the text lives as long as the call, and the system fills in a local variable.
    guard unsafe statvfs(path, &status) == 0 else {
      return errno == ENOENT || errno == ENOTDIR ? nil : DiskFacts(freeBytes: nil, totalBytes: nil)
    }
    let unit = Int64(clamping: status.f_frsize)
    return DiskFacts(
      freeBytes: Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: unit).partialValue,
      totalBytes: Int64(clamping: status.f_blocks).multipliedReportingOverflow(by: unit).partialValue,
      // Some file systems allocate the entries of files as needed, and report neither a limit nor a number of free
      // entries.
      freeFiles: status.f_files > 0 ? Int64(clamping: status.f_favail) : nil,
      isReadOnly: Int(status.f_flag) & Int(ST_RDONLY) != 0, network: network(of: path))
  }

  private static func network(of path: String) -> String? {
    var status = stat()
    // unsafe: as above.
    guard unsafe stat(path, &status) == 0,
      let mounts = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
    else { return nil }
    let device = UInt64(truncatingIfNeeded: status.st_dev)
    let major = (device >> 8 & 0xFFF) | (device >> 32 & ~0xFFF)
    let minor = (device & 0xFF) | (device >> 12 & ~0xFF)
    return network(ofDevice: "\(major):\(minor)", in: mounts)
  }

  /// Returns the kind of a device's file system if it is a network file system.
  ///
  /// - Parameters:
  ///   - device: The device's numbers, such as `8:1`.
  ///   - mounts: The text of `/proc/self/mountinfo`, whose lines have the device in the third field, and the file
  ///     system after the field `-`.
  static func network(ofDevice device: String, in mounts: String) -> String? {
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 2, fields[2] == device, let end = fields.firstIndex(of: "-"), end + 1 < fields.count else {
        continue
      }
      return networks.contains(String(fields[end + 1])) ? String(fields[end + 1]) : nil
    }
    return nil
  }
}
