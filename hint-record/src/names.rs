//! Enumerations whose variants have names: one list for printing, parsing and JSON.
//!
//! [`names!`] declares the enumeration with its names, and derives the rest from them, so that no name is written twice.

use std::fmt;

/// A text that is none of an enumeration's names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownName {
    pub(crate) found: String,
    pub(crate) known: &'static [&'static str],
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is none of {}", self.found, self.known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// Declares an enumeration with the name of each variant.
macro_rules! names {
    ($(#[$about:meta])* pub enum $Type:ident { $($(#[$doc:meta])* $Variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $Type {
            $($(#[$doc])* $Variant,)+
        }

        impl $Type {
            const NAMES: &'static [&'static str] = &[$($name),+];

            /// Every variant.
            pub const ALL: [$Type; $Type::NAMES.len()] = [$($Type::$Variant),+];

            /// How it is written.
            pub const fn name(self) -> &'static str {
                match self {
                    $($Type::$Variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $Type {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> Result<$Type, $crate::UnknownName> {
                match text {
                    $($name => Ok($Type::$Variant),)+
                    _ => Err($crate::UnknownName { found: text.to_owned(), known: $Type::NAMES }),
                }
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$Type, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(|_| serde::de::Error::unknown_variant(&text, $Type::NAMES))
            }
        }
    };
}
