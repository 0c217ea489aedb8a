//! Groups of some of the ranks of an exchange. The first rank of a group that asks for its endpoint creates the
//! endpoints of all members, and each member takes its own.

use super::{Endpoint, endpoints};

/// The endpoints of a group of some of the ranks, until these ranks take them.
pub(super) struct Part {
    /// The identity of the group: the number of the new communicator, and the number in the world of the group's first
    /// rank.
    name: (u32, usize),
    pub(super) ends: Vec<Endpoint>,
}

impl Endpoint {
    /// Returns this rank's end of a group of some of these ranks, including this rank; `members` are their numbers in
    /// the world. All members call this method, and the communicator's `number` identifies the group.
    pub(crate) fn part(&self, number: u32, members: &[usize]) -> Self {
        let name = (number, members[0]);
        // These ends are dropped after the lock is released, because each then wakes its group.
        let mut orphans = Vec::new();
        let mut parts = self.shared.parts.lock();
        let place = parts.iter().position(|part| part.name == name).unwrap_or_else(|| {
            let ends = endpoints(members, self.shared.spins > 0);
            // A rank that has ended will not take its end. A rank that ends later finds its end here, because it
            // records its ending before it searches the parts.
            let endings = self.shared.endings.lock();
            let culprit =
                |end: &Endpoint| endings.iter().find(|ending| ending.world == end.world).map(|ending| ending.culprit);
            let mut wanted = Vec::new();
            for mut end in ends {
                if let Some(culprit) = culprit(&end) {
                    end.blame(culprit);
                    orphans.push(end);
                } else {
                    wanted.push(end);
                }
            }
            parts.push(Part { name, ends: wanted });
            parts.len() - 1
        });
        let ends = &mut parts[place].ends;
        let mine = ends.iter().position(|end| end.world == self.world).expect("this rank is one of the members");
        let end = ends.remove(mine);
        if ends.is_empty() {
            parts.remove(place);
        }
        drop(parts);
        drop(orphans);
        end
    }
}
