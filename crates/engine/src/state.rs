//! The declaration of state: each field stands once, with what it begins with.

/// Declares a struct and its `new`: what that is given, and the fields, with what they are at first unless that is the default of
/// their type. What a field begins with may name what is given, and fields above.
macro_rules! state {
    ($(#[$attribute:meta])* $visibility:vis $name:ident $([$generic:ident: $bound:path])? ($($given:ident: $given_type:ty),*) {
        $($(#[$doc:meta])* $field_visibility:vis $field:ident: $field_type:ty $(= $initial:expr)?,)*
    }) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $visibility struct $name $(<$generic: $bound>)? {
            $($(#[$doc])* $field_visibility $field: $field_type,)*
        }

        impl $(<$generic: $bound>)? $name $(<$generic>)? {
            $visibility fn new($($given: $given_type),*) -> Self {
                $(let $field: $field_type = state!(@initial $($initial)?);)*
                $name { $($field,)* }
            }
        }
    };
    (@initial) => { Default::default() };
    (@initial $initial:expr) => { $initial };
}
