//! How much memory a library function touches.

use super::CType;
use crate::Architecture;

/// How many bytes an effect covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// This many, on every architecture.
    Bytes(u64),
    /// As many as a type has.
    Of(CType),
    /// As many as an array of a type has.
    Array(CType, u64),
    /// As many as this argument says.
    Arg(u8),
    /// As many as this argument's number of elements of a type.
    Scaled(u8, CType),
    /// The product of two arguments.
    Product(u8, u8),
    /// Up to and with the terminating zero byte (`__rp_add_string` without limit).
    String,
    /// The same, at most this argument's number of bytes.
    StringMax(u8),
    /// Up to and with the terminating zero `wchar_t`.
    WideString,
    /// The same, at most this argument's number of characters.
    WideStringMax(u8),
    /// As many as the function returned; none if it returned a negative number. Only after the call.
    Result,
    /// As many as a type has if the function returned 0, else none. Only after the call.
    IfZero(CType),
    /// The returned number times this argument; none if negative. Only after the call.
    ResultTimes(u8),
}

impl Size {
    /// The number of bytes, at most, where the architecture alone decides it.
    pub fn fixed(self, architecture: Architecture) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Of(ty) | Self::IfZero(ty) => ty.size(architecture),
            Self::Array(element, len) => Some(element.size(architecture)? * len),
            _ => None,
        }
    }

    /// The type whose size it depends on.
    pub fn depends_on(self) -> Option<CType> {
        match self {
            Self::Of(ty) | Self::IfZero(ty) | Self::Array(ty, _) | Self::Scaled(_, ty) => Some(ty),
            _ => None,
        }
    }
}
