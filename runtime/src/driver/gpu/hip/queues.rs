//! Streams, events and graphs through AMD's library.

use std::ptr;

use super::super::api::{Event, Graph, Queues, Stream};
use super::{Hip, handle, library};
use crate::error::Error;

impl Queues for Hip {
    fn create_stream(&self) -> Result<Stream, Error> {
        let mut stream = ptr::null_mut();
        // SAFETY: the library stores a stream.
        let made = unsafe { (self.library.functions.stream_create)(&raw mut stream, library::NON_BLOCKING) };
        self.check(made, "make a stream")?;
        Ok(Stream(stream as usize))
    }

    fn destroy_stream(&self, stream: Stream) {
        // SAFETY: from `create_stream`, and not used any more.
        unsafe { (self.library.functions.stream_destroy)(handle(stream.0)) };
    }

    fn is_done(&self, stream: Stream) -> Result<bool, Error> {
        // SAFETY: the stream exists.
        match unsafe { (self.library.functions.stream_query)(handle(stream.0)) } {
            library::NOT_READY => Ok(false),
            status => self.check(status, "run a kernel or a copy").map(|()| true),
        }
    }

    fn create_event(&self) -> Result<Event, Error> {
        let mut event = ptr::null_mut();
        // SAFETY: the library stores an event.
        self.check(unsafe { (self.library.functions.event_create)(&raw mut event, 0) }, "make an event")?;
        Ok(Event(event as usize))
    }

    fn destroy_event(&self, event: Event) {
        // SAFETY: from `create_event`, and not used any more.
        unsafe { (self.library.functions.event_destroy)(handle(event.0)) };
    }

    fn record(&self, event: Event, stream: Stream) -> Result<(), Error> {
        // SAFETY: both exist.
        let recorded = unsafe { (self.library.functions.event_record)(handle(event.0), handle(stream.0)) };
        self.check(recorded, "record an event")
    }

    fn await_event(&self, stream: Stream, event: Event) -> Result<(), Error> {
        // SAFETY: both exist.
        let asked = unsafe { (self.library.functions.stream_wait)(handle(stream.0), handle(event.0), 0) };
        self.check(asked, "let a stream wait for an event")
    }

    fn has_happened(&self, event: Event) -> Result<bool, Error> {
        // SAFETY: the event exists.
        match unsafe { (self.library.functions.event_query)(handle(event.0)) } {
            library::NOT_READY => Ok(false),
            status => self.check(status, "run a kernel or a copy").map(|()| true),
        }
    }

    fn elapsed(&self, from: Event, to: Event) -> Result<f32, Error> {
        let mut time = 0.0;
        // SAFETY: both exist; the library stores a number.
        let asked = unsafe { (self.library.functions.event_elapsed)(&raw mut time, handle(from.0), handle(to.0)) };
        self.check(asked, "ask for the time between events")?;
        Ok(time)
    }

    fn begin_capture(&self, stream: Stream) -> Result<(), Error> {
        // SAFETY: the stream exists.
        let begun = unsafe { (self.library.functions.begin_capture)(handle(stream.0), library::THIS_THREAD) };
        self.check(begun, "begin to capture a graph")
    }

    fn end_capture(&self, stream: Stream) -> Result<Graph, Error> {
        let (functions, mut recorded, mut graph) = (&self.library.functions, ptr::null_mut(), ptr::null_mut());
        // SAFETY: the library stores a graph, and one that can be started, which does not need the first.
        unsafe {
            self.check((functions.end_capture)(handle(stream.0), &raw mut recorded), "capture a graph")?;
            let made = (functions.graph_instantiate)(&raw mut graph, recorded, 0);
            (functions.graph_destroy)(recorded);
            self.check(made, "make a graph that can be launched")?;
        }
        Ok(Graph(graph as usize))
    }

    fn launch_graph(&self, graph: Graph, stream: Stream) -> Result<(), Error> {
        // SAFETY: both exist; what a graph uses is alive, says who captured it.
        let launched = unsafe { (self.library.functions.graph_launch)(handle(graph.0), handle(stream.0)) };
        self.check(launched, "launch a graph")
    }

    fn destroy_graph(&self, graph: Graph) {
        // SAFETY: from `end_capture`, and not used any more.
        unsafe { (self.library.functions.graph_exec_destroy)(handle(graph.0)) };
    }
}
