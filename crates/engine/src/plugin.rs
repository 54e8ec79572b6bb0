//! Congestion controls and queue disciplines that come from outside the engine, such as a user's own file.
//!
//! The engine knows them as trait objects, which its caller makes ([`Plugins`]), and trusts them with nothing: it owns the
//! packets, checks each window that they set, and ends the run with their complaint when they fail. Built-in algorithms are
//! dispatched by enums and pay nothing for this.

use serde_json::Value;

use crate::failure::Failure;
use crate::queue::PluginQueue;
use crate::random::Random;
use crate::tcp::congestion::{Algorithm, Hook, Needs, Plugin, PluginControl, Told};
use crate::tcp::window::Window;

/// Makes the plugins of a run: `plugin` is an index into the plugins of its specification.
pub trait Plugins {
    fn control(&self, plugin: usize, parameters: &Value) -> Result<Box<dyn PluginControl>, String>;

    fn queue(&self, plugin: usize, parameters: &Value) -> Result<Box<dyn PluginQueue>, String>;

    /// Where they note that they failed.
    fn failure(&self) -> Failure;

    /// A congestion control that is a plugin or, if `plugin` is none, the built-in one of this name.
    ///
    /// # Errors
    /// One line that says why there is none.
    fn algorithm(&self, plugin: Option<usize>, name: &str, parameters: &Value) -> Result<Algorithm, String> {
        match plugin {
            Some(plugin) => {
                let control = self.control(plugin, parameters)?;
                Ok(Algorithm::Plugin(Plugin::new(control, self.failure())))
            }
            None => Algorithm::new(name, parameters),
        }
    }
}

/// Stands for plugins where a run is only checked or its memory estimated. The run itself ends at once.
#[derive(Debug, Default)]
pub struct Unloaded {
    failure: Failure,
}

impl Unloaded {
    pub fn new(plugins: usize) -> Unloaded {
        let unloaded = Unloaded::default();
        if plugins > 0 {
            unloaded.failure.report("the run's plugins are not loaded".to_owned());
        }
        unloaded
    }
}

impl Plugins for Unloaded {
    fn control(&self, _plugin: usize, _parameters: &Value) -> Result<Box<dyn PluginControl>, String> {
        Ok(Box::new(Absent))
    }

    fn queue(&self, _plugin: usize, _parameters: &Value) -> Result<Box<dyn PluginQueue>, String> {
        Ok(Box::new(Absent))
    }

    fn failure(&self) -> Failure {
        self.failure.clone()
    }
}

/// A plugin that does nothing, and needs what takes most memory.
#[derive(Debug)]
struct Absent;

impl PluginControl for Absent {
    fn fresh(&self) -> Box<dyn PluginControl> {
        Box::new(Absent)
    }

    fn begin(&mut self, _flow: u32, _random: Option<Random>) {}

    fn needs(&self) -> Needs {
        Needs { deliveries: true, ..Needs::default() }
    }

    fn hooks(&self) -> u32 {
        0
    }

    fn call(&self, _hook: Hook, _window: &mut Window, _told: Told<'_>) -> Option<u64> {
        None
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        format!("{hook} {what}")
    }
}

impl PluginQueue for Absent {
    fn complaint(&self, hook: &str, what: &str) -> String {
        format!("{hook} {what}")
    }
}
