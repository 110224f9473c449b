// What is not an option, or not a value of one, is an error that says so.

// RUN: not symm-opt --symm-nothing %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: Unknown command line argument '--symm-nothing'

// RUN: not symm-opt --symm-check-memory-order=strict=maybe %s 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: option 'strict' takes true or false, got 'maybe'

// RUN: not symm-opt --symm-check-memory-order=lax=true %s 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option lax

// RUN: not symm-opt --symm-cpu=trace=1 %s 2>&1 | FileCheck %s --check-prefix=PIPELINE-VALUE
// PIPELINE-VALUE: error: option 'trace' takes true or false, got '1'

// RUN: not symm-opt --symm-cpu=quiet=true %s 2>&1 | FileCheck %s --check-prefix=PIPELINE-OPTION
// PIPELINE-OPTION: no such option quiet

// RUN: not symm-opt --symm-cpu=strict %s 2>&1 | FileCheck %s --check-prefix=NO-VALUE
// NO-VALUE: for the --strict option: requires a value!

// RUN: not symm-opt '--pass-pipeline=builtin.module(symm-lower-to-cpu{trace=perhaps})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NESTED
// NESTED: error: option 'trace' takes true or false, got 'perhaps'

// RUN: not symm-opt '--pass-pipeline=builtin.module(symm-cpu{strict=perhaps})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NESTED-PIPELINE
// NESTED-PIPELINE: error: option 'strict' takes true or false, got 'perhaps'

// RUN: not symm-opt '--pass-pipeline=builtin.module(symm-check-ranks{strict=true})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-OPTIONS
// NO-OPTIONS: no such option strict

// RUN: not symm-opt '--pass-pipeline=builtin.module(symm-lower-to-moon)' %s 2>&1 | FileCheck %s --check-prefix=NO-PASS
// NO-PASS: 'symm-lower-to-moon' does not refer to a registered pass or pass pipeline

// RUN: not symm-opt %t.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: cannot open input file

// RUN: not symm-opt %S 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: cannot open input file {{.*}}: Is a directory

// RUN: not symm-opt --symm-lower-to-triton=version=2.1.0 %s 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: error: option 'version' takes 3.6.0 or a later version of Triton, got '2.1.0'

// RUN: not symm-opt --symm-lower-to-triton=target=cuda %s 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: option 'target' takes cuda:90 or hip:gfx942, or another such, got 'cuda'
