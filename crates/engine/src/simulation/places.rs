//! Places of open connections and sessions. The place of one is its serial number modulo the number of places, a power of two; serial
//! numbers whose place is taken are skipped.

/// What has a place, with its serial number.
pub type Place<T> = Box<(u32, T)>;

/// See the module.
#[derive(Debug)]
pub struct Places<T> {
    places: Vec<Option<Place<T>>>,
    next: u32,
    pub taken: usize,
}

impl<T> Default for Places<T> {
    fn default() -> Places<T> {
        Places { places: Vec::new(), next: 0, taken: 0 }
    }
}

impl<T> Places<T> {
    pub fn get_mut(&mut self, serial: u32) -> Option<&mut T> {
        let mask = self.places.len().wrapping_sub(1);
        let (there, thing) = self.places.get_mut(serial as usize & mask)?.as_deref_mut()?;
        (*there == serial).then_some(thing)
    }

    /// Adds what is made for its serial number.
    pub fn insert(&mut self, make: impl FnOnce(u32) -> T) -> u32 {
        self.insert_at(0, 1, make)
    }

    /// The same, with a serial number that has this remainder.
    pub fn insert_at(&mut self, remainder: u32, divisor: u32, make: impl FnOnce(u32) -> T) -> u32 {
        if 2 * self.taken >= self.places.len() {
            self.double();
        }
        let mask = self.places.len() - 1;
        while self.next % divisor != remainder || self.places[self.next as usize & mask].is_some() {
            self.next += 1;
        }
        let serial = self.next;
        self.next += 1;
        self.taken += 1;
        self.places[serial as usize & mask] = Some(Box::new((serial, make(serial))));
        serial
    }

    fn double(&mut self) {
        let length = (2 * self.places.len()).max(8);
        let mut places: Vec<_> = std::iter::repeat_with(|| None).take(length).collect();
        for there in self.places.drain(..).flatten() {
            let place = there.0 as usize & (length - 1);
            places[place] = Some(there);
        }
        self.places = places;
    }

    pub fn remove(&mut self, serial: u32) -> Option<Place<T>> {
        self.get_mut(serial)?;
        let mask = self.places.len() - 1;
        self.taken -= 1;
        self.places[serial as usize & mask].take()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten().map(|there| &there.1)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries_mut().map(|(_, thing)| thing)
    }

    /// All, with their serial numbers.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        self.places.iter_mut().flatten().map(|there| (there.0, &mut there.1))
    }
}
