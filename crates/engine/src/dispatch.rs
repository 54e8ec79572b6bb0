//! Static dispatch: calls of an enum go to what its variant holds, by one jump and no virtual call, those of a struct to a field.

/// With signatures: the methods of an `impl` of an enum, each of which calls the method of the same name of whatever the variant
/// holds, or, with `.field` in place of enum and variants, of that field. With a value of the enum: an expression of whatever its
/// variant holds.
macro_rules! dispatch {
    ($enum:tt $variants:tt $(
        fn $method:ident(&$($receiver:ident)+ $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;
    )*) => {
        $(fn $method(&$($receiver)+ $(, $argument: $type)*) $(-> $result)? {
            dispatch!(@receiver $($receiver)+, $enum $variants, $method($($argument),*))
        })*
    };
    (@receiver mut $self:ident, $($rest:tt)*) => { dispatch!(@receiver $self, $($rest)*) };
    (@receiver $self:ident, .$field:ident, $method:ident $arguments:tt) => { $self.$field.$method $arguments };
    (@receiver $self:ident, $enum:ident $variants:tt, $method:ident $arguments:tt) => {
        dispatch!($self, $enum $variants, held => held.$method $arguments)
    };
    ($value:expr, $enum:ident [$($variant:ident)*], $held:ident => $result:expr) => {
        match $value {
            $($enum::$variant($held) => $result,)*
        }
    };
}
