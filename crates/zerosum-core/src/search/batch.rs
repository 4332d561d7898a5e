//! A batch in flight: the leaves that were handed out, and their paths from the roots of their trees.

use std::sync::Arc;

use super::cache::Key;
use crate::game::Game;
use crate::leaves::Leaves;

/// Leaves with an evaluator.
pub struct Batch<G: Game> {
    pub leaves: Arc<Leaves<G>>,
    pub paths: Paths,
    /// The leaves' keys in the evaluation cache; empty without a cache, and if it was cleared since.
    pub keys: Vec<Key>,
}

/// The path of each leaf: the index of the child taken at each node from the root. All paths are in one list.
#[derive(Default)]
pub struct Paths {
    /// The paths one after the other, and at the end that of the simulation under way.
    pub indices: Vec<u16>,
    /// The end of each finished path in `indices`.
    ends: Vec<usize>,
}

impl Paths {
    /// The number of finished paths.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The path of a leaf.
    pub fn get(&self, leaf: usize) -> &[u16] {
        &self.indices[self.start(leaf)..self.ends[leaf]]
    }

    /// Drops the path of the simulation under way.
    pub fn discard_current(&mut self) {
        self.indices.truncate(self.current_start());
    }

    /// The path of the simulation under way.
    pub fn current(&self) -> &[u16] {
        &self.indices[self.current_start()..]
    }

    /// Makes the path of the simulation under way that of the next leaf.
    pub fn finish_current(&mut self) {
        self.ends.push(self.indices.len());
    }

    /// Adds a finished path.
    pub fn push(&mut self, indices: &[u16]) {
        self.indices.extend_from_slice(indices);
        self.ends.push(self.indices.len());
    }

    pub fn clear(&mut self) {
        self.indices.clear();
        self.ends.clear();
    }

    /// Removes some of the paths from `first` on: those with true in `is_removed`, which begins at `first`.
    pub fn remove(&mut self, first: usize, is_removed: &[bool]) {
        let (mut kept, mut start) = (first, self.start(first));
        let mut end = start;
        for (leaf, is_removed) in (first..).zip(is_removed) {
            let indices = start..self.ends[leaf];
            start = indices.end;
            if !is_removed {
                self.indices.copy_within(indices.clone(), end);
                end += indices.len();
                self.ends[kept] = end;
                kept += 1;
            }
        }
        self.indices.truncate(end);
        self.ends.truncate(kept);
    }

    fn start(&self, leaf: usize) -> usize {
        if leaf == 0 { 0 } else { self.ends[leaf - 1] }
    }

    fn current_start(&self) -> usize {
        self.start(self.ends.len())
    }
}
