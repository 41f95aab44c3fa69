//! Barriers.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_barrier_init` | `Init`; a count of 0 is refused |
//! | `pthread_barrier_destroy` | `Destroy`; a misuse while threads wait |
//! | `pthread_barrier_wait` | `BarrierArrive`, then `BarrierLeave` when all have arrived; the last to arrive is the serial one |

use core::ffi::{c_int, c_uint};

use libc::{pthread_barrier_t, pthread_barrierattr_t};
use wire::Tag;

use super::layout::Unusable;
use super::mutex::refuse;
use super::step::{Call, misuse};
use crate::sync::{Barrier, Blocker, Model, SyncObjects};
use crate::text::text;

fn refuse_barrier(objects: &SyncObjects, barrier: u64, verb: &str) -> c_int {
    let destroyed = objects.destroyed(barrier, Barrier::NAME);
    refuse(barrier, verb, Barrier::NAME, if destroyed { Unusable::Destroyed } else { Unusable::NotInitialised })
}

export! {
    /// Initialises a barrier.
    fn pthread_barrier_init(
        barrier: *mut pthread_barrier_t, _attributes: *const pthread_barrierattr_t, count: c_uint,
    ) -> c_int {
        if count == 0 || c_int::try_from(count).is_err() {
            return libc::EINVAL;
        }
        let barrier = barrier as u64;
        Call::here().step(Tag::Init, barrier).run(Blocker::None, |objects, _, _| {
            if let Some(what) = objects.in_use(barrier) {
                misuse(barrier, text!("initialises {what}").as_str());
            }
            objects.init_barrier(barrier, count);
        });
        0
    }
    /// Destroys a barrier.
    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
        let barrier = barrier as u64;
        Call::here().step(Tag::Destroy, barrier).run(Blocker::None, |objects, _, _| {
            if objects.find::<Barrier>(barrier).is_none() {
                return refuse_barrier(objects, barrier, "destroys");
            }
            if let Some(what) = objects.in_use(barrier) {
                misuse(barrier, text!("destroys {what}").as_str());
                return libc::EBUSY;
            }
            objects.destroy(barrier, Barrier::NAME);
            0
        })
    }
    /// Waits until all have arrived.
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
        let (call, barrier) = (Call::here(), barrier as u64);
        let arrival = call.step(Tag::BarrierArrive, barrier).run(Blocker::None, |objects, _, _| {
            objects.arrive_at_barrier(barrier).ok_or_else(|| refuse_barrier(objects, barrier, "waits at"))
        });
        match arrival {
            Err(error) => error,
            Ok(arrival) => {
                let blocker = Blocker::Barrier { barrier, round: arrival.round };
                call.step(Tag::BarrierLeave, barrier).run(blocker, |_, _, _| ());
                if arrival.last { libc::PTHREAD_BARRIER_SERIAL_THREAD } else { 0 }
            }
        }
    }
}
