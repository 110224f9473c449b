//! Streams, events and graphs through NVIDIA's driver.

use std::ffi::c_uint;
use std::ptr;

use cudarc::driver::sys;
use cudarc::driver::sys::CUresult;

use super::super::api::{Event, Graph, Queues, Stream};
use super::{Cuda, check};
use crate::error::Error;

impl Queues for Cuda {
    fn create_stream(&self) -> Result<Stream, Error> {
        let mut stream = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
        // SAFETY: the driver stores a stream.
        check(unsafe { sys::cuStreamCreate(&raw mut stream, flags) }, "make a stream")?;
        Ok(Stream(stream as usize))
    }

    fn destroy_stream(&self, stream: Stream) {
        // SAFETY: from `create_stream`, and not used any more.
        unsafe { sys::cuStreamDestroy_v2(stream.0 as sys::CUstream) };
    }

    fn is_done(&self, stream: Stream) -> Result<bool, Error> {
        // SAFETY: the stream exists.
        match unsafe { sys::cuStreamQuery(stream.0 as sys::CUstream) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => check(result, "run a kernel or a copy").map(|()| true),
        }
    }

    fn create_event(&self) -> Result<Event, Error> {
        let mut event = ptr::null_mut();
        // SAFETY: the driver stores an event.
        check(unsafe { sys::cuEventCreate(&raw mut event, 0) }, "make an event")?;
        Ok(Event(event as usize))
    }

    fn destroy_event(&self, event: Event) {
        // SAFETY: from `create_event`, and not used any more.
        unsafe { sys::cuEventDestroy_v2(event.0 as sys::CUevent) };
    }

    fn record(&self, event: Event, stream: Stream) -> Result<(), Error> {
        // SAFETY: both exist.
        check(unsafe { sys::cuEventRecord(event.0 as sys::CUevent, stream.0 as sys::CUstream) }, "record an event")
    }

    fn await_event(&self, stream: Stream, event: Event) -> Result<(), Error> {
        // SAFETY: both exist.
        let asked = unsafe { sys::cuStreamWaitEvent(stream.0 as sys::CUstream, event.0 as sys::CUevent, 0) };
        check(asked, "let a stream wait for an event")
    }

    fn has_happened(&self, event: Event) -> Result<bool, Error> {
        // SAFETY: the event exists.
        match unsafe { sys::cuEventQuery(event.0 as sys::CUevent) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => check(result, "run a kernel or a copy").map(|()| true),
        }
    }

    fn elapsed(&self, from: Event, to: Event) -> Result<f32, Error> {
        let (from, to, mut time) = (from.0 as sys::CUevent, to.0 as sys::CUevent, 0.0);
        // SAFETY: both exist; the driver stores a number.
        check(unsafe { sys::cuEventElapsedTime(&raw mut time, from, to) }, "ask for the time between events")?;
        Ok(time)
    }

    fn begin_capture(&self, stream: Stream) -> Result<(), Error> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream exists.
        check(unsafe { sys::cuStreamBeginCapture_v2(stream.0 as sys::CUstream, mode) }, "begin to capture a graph")
    }

    fn end_capture(&self, stream: Stream) -> Result<Graph, Error> {
        let (mut recorded, mut graph) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the driver stores a graph, and one that can be started, which does not need the first.
        unsafe {
            check(sys::cuStreamEndCapture(stream.0 as sys::CUstream, &raw mut recorded), "capture a graph")?;
            let made = sys::cuGraphInstantiateWithFlags(&raw mut graph, recorded, 0);
            sys::cuGraphDestroy(recorded);
            check(made, "make a graph that can be launched")?;
        }
        Ok(Graph(graph as usize))
    }

    fn launch_graph(&self, graph: Graph, stream: Stream) -> Result<(), Error> {
        // SAFETY: both exist; what a graph uses is alive, says who captured it.
        check(unsafe { sys::cuGraphLaunch(graph.0 as sys::CUgraphExec, stream.0 as sys::CUstream) }, "launch a graph")
    }

    fn destroy_graph(&self, graph: Graph) {
        // SAFETY: from `end_capture`, and not used any more.
        unsafe { sys::cuGraphExecDestroy(graph.0 as sys::CUgraphExec) };
    }
}
