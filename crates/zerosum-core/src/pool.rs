//! Threads that share the work on one batch. Results do not depend on the number of threads.
//!
//! The calling thread takes parts like the others, and waits only for parts that somebody has begun: a helper that wakes
//! too late finds nothing left.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Work in numbered parts that do not depend on one another.
pub trait Work: Send + Sync + 'static {
    /// The result of one part.
    type Part: Send + 'static;

    /// Does one part.
    fn part(&self, index: usize) -> Self::Part;
}

/// Threads that help the calling thread. They sleep between calls, and end when the pool is dropped.
pub struct Pool {
    helpers: Vec<Sender<Arc<dyn Job>>>,
}

/// Number of leaves in a part: large enough that taking it costs nothing, small enough that all threads end together.
pub const LEAVES_PER_PART: usize = 8;

impl Pool {
    /// A pool of `num_threads` threads, the calling one included; `None` if it is the only one.
    ///
    /// # Errors
    /// If the system cannot start the threads.
    pub fn new(num_threads: usize) -> Result<Option<Self>, String> {
        let helpers = (1..num_threads).map(|number| {
            let (sender, receiver) = channel::<Arc<dyn Job>>();
            let help = move || receiver.into_iter().for_each(|job| job.help());
            let started = thread::Builder::new().name(format!("search {number}")).spawn(help);
            started.map_err(|error| format!("{num_threads} threads cannot be had: {error}")).map(|_| sender)
        });
        let helpers = helpers.collect::<Result<Vec<_>, String>>()?;
        Ok((!helpers.is_empty()).then_some(Self { helpers }))
    }

    /// Does all parts once; returns the work and their results in order.
    pub fn share<W: Work>(&self, work: W, num_parts: usize) -> (W, Vec<W::Part>) {
        let tasks = Tasks { work: Some(Arc::new(work)), next: 0, num_parts, num_begun: 0, done: Vec::new() };
        let job = Arc::new(Shared { tasks: Mutex::new(tasks), is_done: Condvar::new() });
        // Each helper has two parts at least: waking it costs as much as a part.
        for helper in self.helpers.iter().take(num_parts / 2) {
            helper.send(Arc::<Shared<W>>::clone(&job)).expect("a helper waits as long as the pool lives");
        }
        job.help();
        job.finish()
    }
}

/// What helpers are told.
trait Job: Send + Sync {
    /// Takes parts until none is left.
    fn help(&self);
}

struct Shared<W: Work> {
    tasks: Mutex<Tasks<W>>,
    is_done: Condvar,
}

struct Tasks<W: Work> {
    /// `None` once the caller has it back.
    work: Option<Arc<W>>,
    next: usize,
    num_parts: usize,
    /// Parts that somebody is at.
    num_begun: usize,
    done: Vec<(usize, thread::Result<W::Part>)>,
}

impl<W: Work> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, Tasks<W>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the parts that others are at.
    fn finish(&self) -> (W, Vec<W::Part>) {
        let mut tasks = self.lock();
        while tasks.num_begun > 0 {
            tasks = self.is_done.wait(tasks).unwrap_or_else(PoisonError::into_inner);
        }
        let work = tasks.work.take().and_then(Arc::into_inner).expect("nobody else is at it");
        let mut done = std::mem::take(&mut tasks.done);
        drop(tasks);
        done.sort_unstable_by_key(|(index, _)| *index);
        let parts = done.into_iter().map(|(_, part)| part.unwrap_or_else(|panic| resume_unwind(panic))).collect();
        (work, parts)
    }
}

impl<W: Work> Job for Shared<W> {
    fn help(&self) {
        let mut tasks = self.lock();
        while tasks.next < tasks.num_parts {
            let Some(work) = tasks.work.clone() else { return };
            let index = tasks.next;
            tasks.next += 1;
            tasks.num_begun += 1;
            drop(tasks);
            let part = catch_unwind(AssertUnwindSafe(|| work.part(index)));
            tasks = self.lock();
            drop(work);
            tasks.num_begun -= 1;
            tasks.done.push((index, part));
            if tasks.num_begun == 0 && tasks.next == tasks.num_parts {
                self.is_done.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;

    use super::*;

    struct Squares(Vec<usize>);

    impl Work for Squares {
        type Part = usize;

        fn part(&self, index: usize) -> usize {
            assert!(self.0[index] < 5000, "too large");
            self.0[index] * self.0[index]
        }
    }

    #[test]
    fn each_part_is_worked_on_once() {
        assert!(Pool::new(1).unwrap().is_none());
        for num_threads in [2, 5] {
            let pool = Pool::new(num_threads).unwrap().expect("more than one thread");
            for num_parts in [0, 1, 3, 1000] {
                let numbers: Vec<usize> = (0..num_parts).collect();
                let (Squares(back), squares) = pool.share(Squares(numbers.clone()), num_parts);
                assert_eq!(back, numbers);
                assert!(squares.into_iter().eq(numbers.iter().map(|number| number * number)));
            }
        }
    }

    /// Each part lasts until the channel is closed.
    struct Waiting {
        begun: Sender<()>,
        released: Mutex<Receiver<()>>,
    }

    impl Work for Waiting {
        type Part = ();

        fn part(&self, _: usize) {
            self.begun.send(()).unwrap();
            assert!(self.released.lock().unwrap().recv().is_err());
        }
    }

    #[test]
    fn nobody_waits_for_a_helper_that_is_busy_elsewhere() {
        let pool = Pool::new(2).unwrap().expect("two threads");
        let ((begun, has_begun), (release, released)) = (channel(), channel());
        thread::scope(|scope| {
            scope.spawn(|| pool.share(Waiting { begun, released: Mutex::new(released) }, 4));
            for _ in 0..2 {
                has_begun.recv().unwrap();
            }
            assert_eq!(pool.share(Squares(vec![7; 9]), 9).1, vec![49; 9]);
            drop(release);
        });
    }

    #[test]
    fn a_panic_is_the_callers_and_the_pool_goes_on() {
        let pool = Pool::new(3).unwrap().expect("three threads");
        let numbers: Vec<usize> = (4000..6000).collect();
        assert!(catch_unwind(AssertUnwindSafe(|| pool.share(Squares(numbers), 2000))).is_err());
        assert_eq!(pool.share(Squares(vec![7; 9]), 9).1, vec![49; 9]);
    }
}
