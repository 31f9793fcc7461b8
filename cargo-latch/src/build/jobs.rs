//! Work side by side, as much at a time as `-j` allows.
//!
//! Under `make -j` and the like, the number of processes that may run is not ours to say: then every piece of work but
//! one waits for a token of the jobserver that the environment names.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::thread;

use jobserver::Client;

/// How much may run at a time.
#[derive(Debug, Clone)]
pub struct Jobs {
    most: NonZeroUsize,
    inherited: Option<Client>,
}

impl Jobs {
    /// So many, or one for each processor.
    pub fn new(asked: Option<NonZeroUsize>) -> Jobs {
        let processors = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        // SAFETY: the descriptors that the variable names are those that this process has inherited for the purpose.
        // Nothing of ours has opened or closed any by these numbers: the client is made once, first thing.
        let inherited = unsafe { Client::from_env() };
        Jobs { most: asked.unwrap_or_else(processors), inherited }
    }

    /// The limit.
    pub fn most(&self) -> usize {
        self.most.get()
    }

    /// Does `work` for every item; the results are in the items' order.
    pub fn run<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let next = Mutex::new(items.iter().enumerate());
        let take = || next.lock().unwrap_or_else(|broken| broken.into_inner()).next();
        let worker = |is_first: bool| {
            let mut done = Vec::new();
            while let Some((at, item)) = take() {
                // The process itself holds one token already.
                let _token = self.inherited.as_ref().filter(|_| !is_first).map(Client::acquire);
                done.push((at, work(item)));
            }
            done
        };
        let workers = self.most().min(items.len());
        let mut done = thread::scope(|scope| {
            let others: Vec<_> = (1..workers).map(|_| scope.spawn(|| worker(false))).collect();
            let mut done = worker(true);
            for other in others {
                done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            done
        });
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_are_in_order_and_no_more_run_than_may() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |item: &usize| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_millis(2));
            running.fetch_sub(1, Ordering::SeqCst);
            item * 10
        };
        let jobs = Jobs { most: NonZeroUsize::new(3).expect("not 0"), inherited: None };
        let items: Vec<usize> = (0..20).collect();
        assert_eq!(jobs.run(&items, work), items.iter().map(|item| item * 10).collect::<Vec<_>>());
        assert_eq!(most.into_inner(), 3);
    }

    #[test]
    fn of_a_jobserver_no_more_is_taken_than_it_has() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |_: &usize| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_millis(2));
            running.fetch_sub(1, Ordering::SeqCst);
        };
        // One token beside the process's own.
        let inherited = Some(Client::new(1).expect("a jobserver can be made"));
        let jobs = Jobs { most: NonZeroUsize::new(8).expect("not 0"), inherited };
        jobs.run(&[0; 20], work);
        assert_eq!(most.into_inner(), 2);
    }
}
