// SPDX-License-Identifier: Apache-2.0

// Apple's C library. Only its presence matters: `#if canImport(Darwin)` holds.
