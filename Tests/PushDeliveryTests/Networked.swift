// SPDX-License-Identifier: Apache-2.0

import Testing

/// The suites with servers. They run one after the other, because servers and clients give up after a time in which
/// they got no processor.
@Suite(.serialized) enum Networked {}
