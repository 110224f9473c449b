//! What the library refuses, at each of its functions: the error's words, and that everything is given back.

use std::path::Path;

use symm_runtime::{Device, Error, run};

use crate::common::failure;
use crate::stand_in::Turn;
use crate::{assert_has, config, program, refusal};

#[test]
fn memory_may_be_short_on_one_rank() {
    let turn = Turn::new(|state| state.refuse("hipMemCreate", 1, 2));
    let error = run(&config(2), |_| Ok(())).unwrap_err();
    let text = error.to_string();
    assert_eq!(
        text,
        "rank 1 could not join the run: HIP could not take 4194304 bytes of device 1 for a symmetric heap: \
         out of memory (hipErrorOutOfMemory)"
    );
    assert_eq!(turn.state().live, [0; 11], "rank 0 has given back what it took");
}

/// Every function that can refuse, and what the error says was attempted.
const REFUSALS: &[(&str, &str)] = &[
    ("hipInit", "start the driver"),
    ("hipRuntimeGetVersion", "ask for its version"),
    ("hipGetDeviceCount", "count devices"),
    ("hipGetDevicePropertiesR0600", "ask about a device"),
    ("hipDeviceGetAttribute", "ask about a device"),
    ("hipSetDevice", "use a device"),
    ("hipDeviceCanAccessPeer", "ask about peers"),
    ("hipMemGetAllocationGranularity", "ask for the granularity of memory"),
    ("hipMemCreate", "take 4194304 bytes of device 0 for a symmetric heap"),
    ("hipMemExportToShareableHandle", "share a heap's memory"),
    ("hipMemRelease", "share a heap's memory"),
    ("hipMemAddressReserve", "reserve 16777216 bytes of addresses"),
    ("hipMemImportFromShareableHandle", "take a rank's heap"),
    ("hipMemMap", "map a rank's heap"),
    ("hipMemSetAccess", "give devices access to a rank's heap"),
    ("hipStreamCreateWithFlags", "make a stream"),
    ("hipMemsetD8Async", "clear memory"),
    ("hipStreamQuery", "run a kernel or a copy"),
    ("hipModuleLoadData", "load the kernels"),
    ("hipHostMalloc", "take host memory that devices can write"),
    ("hipMemcpyAsync", "copy memory"),
    ("hipModuleGetFunction", "find kernel write"),
    ("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", "ask how many blocks fit"),
    ("hipModuleLaunchCooperativeKernel", "launch a kernel"),
];

#[test]
fn every_refusal_becomes_an_error_with_name_and_words() {
    for (function, action) in REFUSALS {
        let _turn = Turn::new(|state| state.refuse(function, -1, 101));
        let text = refusal();
        assert_has(&text, &["HIP could not ", action, ": invalid device ordinal (hipErrorInvalidDevice)"]);
    }
    let _turn = Turn::new(|state| state.refuse("hipModuleLaunchKernel", -1, 4711));
    let text = failure(&config(1), |rank| {
        program(rank, c"cm1v");
    });
    assert_has(&text, &["HIP could not launch a kernel: the driver does not say why (error 4711)"]);
}

#[test]
fn a_start_that_fails_half_way_gives_everything_back() {
    for function in [
        "hipMemCreate",
        "hipMemExportToShareableHandle",
        "hipMemAddressReserve",
        "hipMemImportFromShareableHandle",
        "hipMemMap",
        "hipMemSetAccess",
        "hipStreamCreateWithFlags",
        "hipMemsetD8Async",
        "hipStreamQuery",
        "hipModuleLoadData",
        "hipHostMalloc",
        "hipMemcpyAsync",
    ] {
        start_without(function, false);
        start_without(function, true);
    }
    for function in ["hipMallocAsync", "hipModuleGetFunction", "hipModuleLaunchKernel"] {
        start_without(function, true);
    }
}

/// Lets each of a function's calls fail, one run after the other.
fn start_without(function: &str, trace: bool) {
    let mut config = config(3);
    config.trace = trace;
    let mut failures = 0;
    for after in 0.. {
        let turn = Turn::new(|state| {
            state.refuse(function, -1, 2);
            state.refuse_after = after;
        });
        if run(&config, |_| Ok(())).is_ok() {
            break;
        }
        failures += 1;
        assert_eq!(turn.state().live, [0; 11], "{function} fails after {after} calls, trace: {trace}");
    }
    assert!(failures > 0, "{function} is not called");
}

#[test]
fn a_missing_function_is_named_with_the_version_that_has_it() {
    let mut turn = Turn::new(|_| ());
    for function in ["hipGetDevicePropertiesR0600", "hipMemImportFromShareableHandle", "hipGetErrorString"] {
        turn.without(function);
        let error = run(&config(1), |_| Ok(())).unwrap_err();
        assert!(matches!(error.error, Error::NoGpu { vendor: "HIP", .. }));
        let has_no = format!("without_{function}.so has no {function}, which is in ROCm 6.0 and later");
        assert_has(&error.to_string(), &["no HIP device can be used", &has_no]);
    }
    turn.name_library(Path::new("/nowhere/libamdhip64.so"));
    let text = Device::hip_devices().unwrap_err().to_string();
    assert_has(
        &text,
        &["/nowhere/libamdhip64.so cannot be loaded (", "No such file", "SYMM_HIP_LIBRARY", "the driver cpu"],
    );
}
