//! Threads that share the work on one batch. Results do not depend on the number of threads.

use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads that help the calling thread. They sleep between calls.
pub struct Pool {
    helpers: ThreadPool,
}

/// Number of leaves that a thread takes at a time: large enough that taking them costs nothing, small enough that all
/// threads end together.
pub const LEAVES_PER_PART: usize = 8;

impl Pool {
    /// A pool of `num_threads` threads, the calling one included; `None` if it is the only one.
    ///
    /// # Errors
    /// If the system cannot start the threads.
    pub fn new(num_threads: usize) -> Result<Option<Self>, String> {
        if num_threads <= 1 {
            return Ok(None);
        }
        let name = |index| format!("search {index}");
        let helpers = ThreadPoolBuilder::new().num_threads(num_threads - 1).thread_name(name).build();
        let helpers = helpers.map_err(|error| format!("{num_threads} threads cannot be had: {error}"))?;
        Ok(Some(Self { helpers }))
    }

    /// Works on each part once, and returns when the last is done.
    pub fn share<T: Send>(&self, parts: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
        let parts = Mutex::new(parts);
        let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work_on = || {
            while let Some(part) = next() {
                work(part);
            }
        };
        self.helpers.in_place_scope(|scope| {
            for _ in 0..self.helpers.current_num_threads() {
                scope.spawn(|_| work_on());
            }
            work_on();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_worked_on_once() {
        assert!(Pool::new(1).unwrap().is_none());
        for num_threads in [2, 5] {
            let pool = Pool::new(num_threads).unwrap().expect("more than one thread");
            for num_parts in [0, 1, 3, 1000] {
                let mut counts = vec![0; num_parts];
                pool.share(counts.iter_mut().enumerate(), |(index, count)| *count += index + 1);
                assert!(counts.iter().enumerate().all(|(index, count)| *count == index + 1));
            }
        }
    }
}
