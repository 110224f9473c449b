//! Streams, events and graphs.

use std::ffi::{c_int, c_void};

use symm_runtime::{Event, Graph, Rank, Stream};

use crate::call;
use crate::handle::{destroy, find, hand_over};
use crate::pointers::{borrow, check_size, store};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_stream_own(rank: *mut Rank, stream: *mut *mut Stream) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe { hand_over(stream, find(rank, "the rank")?.stream()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_stream_create(rank: *mut Rank, stream: *mut *mut Stream) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe { hand_over(stream, find(rank, "the rank")?.create_stream()?) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_stream_borrow(rank: *mut Rank, handle: *mut c_void, stream: *mut *mut Stream) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let borrowed = find(rank, "the rank")?.borrow_stream(handle as usize);
        hand_over(stream, borrowed)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_stream_destroy(stream: *mut Stream) {
    destroy(stream, |_| ());
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_stream_handle(stream: *const Stream) -> *mut c_void {
    find(stream, "the stream").map_or(0, |stream| stream.handle()) as *mut c_void
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_stream_synchronize(stream: *mut Stream) -> c_int {
    call(|| find(stream, "the stream")?.synchronize())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_stream_is_done(stream: *mut Stream, done: *mut c_int) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe { store(done, find(stream, "the stream")?.is_done()?.into()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_stream_barrier(stream: *mut Stream) -> c_int {
    call(|| find(stream, "the stream")?.barrier())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_stream_copy(
    stream: *mut Stream,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let stream = find(stream, "the stream")?;
        check_size(bytes, "a copy")?;
        if bytes > 0 {
            borrow(to, "the memory to copy to")?;
            borrow(from, "the memory to copy from")?;
        }
        stream.copy(to.cast(), from.cast(), bytes)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_event_create(rank: *mut Rank, event: *mut *mut Event) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe { hand_over(event, find(rank, "the rank")?.create_event()?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_event_destroy(event: *mut Event) {
    destroy(event, |_| ());
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_event_record(event: *mut Event, stream: *mut Stream) -> c_int {
    call(|| find(stream, "the stream")?.record(&*find(event, "the event")?))
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_event_await(event: *mut Event, stream: *mut Stream) -> c_int {
    call(|| find(stream, "the stream")?.wait_for(&*find(event, "the event")?))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_event_has_happened(event: *mut Event, happened: *mut c_int) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe { store(happened, find(event, "the event")?.has_happened()?.into()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_event_milliseconds(from: *mut Event, to: *mut Event, milliseconds: *mut f32) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        store(milliseconds, find(to, "the event")?.milliseconds_since(&*find(from, "the earlier event")?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_capture_begin(stream: *mut Stream) -> c_int {
    call(|| find(stream, "the stream")?.begin_capture())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_capture_end(stream: *mut Stream, graph: *mut *mut Graph) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe { hand_over(graph, find(stream, "the stream")?.end_capture()?) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_graph_launch(graph: *mut Graph, stream: *mut Stream) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe { find(stream, "the stream")?.launch_graph(&*find(graph, "the graph")?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_graph_destroy(graph: *mut Graph) {
    destroy(graph, |_| ());
}
