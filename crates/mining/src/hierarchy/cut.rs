//! The tree in order of height, and its division into clusters.

use super::model::Join;
use super::parameters::Linkage;
use crate::links::Link;

/// A complete tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pub items: usize,
    /// The joins by increasing height.
    pub joins: Vec<Join>,
}

impl Tree {
    /// Sorts the joins of a chain by height. Multiplies their distances by `unit`.
    pub fn new(items: usize, found: &[Link], linkage: Linkage, unit: f64) -> Self {
        // Rounding may put a cluster a little below one of its parts.
        let mut heights = vec![0.0f64; items];
        let height = |found: &Link| {
            let own = if linkage == Linkage::Ward { found.distance.sqrt() } else { found.distance };
            let height = own.max(heights[found.from as usize]).max(heights[found.to as usize]);
            heights[found.from as usize] = height;
            height
        };
        let found_heights: Vec<f64> = found.iter().map(height).collect();
        // The sort is stable, so a part that is as high as the whole stays before it.
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| found_heights[a].total_cmp(&found_heights[b]));
        let mut node: Vec<usize> = (0..items).collect();
        let mut count = vec![1u64; items];
        let join = |(place, &at): (usize, &usize)| {
            let [left, right] = [found[at].from as usize, found[at].to as usize];
            count[left] += count[right];
            let join =
                Join { left: node[left], right: node[right], height: found_heights[at] * unit, items: count[left] };
            node[left] = items + place;
            join
        };
        let joins = order.iter().enumerate().map(join).collect();
        Self { items, joins }
    }

    /// The number of clusters below a height: joins above it are undone.
    pub fn clusters_at(&self, height: f64) -> usize {
        self.joins.iter().filter(|join| join.height > height).count() + 1
    }

    /// Undoes the last `clusters` − 1 joins. Returns the roots that are left, and the root of each item as an index of
    /// these roots.
    pub fn cut(&self, clusters: usize) -> (Vec<usize>, Vec<u32>) {
        let kept = self.items - clusters;
        let mut root = vec![None; self.items + self.joins.len()];
        let mut roots = Vec::with_capacity(clusters);
        for node in (0..self.items + kept).rev() {
            let number = *root[node].get_or_insert_with(|| {
                roots.push(node);
                roots.len() as u32 - 1
            });
            if let Some(join) = node.checked_sub(self.items).map(|place| &self.joins[place]) {
                root[join.left] = Some(number);
                root[join.right] = Some(number);
            }
        }
        let labels = root[..self.items].iter().map(|root| root.unwrap_or_default()).collect();
        (roots, labels)
    }

    /// Returns the items from left to right: no two lines of the drawn tree cross in this order.
    pub fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.items);
        let mut open = vec![self.items + self.joins.len() - 1];
        while let Some(node) = open.pop() {
            match node.checked_sub(self.items).map(|place| &self.joins[place]) {
                Some(join) => open.extend([join.right, join.left]),
                None => order.push(node),
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let found = |from, to, distance| Link { from, to, distance };
        // 3 and 4 are joined first, but they are farther apart than 0 and 1.
        let chain = [found(3, 4, 0.5), found(0, 1, 0.25), found(0, 2, 0.5 - 1e-18), found(0, 3, 2.0)];
        Tree::new(5, &chain, Linkage::Average, 2.0)
    }

    #[test]
    fn joins_are_sorted_by_height_and_name_the_nodes_before_them() {
        let nodes: Vec<_> = tree().joins.iter().map(|join| (join.left, join.right, join.height, join.items)).collect();
        assert_eq!(nodes, [(0, 1, 0.5, 2), (3, 4, 1.0, 2), (5, 2, 1.0, 3), (7, 6, 4.0, 5)]);
    }

    #[test]
    fn a_whole_is_never_below_its_parts() {
        let found = |from, to, distance| Link { from, to, distance };
        let tree = Tree::new(3, &[found(0, 1, 1.0), found(0, 2, 0.999)], Linkage::Average, 1.0);
        assert_eq!(tree.joins.iter().map(|join| join.height).collect::<Vec<_>>(), [1.0, 1.0]);
        let ward = Tree::new(2, &[found(0, 1, 9.0)], Linkage::Ward, 2.0);
        assert_eq!(ward.joins[0].height, 6.0);
    }

    #[test]
    fn a_cut_undoes_the_highest_joins() {
        let tree = tree();
        assert_eq!(tree.cut(1), (vec![8], vec![0; 5]));
        assert_eq!(tree.cut(2), (vec![7, 6], vec![0, 0, 0, 1, 1]));
        assert_eq!(tree.cut(5).1.len(), 5);
        assert_eq!([0.0, 0.5, 0.99, 1.0, 4.0].map(|height| tree.clusters_at(height)), [5, 4, 4, 2, 1]);
        assert_eq!(tree.order(), [0, 1, 2, 3, 4]);
        let alone = Tree::new(1, &[], Linkage::Single, 1.0);
        assert_eq!((alone.cut(1), alone.order(), alone.clusters_at(0.0)), ((vec![0], vec![0]), vec![0], 1));
    }
}
