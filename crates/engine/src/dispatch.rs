//! Static dispatch: calls of an enum go to what its variant holds, by one jump and no virtual call.

/// With signatures: the methods of an `impl` of an enum, each of which calls the method of the same name of whatever the variant
/// holds. With a value of the enum: an expression of whatever its variant holds.
macro_rules! dispatch {
    ($enum:ident $variants:tt $(
        fn $method:ident(&$($receiver:ident)+ $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;
    )*) => {
        $(fn $method(&$($receiver)+ $(, $argument: $type)*) $(-> $result)? {
            dispatch!(@receiver $($receiver)+, $enum $variants, held => held.$method($($argument),*))
        })*
    };
    (@receiver mut $self:ident, $($rest:tt)*) => { dispatch!($self, $($rest)*) };
    (@receiver $self:ident, $($rest:tt)*) => { dispatch!($self, $($rest)*) };
    ($value:expr, $enum:ident [$($variant:ident)*], $held:ident => $result:expr) => {
        match $value {
            $($enum::$variant($held) => $result,)*
        }
    };
}
