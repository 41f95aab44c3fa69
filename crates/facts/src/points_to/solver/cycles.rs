//! Cycles of unmoved edges: all their nodes have the same spots.

use super::{Node, Solver};
use crate::spot::Shift;

impl Solver {
    /// Merges nodes on cycles of unmoved edges and puts all nodes in order (Tarjan's algorithm). Written by hand because
    /// `petgraph::algo::tarjan_scc` recurses, as deep as the longest path of a graph with a node for every local.
    pub(super) fn merge_cycles(&mut self) {
        let count = self.parent.len();
        const NONE: u32 = u32::MAX;
        let (mut index, mut low) = (vec![NONE; count], vec![0u32; count]);
        let mut on_stack = vec![false; count];
        let (mut stack, mut calls): (Vec<Node>, Vec<(Node, usize)>) = (Vec::new(), Vec::new());
        let mut components: Vec<Vec<Node>> = Vec::new();
        let mut finished = Vec::new();
        let mut next = 0u32;
        for start in 0..count as Node {
            if self.parent[start as usize] != start || index[start as usize] != NONE {
                continue;
            }
            calls.push((start, 0));
            while let Some((node, edge)) = calls.pop() {
                let n = node as usize;
                if edge == 0 {
                    index[n] = next;
                    low[n] = next;
                    next += 1;
                    stack.push(node);
                    on_stack[n] = true;
                }
                let mut descended = false;
                for number in edge..self.edges[n].len() {
                    let (to, shift) = self.edges[n][number];
                    let to = self.find(to);
                    if shift != Shift::default() {
                        continue;
                    }
                    if index[to as usize] == NONE {
                        calls.push((node, number + 1));
                        calls.push((to, 0));
                        descended = true;
                        break;
                    }
                    if on_stack[to as usize] {
                        low[n] = low[n].min(index[to as usize]);
                    }
                }
                if descended {
                    continue;
                }
                if low[n] == index[n] {
                    let at = stack.iter().rposition(|m| *m == node).unwrap_or(0);
                    let component: Vec<Node> = stack.drain(at..).collect();
                    component.iter().for_each(|m| on_stack[*m as usize] = false);
                    finished.extend(component.iter().copied());
                    if component.len() > 1 {
                        components.push(component);
                    }
                }
                if let Some((caller, _)) = calls.last() {
                    low[*caller as usize] = low[*caller as usize].min(low[n]);
                }
            }
        }
        self.order = vec![0; count];
        for (rank, node) in finished.iter().rev().enumerate() {
            self.order[*node as usize] = rank as u32;
        }
        for component in components {
            for node in &component[1..] {
                self.merge(component[0], *node);
            }
        }
    }
}
