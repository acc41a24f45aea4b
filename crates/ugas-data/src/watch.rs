//! Waits for file changes that the operating system reports.
//!
//! An event is only a hint: editors write a file in several operations and under temporary names, and events can get
//! lost. The caller must determine what changed, for example with [`Reloader::poll`](crate::Reloader::poll).

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The time without further events after which a change is reported, because editors write in several steps.
const QUIET: Duration = Duration::from_millis(40);

/// Watches files and folders.
///
/// ```
/// use std::time::Duration;
/// let folder = std::env::temp_dir().join(format!("ugas-watch-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let watch = ugas_data::Watch::new([&folder])?;
/// std::fs::write(folder.join("a.yaml"), "Kind: curve\n")?;
/// assert!(watch.wait(Some(Duration::from_secs(20))));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Watch {
    changes: Receiver<()>,
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Watches files and folders, including subfolders. Returns an error with the path and the reason if a path cannot
    /// be watched.
    pub fn new(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Watch, WatchError> {
        let (tell, changes) = channel();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Read access is not a change. A send error means that the watch was dropped.
            if event.as_ref().is_ok_and(|e| !e.kind.is_access()) {
                let _ = tell.send(());
            }
        })
        .map_err(|e| WatchError { path: String::new(), why: e.to_string() })?;
        for path in paths {
            let path = path.as_ref();
            // Saving may replace a file, so its folder is watched.
            let (place, mode) = match path.is_dir() {
                true => (path, RecursiveMode::Recursive),
                false => (
                    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")),
                    RecursiveMode::NonRecursive,
                ),
            };
            watcher
                .watch(place, mode)
                .map_err(|e| WatchError { path: path.display().to_string(), why: e.to_string() })?;
        }
        Ok(Watch { changes, _watcher: watcher })
    }

    /// Waits for a change. Returns false if the timeout passes without a change.
    pub fn wait(&self, at_most: Option<Duration>) -> bool {
        let first = match at_most {
            Some(time) => self.changes.recv_timeout(time).is_ok(),
            None => self.changes.recv().is_ok(),
        };
        while first && self.changes.recv_timeout(QUIET) != Err(RecvTimeoutError::Timeout) {}
        first
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// The error for a path that cannot be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchError {
    /// The path.
    pub path: String,
    /// The reason from the operating system.
    pub why: String,
}

impl std::fmt::Display for WatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot watch {}: {}", self.path, self.why)
    }
}
impl std::error::Error for WatchError {}
