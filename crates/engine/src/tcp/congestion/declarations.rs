//! How algorithms are declared: the state of a control, and the choice between variants of an algorithm.

/// Declares a control: its parameters, and the fields of its state, with what they are when a connection begins unless that is the
/// default of their type.
macro_rules! control {
    ($(#[$attribute:meta])* $name:ident $([$generic:ident: $bound:path])? ($type:ty $(as $parameters:ident)?) {
        $($(#[$doc:meta])* $visibility:vis $field:ident: $field_type:ty $(= $initial:expr)?,)*
    }) => {
        state! {
            $(#[$attribute])*
            #[derive(Clone)]
            pub $name $([$generic: $bound])? (_given: std::sync::Arc<$type>) {
                $($parameters: std::sync::Arc<$type> = _given,)?
                $($(#[$doc])* $visibility $field: $field_type $(= $initial)?,)*
            }
        }
    };
}

/// Declares an algorithm of which the parameter `rules` chooses a variant, what its RFC or paper says or what an implementation does:
/// the choice, and the control that holds the variant. A variant is a control of its own, `boxed` if it is larger than the others.
macro_rules! variants {
    ($(#[$attribute:meta])* $name:ident($parameters:ident) by $rules:ident {
        $($variant:ident($control:ty $(, $boxed:ident)?) = $word:literal,)*
    }) => {
        choice! {
            pub enum $rules { $($variant = $word,)* }
        }

        $(#[$attribute])*
        #[derive(Clone, Debug)]
        pub enum $name {
            $($variant(variants!(@held $control $(, $boxed)?)),)*
        }

        impl $name {
            pub(in $crate::tcp::congestion) fn new(parameters: std::sync::Arc<$parameters>) -> $name {
                match parameters.rules {
                    $($rules::$variant => $name::$variant(<$control>::new(parameters).into()),)*
                }
            }
        }

        dispatch_control! { $name [$($variant)*] }
    };
    (@held $control:ty) => { $control };
    (@held $control:ty, boxed) => { Box<$control> };
}
