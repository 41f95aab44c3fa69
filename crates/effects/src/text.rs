//! Sentences put together without allocating.

use core::fmt;

/// A short text; what does not fit is cut off.
pub struct Text {
    bytes: [u8; 512],
    len: usize,
}

impl Text {
    /// The text that `arguments` make.
    pub fn new(arguments: fmt::Arguments<'_>) -> Self {
        let mut text = Self { bytes: [0; 512], len: 0 };
        // A full buffer is no error here.
        let _ = fmt::Write::write_fmt(&mut text, arguments);
        text
    }
    /// The text.
    pub fn as_str(&self) -> &str {
        let bytes = &self.bytes[..self.len];
        match core::str::from_utf8(bytes) {
            Ok(text) => text,
            // Cut in the middle of a character.
            Err(error) => core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
        }
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = &mut self.bytes[self.len..];
        let len = part.len().min(room.len());
        room[..len].copy_from_slice(&part.as_bytes()[..len]);
        self.len += len;
        Ok(())
    }
}

/// `text!("thread {t}")`: a [`Text`].
#[doc(hidden)]
#[macro_export]
macro_rules! __text {
    ($($args:tt)*) => { $crate::text::Text::new(format_args!($($args)*)) };
}
#[doc(inline)]
pub use __text as text;

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn long_texts_are_cut_at_a_character() {
        assert_eq!(text!("thread {}", 3).as_str(), "thread 3");
        let long = "ä".repeat(400);
        assert_eq!(text!("x{long}").as_str().chars().count(), 1 + 255);
    }
}
