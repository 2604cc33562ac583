//! A limit on the bytes of requests that are still on their way in, over all connections.
//!
//! A message is held in memory while it arrives, as long as it says that it is. Each call may bring the largest one, so without this
//! many slow callers together could take any amount. The bytes are counted when a message states its length, before any of it is
//! kept, and given back when it has been read or its call has ended; from then on the engine counts it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use cuzk_engine::EngineError;
use cuzk_proto::MAX_MESSAGE_BYTES;
use http_body::{Body, Frame, SizeHint};
use tonic::Status;
use tonic::codegen::Bytes;

use crate::errors;

/// The limit's name in the configuration.
const LIMIT: &str = "arriving_bytes";
/// In front of a message: whether it is compressed, and its length, big-endian.
const PREFIX_BYTES: usize = 5;

/// How much may be on its way, and how much is.
#[derive(Debug)]
pub(crate) struct Arriving {
    allowed: u64,
    held: Mutex<u64>,
}

impl Arriving {
    pub(crate) fn new(allowed: u64) -> Arc<Self> {
        let held = Mutex::new(0);
        Arc::new(Self { allowed, held })
    }

    fn hold(self: &Arc<Self>, bytes: u64) -> Result<Held, Status> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let found = held.saturating_add(bytes);
        if found > self.allowed {
            return Err(errors::status(&EngineError::Limit {
                limit: LIMIT,
                found,
                allowed: self.allowed,
            }));
        }
        *held = found;
        Ok(Held {
            of: self.clone(),
            bytes,
        })
    }
}

/// Bytes of one message.
#[derive(Debug)]
struct Held {
    of: Arc<Arriving>,
    bytes: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = self.of.held.lock().unwrap_or_else(PoisonError::into_inner);
        *held = held.saturating_sub(self.bytes);
    }
}

/// A request's body whose first message is counted.
#[derive(Debug)]
pub(crate) struct Counted<B> {
    body: B,
    arriving: Arc<Arriving>,
    /// What has come of the first message's prefix.
    prefix: Vec<u8>,
    held: Option<Held>,
}

impl<B> Counted<B> {
    pub(crate) fn new(body: B, arriving: Arc<Arriving>) -> Self {
        Self {
            body,
            arriving,
            prefix: Vec::with_capacity(PREFIX_BYTES),
            held: None,
        }
    }

    fn count(&mut self, data: &[u8]) -> Result<(), Status> {
        let missing = PREFIX_BYTES - self.prefix.len();
        if missing == 0 {
            return Ok(());
        }
        self.prefix.extend(data.iter().take(missing));
        let Some(length) = self.prefix.get(1..PREFIX_BYTES) else {
            return Ok(());
        };
        let length = length.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
        // The decoder refuses what is longer, and keeps nothing of it.
        if length <= MAX_MESSAGE_BYTES as u64 {
            self.held = Some(self.arriving.hold(length)?);
        }
        Ok(())
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Counted<B>
where
    B::Error: Into<tonic::codegen::StdError>,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.body).poll_frame(context);
        polled.map(|frame| {
            let frame = frame?;
            let frame = frame.map_err(|error| Status::from_error(error.into()));
            Some(frame.and_then(|frame| {
                frame.data_ref().map_or(Ok(()), |data| this.count(data))?;
                Ok(frame)
            }))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::task::Waker;

    use tonic::Code;

    use super::*;

    /// A body in pieces that are all there.
    struct Pieces(VecDeque<Bytes>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.pop_front().map(|data| Ok(Frame::data(data))))
        }
    }

    /// A message that says that it has `length` bytes, in pieces of `piece` bytes.
    fn message(length: u32, piece: usize, arriving: &Arc<Arriving>) -> Counted<Pieces> {
        let bytes = [&[0], &length.to_be_bytes()[..], &[7; 40]].concat();
        let pieces = bytes.chunks(piece).map(Bytes::copy_from_slice);
        Counted::new(Pieces(pieces.collect()), arriving.clone())
    }

    /// Reads all that is there.
    fn read(body: &mut Counted<Pieces>) -> Result<usize, Status> {
        let mut bytes = 0;
        loop {
            let mut context = Context::from_waker(Waker::noop());
            match Pin::new(&mut *body).poll_frame(&mut context) {
                Poll::Ready(Some(frame)) => {
                    bytes += frame?.into_data().expect("data").len();
                }
                _ => return Ok(bytes),
            }
        }
    }

    #[test]
    fn messages_under_way_are_counted_by_the_length_that_they_state() {
        let arriving = Arriving::new(100);
        for piece in [1, 3, 5, 64] {
            let mut first = message(60, piece, &arriving);
            assert_eq!(read(&mut first).expect("room"), 45, "pieces of {piece}");
            let mut second = message(41, piece, &arriving);
            let refused = read(&mut second).expect_err("over the limit");
            assert_eq!(refused.code(), Code::ResourceExhausted);
            assert!(
                refused
                    .message()
                    .contains("arriving_bytes: found 101, at most 100"),
                "{refused}"
            );
            let mut third = message(40, piece, &arriving);
            assert_eq!(read(&mut third).expect("just room"), 45);
            drop((first, second));
            let mut fourth = message(60, piece, &arriving);
            assert_eq!(read(&mut fourth).expect("room again"), 45);
        }
        assert_eq!(*arriving.held.lock().unwrap(), 0, "all given back");
    }

    #[test]
    fn what_no_message_may_have_is_left_to_the_decoder() {
        let arriving = Arriving::new(100);
        let mut message = message(u32::MAX, 64, &arriving);
        assert_eq!(read(&mut message).expect("not counted"), 45);
    }
}
