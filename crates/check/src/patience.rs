//! Work that is waited for only as long as somebody wants the result.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use model::Interrupt;

/// How often it is asked whether to wait on.
const LOOK: Duration = Duration::from_millis(10);

/// The result of `work`, unless the user interrupts or the time is up before it is there. Then the work goes on in a
/// thread that nobody listens to, and ends with the process at the latest: it must neither write files nor start
/// processes.
pub(crate) fn wait_for<T: Send + 'static>(
    interrupt: &Interrupt,
    deadline: Instant,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = channel();
    let worker = std::thread::spawn(move || {
        // Nobody may be listening any more.
        let _ = done.send(work());
    });
    loop {
        match result.recv_timeout(LOOK) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Disconnected) => {
                // It ended without a result: it panicked.
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                return None;
            }
            Err(RecvTimeoutError::Timeout) if interrupt.is_set() || Instant::now() > deadline => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_an_hour() -> Instant {
        Instant::now() + Duration::from_secs(3_600)
    }

    #[test]
    fn a_result_is_waited_for() {
        assert_eq!(wait_for(&Interrupt::new(), in_an_hour(), || 7), Some(7));
    }

    #[test]
    fn endless_work_is_left_alone() {
        let endless = || loop {
            std::thread::park();
        };
        let interrupt = Interrupt::new();
        assert_eq!(wait_for::<()>(&interrupt, Instant::now(), endless), None);
        interrupt.set();
        assert_eq!(wait_for::<()>(&interrupt, in_an_hour(), endless), None);
    }

    #[test]
    #[should_panic(expected = "a bug in the work")]
    fn a_panic_is_passed_on() {
        wait_for::<()>(&Interrupt::new(), in_an_hour(), || panic!("a bug in the work"));
    }
}
