//! Proof-number search (Allis, van der Meulen and van den Herik, Artificial Intelligence 66, 1994): can the attacker force a win?
//!
//! A node's proof number is the least number of open positions that must turn out well for the attacker to prove the win, its
//! disproof number the least number that must turn out badly. The next position to open is the one that both numbers point to.
//!
//! A new position in which the defender is to move has the number of its replies as proof number ("mobility", Allis et al.,
//! section 4), so that forcing moves are searched first: checks in chess and shogi, threats elsewhere. The tree has no
//! transpositions: each node is a position with its whole history, so repetition is judged exactly.

use crate::game::{Action, Game, Position};
use crate::player::Player;

/// The number of what is impossible.
const INFINITE: u32 = u32::MAX;
/// Maximum number of nodes of a tree: 28 MiB.
const MAX_NODES: usize = 1 << 20;

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    first_child: u32,
    proof: u32,
    disproof: u32,
    num_children: u16,
    /// The move that leads here.
    action: Action,
    is_attackers_turn: bool,
}

impl Node {
    fn is_open(&self) -> bool {
        self.proof != 0 && self.disproof != 0
    }

    /// The numbers of the children.
    fn children(&self) -> std::ops::Range<usize> {
        let first = self.first_child as usize;
        first..first + usize::from(self.num_children)
    }
}

/// A tree for one attacker, below one root.
#[derive(Debug)]
pub struct ProofTree {
    attacker: Player,
    /// Maximum length of a win in plies.
    limit: Option<u32>,
    nodes: Vec<Node>,
}

impl ProofTree {
    /// A root where `mover` is to move.
    pub fn new(attacker: Player, mover: Player, limit: Option<u32>) -> Self {
        let is_attackers_turn = attacker == mover;
        let root =
            Node { parent: 0, first_child: 0, proof: 1, disproof: 1, num_children: 0, action: 0, is_attackers_turn };
        Self { attacker, limit, nodes: vec![root] }
    }

    pub fn attacker(&self) -> Player {
        self.attacker
    }

    pub fn limit(&self) -> Option<u32> {
        self.limit
    }

    /// Whether the win is proven or disproven, or the memory used up.
    pub fn is_over(&self) -> bool {
        !self.nodes[0].is_open() || self.nodes.len() >= MAX_NODES
    }

    /// Whether there is no win.
    pub fn is_disproven(&self) -> bool {
        self.nodes[0].disproof == 0
    }

    /// Opens positions until about `max_nodes` nodes are made, and returns their number.
    ///
    /// `allowed` are the root's moves, ascending; empty for all.
    pub fn work<G: Game>(&mut self, game: &G, root: &Position<G::State>, allowed: &[Action], max_nodes: u64) -> u64 {
        let first = self.nodes.len() as u64;
        let mut line = Vec::new();
        while !self.is_over() && (self.nodes.len() as u64) < first + max_nodes {
            let id = self.most_proving(&mut line);
            let mut position = root.clone();
            for action in &line {
                position.play(game, *action);
            }
            let allowed = if id == 0 { allowed } else { &[] };
            self.open(game, id, &position, line.len() as u32, allowed);
            self.update(id);
        }
        self.nodes.len() as u64 - first
    }

    /// The open node that the numbers point to; `line` becomes the moves that lead there.
    fn most_proving(&self, line: &mut Vec<Action>) -> usize {
        line.clear();
        let mut id = 0;
        while self.nodes[id].num_children > 0 {
            let node = &self.nodes[id];
            let number = |child: &usize| {
                let child = &self.nodes[*child];
                if node.is_attackers_turn { child.proof } else { child.disproof }
            };
            id = node.children().min_by_key(number).expect("the node has children");
            line.push(self.nodes[id].action);
        }
        id
    }

    /// Adds the children of a node, of a position `plies` below the root; no further ones once one of them decides the node.
    fn open<G: Game>(&mut self, game: &G, id: usize, position: &Position<G::State>, plies: u32, allowed: &[Action]) {
        let (mut actions, mut replies) = (Vec::new(), Vec::new());
        game.legal_actions(&position.state, &mut actions);
        if !allowed.is_empty() {
            actions.retain(|action| allowed.binary_search(action).is_ok());
        }
        let is_attackers_turn = self.nodes[id].is_attackers_turn;
        let is_last = self.limit.is_some_and(|limit| plies + 1 >= limit);
        self.nodes[id].first_child = self.nodes.len() as u32;
        for action in actions {
            let mut next = position.clone();
            next.play(game, action);
            let mut child = Node {
                parent: id as u32,
                first_child: 0,
                proof: INFINITE,
                disproof: 0,
                num_children: 0,
                action,
                is_attackers_turn: false,
            };
            match next.outcome(game) {
                Some(outcome) => {
                    if outcome.result.0 * self.attacker.sign() == 1.0 {
                        (child.proof, child.disproof) = (0, INFINITE);
                    }
                }
                None if is_last => {}
                None => {
                    child.is_attackers_turn = game.player(&next.state) == self.attacker;
                    replies.clear();
                    game.legal_actions(&next.state, &mut replies);
                    let mobility = replies.len().max(1) as u32;
                    (child.proof, child.disproof) = if child.is_attackers_turn { (1, mobility) } else { (mobility, 1) };
                }
            }
            let decides = if is_attackers_turn { child.proof == 0 } else { child.disproof == 0 };
            self.nodes.push(child);
            self.nodes[id].num_children += 1;
            // All moves of the root are kept: each may be asked for.
            if decides && id != 0 {
                break;
            }
        }
    }

    /// Computes the numbers from a node with new children to the root.
    fn update(&mut self, mut id: usize) {
        loop {
            let node = self.nodes[id];
            let (mut least, mut sum) = (INFINITE, 0_u32);
            for child in &self.nodes[node.children()] {
                let (chosen, other) =
                    if node.is_attackers_turn { (child.proof, child.disproof) } else { (child.disproof, child.proof) };
                least = least.min(chosen);
                sum = if other == INFINITE || sum == INFINITE {
                    INFINITE
                } else {
                    sum.saturating_add(other).min(INFINITE - 1)
                };
            }
            let numbers = if node.is_attackers_turn { (least, sum) } else { (sum, least) };
            let is_same = numbers == (node.proof, node.disproof);
            (self.nodes[id].proof, self.nodes[id].disproof) = numbers;
            if id == 0 || is_same {
                return;
            }
            id = node.parent as usize;
        }
    }

    /// The moves of the root after which the attacker's win is proven.
    pub fn won_moves(&self) -> Vec<Action> {
        self.nodes[0]
            .children()
            .filter(|child| self.nodes[*child].proof == 0)
            .map(|child| self.nodes[child].action)
            .collect()
    }

    /// The proven win: the attacker's shortest one within the tree against the longest resistance; `None` if none is proven.
    pub fn won_line(&self) -> Option<Vec<Action>> {
        if self.nodes[0].proof != 0 {
            return None;
        }
        // Children come after their parents.
        let mut plies = vec![0_u32; self.nodes.len()];
        for id in (0..self.nodes.len()).rev() {
            let node = &self.nodes[id];
            if node.proof == 0 && node.num_children > 0 {
                plies[id] = 1 + plies[self.best_child(node, &plies)];
            }
        }
        let (mut id, mut line) = (0, Vec::new());
        while self.nodes[id].num_children > 0 {
            id = self.best_child(&self.nodes[id], &plies);
            line.push(self.nodes[id].action);
        }
        Some(line)
    }

    /// The best child of a won node: the nearest end for the attacker, the farthest for the defender.
    fn best_child(&self, node: &Node, plies: &[u32]) -> usize {
        let won = node.children().filter(|child| self.nodes[*child].proof == 0);
        let best = if node.is_attackers_turn {
            won.min_by_key(|child| plies[*child])
        } else {
            won.max_by_key(|child| plies[*child])
        };
        best.expect("a won node has a won child")
    }

    /// Makes the position after a move of the root the root, with what is known of it. Returns whether anything is.
    pub fn advance(&mut self, action: Action) -> bool {
        let root = self.nodes[0].children().find(|child| self.nodes[*child].action == action);
        let Some(root) = root.filter(|root| self.nodes[*root].num_children > 0) else { return false };
        let mut kept = vec![Node { parent: 0, ..self.nodes[root] }];
        let mut next = 0;
        while next < kept.len() {
            let node = kept[next];
            kept[next].first_child = kept.len() as u32;
            let children = self.nodes[node.children()].iter();
            kept.extend(children.map(|child| Node { parent: next as u32, ..*child }));
            next += 1;
        }
        self.nodes = kept;
        true
    }
}
