//! Functions of the page: algorithms that are written in it.

/// Numbers that a hook is told, and that it answers.
pub type Numbers = [f64; NUMBERS];

/// As many as the hook with most needs.
pub const NUMBERS: usize = 25;

/// What a hook has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It returned nothing.
    Nothing,
    /// It returned the first of the numbers.
    Number,
    /// It failed: the page has put one line that says why into the room.
    Failed,
}

impl Answer {
    fn of(code: u32) -> Answer {
        match code {
            0 => Answer::Nothing,
            1 => Answer::Number,
            _ => Answer::Failed,
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod functions {
    #[link(wasm_import_module = "page")]
    unsafe extern "C" {
        pub safe fn declared(plugin: u32) -> u32;
        pub safe fn made(plugin: u32, parameters: *const u8, bytes: usize) -> u32;
        pub safe fn called(instance: u32, hook: u32, numbers: *mut f64) -> u32;
    }
}

/// Elsewhere there is no page. The crate is still built, so that all of the workspace is checked at once.
#[cfg(not(target_arch = "wasm32"))]
mod functions {
    pub fn declared(_plugin: u32) -> u32 {
        u32::MAX
    }

    pub fn made(_plugin: u32, _parameters: *const u8, _bytes: usize) -> u32 {
        u32::MAX
    }

    pub fn called(_instance: u32, _hook: u32, _numbers: *mut f64) -> u32 {
        u32::MAX
    }
}

/// What a plugin of the run declares, as JSON that the page puts into the room.
pub fn declared(plugin: u32) -> Result<String, String> {
    match functions::declared(plugin) {
        0 => Ok(crate::given()),
        _ => Err(crate::given()),
    }
}

/// An instance of a plugin with these parameters.
pub fn made(plugin: u32, parameters: &str) -> Result<u32, String> {
    match functions::made(plugin, parameters.as_ptr(), parameters.len()) {
        u32::MAX => Err(crate::given()),
        instance => Ok(instance),
    }
}

/// Calls a hook of an instance.
pub fn called(instance: u32, hook: u32, numbers: &mut Numbers) -> Answer {
    Answer::of(functions::called(instance, hook, numbers.as_mut_ptr()))
}
