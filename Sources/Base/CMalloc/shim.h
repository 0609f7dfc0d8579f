// SPDX-License-Identifier: Apache-2.0

#include <malloc.h>  // For mallopt, which Swift's Glibc module does not contain.
