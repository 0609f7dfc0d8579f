// SPDX-License-Identifier: Apache-2.0

#include <malloc.h>  // mallopt, which Swift's Glibc leaves out
