//! Machine code of instrumented programs, kept in the user's cache.
//!
//! Of a large program, most of the time until its first run goes into machine code, which is the same in every command as
//! long as the sources are. An entry is named by a hash of the instrumented bitcode and of the compiler's flags, which is
//! all that the object depends on. Linking is done again each time: libraries may have changed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use files::hash;

use crate::Error;
use cache::Cache;

/// What is made faster than this is not kept.
const WORTH_KEEPING: Duration = Duration::from_secs(1);

/// The file of an entry.
const OBJECT: &str = "object";

/// The program's machine code, from the cache in this folder if it is there, and kept there if making it took long.
pub(crate) fn of(compiled: &llvm::Compiled, cache: Option<&Path>) -> Result<PathBuf, Error> {
    let generate = || Ok(llvm::generate(compiled)?);
    let Some(cache) = cache.and_then(Cache::open) else { return generate() };
    let bitcode = std::fs::read(&compiled.bitcode).map_err(Error::WorkFolder)?;
    let key = hash(format!("{} {}", compiled.code_flags(), hash(&bitcode)).as_bytes());
    kept(&cache, &key, &compiled.object(), WORTH_KEEPING, generate)
}

/// The object of an entry, copied to `object`; without an entry, what `generate` makes, which is kept if that took at
/// least `worth`. An entry that cannot be copied is as good as none: others may delete it at any time.
fn kept(
    cache: &Cache,
    key: &str,
    object: &Path,
    worth: Duration,
    generate: impl FnOnce() -> Result<PathBuf, Error>,
) -> Result<PathBuf, Error> {
    if cache.get(key).is_some_and(|entry| std::fs::copy(entry.join(OBJECT), object).is_ok()) {
        return Ok(object.to_owned());
    }
    let start = Instant::now();
    let generated = generate()?;
    if start.elapsed() >= worth {
        cache.put(key, |entry| std::fs::copy(&generated, entry.join(OBJECT)).map(drop));
    }
    Ok(generated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_made_once_and_only_from_the_same_bitcode() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache")).unwrap();
        let object = folder.path().join("o");
        let make = |text: &'static str| {
            let object = object.clone();
            move || {
                std::fs::write(&object, text).unwrap();
                Ok(object)
            }
        };
        let get = |key: &str, worth: Duration, text| {
            let object = kept(&cache, key, &object, worth, make(text)).unwrap();
            std::fs::read_to_string(object).unwrap()
        };
        let long = Duration::from_secs(3600);
        assert_eq!(get("a", long, "made fast"), "made fast");
        assert_eq!(get("a", Duration::ZERO, "made again"), "made again", "what is made fast is not kept");
        assert_eq!(get("a", Duration::ZERO, "not made"), "made again");
        assert_eq!(get("b", Duration::ZERO, "another"), "another");
    }

    #[test]
    fn a_failure_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache")).unwrap();
        let object = folder.path().join("o");
        let fail = || Err(Error::WorkFolder(std::io::ErrorKind::Other.into()));
        assert!(kept(&cache, "a", &object, Duration::ZERO, fail).is_err());
        assert!(cache.get("a").is_none());
    }
}
