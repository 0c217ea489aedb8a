//! The items of a port, numbered in order of arrival. An item may be offered to a receiver that has not fetched it yet.

use std::collections::VecDeque;

use super::waiters::Ticket;
use crate::context::{self, Context};

/// The number of items for which an empty queue keeps memory.
const CAPACITY_KEPT: usize = 32;

/// An item, and the receiver to which it is offered.
pub(crate) struct Element<T> {
    /// The sequence number: 0, 1, 2, … in order of arrival at this port; ascending along the queue.
    pub(crate) sequence: u64,
    /// The receiver to which the item has been offered. The item stays in its position until that receiver fetches it
    /// or leaves.
    pub(crate) offered_to: Option<Ticket>,
    pub(crate) item: T,
    /// The context in which the item was posted.
    pub(crate) context: Option<Context>,
}

impl<T> Element<T> {
    /// Returns the item, and puts its context into the thread's list, where [`collect`](context::current::collect)
    /// finds it.
    pub(crate) fn into_item(self) -> T {
        context::current::leave(self.context);
        self.item
    }
}

/// The items of a port; see the documentation of this module.
pub(crate) struct Queue<T> {
    elements: VecDeque<Element<T>>,
    next_sequence: u64,
    /// The number of elements that are offered to a receiver.
    offered: usize,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Self { elements: VecDeque::new(), next_sequence: 0, offered: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Returns the number of items that have ever been pushed.
    pub(crate) fn pushed(&self) -> u64 {
        self.next_sequence
    }

    /// Returns the sequence numbers of the items in the queue, ascending.
    pub(crate) fn sequences(&self) -> impl Iterator<Item = u64> {
        self.elements.iter().map(|element| element.sequence)
    }

    pub(crate) fn capacity(&self) -> usize {
        self.elements.capacity()
    }

    /// Returns whether any item is offered to a receiver that has not fetched it yet.
    #[inline]
    pub(crate) fn has_offered(&self) -> bool {
        self.offered > 0
    }

    /// Returns the number of items that have not been offered to a waiter.
    pub(crate) fn available(&self) -> usize {
        self.elements.len() - self.offered
    }

    /// Appends an item, with or without a receiver to which it is offered; returns its sequence number.
    #[inline]
    pub(crate) fn push(&mut self, item: T, offered_to: Option<Ticket>) -> u64 {
        // Two separate calls make an element. In the call that programs without contexts use, the element is therefore
        // written directly into the queue and not first built on the stack.
        if context::current::in_use() {
            self.push_in(item, offered_to, context::current::capture())
        } else {
            self.append(item, offered_to, None)
        }
    }

    #[inline(never)]
    fn push_in(&mut self, item: T, offered_to: Option<Ticket>, context: Option<Context>) -> u64 {
        self.append(item, offered_to, context)
    }

    #[inline(always)]
    fn append(&mut self, item: T, offered_to: Option<Ticket>, context: Option<Context>) -> u64 {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.offered += usize::from(offered_to.is_some());
        self.elements.push_back(Element { sequence, offered_to, item, context });
        sequence
    }

    /// Removes the item with this sequence number, which must be in the queue.
    #[inline]
    pub(crate) fn remove_numbered(&mut self, sequence: u64) -> Element<T> {
        if self.elements.front().is_some_and(|element| element.sequence == sequence)
            && let Some(element) = self.remove_first()
        {
            return element;
        }
        self.remove(self.place_of(sequence))
    }

    /// Removes the item with this sequence number, if it is still in the queue and offered to `ticket`.
    #[inline]
    pub(crate) fn remove_offered(&mut self, ticket: Ticket, sequence: u64) -> Option<Element<T>> {
        // A receiver that takes items in order finds its item at the front.
        if self.elements.front().is_some_and(|first| first.sequence == sequence && first.offered_to == Some(ticket)) {
            return self.remove_first();
        }
        let place = self.find_offered(ticket, sequence)?;
        Some(self.remove(place))
    }

    /// Removes the oldest item, whether it is offered or not.
    #[inline]
    fn remove_first(&mut self) -> Option<Element<T>> {
        let element = self.elements.pop_front()?;
        self.offered -= usize::from(element.offered_to.is_some());
        self.give_memory_back();
        Some(element)
    }

    /// Returns the position of the oldest available item that `accepts` accepts. The first error of `accepts` ends the
    /// search.
    pub(crate) fn find<E>(&self, mut accepts: impl FnMut(&T) -> Result<bool, E>) -> Result<Option<usize>, E> {
        for (place, element) in self.elements.iter().enumerate() {
            if element.offered_to.is_none() && accepts(&element.item)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Returns the position of the item with this sequence number, which must be in the queue.
    #[inline]
    pub(crate) fn place_of(&self, sequence: u64) -> usize {
        self.elements
            .binary_search_by_key(&sequence, |element| element.sequence)
            .expect("an offered item stays in its queue until it is fetched")
    }

    /// Returns the number of offered items after `place`.
    #[inline]
    pub(crate) fn offered_after(&self, place: usize) -> usize {
        if self.offered == 0 {
            return 0;
        }
        self.offered - self.elements.range(..=place).filter(|element| element.offered_to.is_some()).count()
    }

    /// Returns the items that have not been offered to a waiter, with their positions, oldest first.
    pub(crate) fn available_items(&self) -> impl Iterator<Item = (usize, &T)> {
        let elements = self.elements.iter().enumerate().filter(|(_, element)| element.offered_to.is_none());
        elements.map(|(place, element)| (place, &element.item))
    }

    /// Returns the positions of the items that are offered to `ticket`, oldest first.
    pub(crate) fn offered_to(&self, ticket: Ticket) -> impl Iterator<Item = usize> {
        let elements = self.elements.iter().enumerate();
        elements.filter(move |(_, element)| element.offered_to == Some(ticket)).map(|(place, _)| place)
    }

    /// Returns the position of the item with this sequence number, if it is still in the queue and offered to `ticket`.
    pub(crate) fn find_offered(&self, ticket: Ticket, sequence: u64) -> Option<usize> {
        let place = self.elements.binary_search_by_key(&sequence, |element| element.sequence).ok()?;
        (self.elements[place].offered_to == Some(ticket)).then_some(place)
    }

    pub(crate) fn element(&self, place: usize) -> &Element<T> {
        &self.elements[place]
    }

    /// Marks the item as offered to `ticket`.
    #[inline]
    pub(crate) fn offer(&mut self, place: usize, ticket: Ticket) {
        let before = self.elements[place].offered_to.replace(ticket);
        debug_assert!(before.is_none(), "an item is offered to one receiver at a time");
        self.offered += 1;
    }

    /// Marks the item as no longer offered.
    pub(crate) fn withdraw(&mut self, place: usize) {
        let before = self.elements[place].offered_to.take();
        debug_assert!(before.is_some(), "only an offered item can be withdrawn");
        self.offered -= 1;
    }

    /// Removes the item at `place`, offered or not.
    pub(crate) fn remove(&mut self, place: usize) -> Element<T> {
        let element = self.elements.remove(place).expect("the place was found under the same lock");
        self.offered -= usize::from(element.offered_to.is_some());
        self.give_memory_back();
        element
    }

    /// Removes the oldest available item.
    #[inline]
    pub(crate) fn take_oldest(&mut self) -> Option<T> {
        if self.offered == 0 {
            return self.remove_first().map(Element::into_item);
        }
        let place = self.elements.iter().position(|element| element.offered_to.is_none())?;
        Some(self.remove(place).into_item())
    }

    /// Removes the oldest item, whether it is offered or not.
    pub(crate) fn take_any(&mut self) -> Option<Element<T>> {
        self.remove_first()
    }

    /// Removes all items that have not been offered to a waiter, oldest first.
    pub(crate) fn take_available(&mut self) -> VecDeque<Element<T>> {
        let (left, taken) =
            std::mem::take(&mut self.elements).into_iter().partition(|element| element.offered_to.is_some());
        self.elements = left;
        taken
    }

    /// Removes all items; the queue keeps no memory.
    pub(crate) fn take_all(&mut self) -> VecDeque<Element<T>> {
        self.offered = 0;
        std::mem::take(&mut self.elements)
    }

    /// Frees half of the memory when a quarter of it would be enough, as after a burst. So the cost per item stays
    /// constant, and an empty queue keeps almost no memory.
    #[inline]
    fn give_memory_back(&mut self) {
        let capacity = self.elements.capacity();
        if capacity > CAPACITY_KEPT && self.elements.len() <= capacity / 4 {
            self.halve();
        }
    }

    #[cold]
    #[inline(never)]
    fn halve(&mut self) {
        self.elements.shrink_to((self.elements.capacity() / 2).max(CAPACITY_KEPT));
    }
}
