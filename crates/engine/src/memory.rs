//! How much memory this process may use: the machine's, or less where a control group says so.

use std::path::{Path, PathBuf};

/// Bytes of the machine or of the tightest control group around this process. `None` when neither can be read.
pub fn available_to_process() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| total_of_meminfo(&text));
    let group = std::fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|text| tightest_limit(&text, Path::new("/sys/fs/cgroup")));
    match (machine, group) {
        (Some(machine), Some(group)) => Some(machine.min(group)),
        (machine, group) => machine.or(group),
    }
}

/// Bytes of memory that are free or can be reclaimed, for display.
pub fn free_on_machine() -> Option<u64> {
    meminfo_field(
        &std::fs::read_to_string("/proc/meminfo").ok()?,
        "MemAvailable:",
    )
}

fn total_of_meminfo(text: &str) -> Option<u64> {
    meminfo_field(text, "MemTotal:")
}

fn meminfo_field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The least limit among the process's group and the groups around it. A limit of "max" (v2), or one beyond 2^60 (v1's way to say
/// so), is none.
fn tightest_limit(memberships: &str, root: &Path) -> Option<u64> {
    memberships.lines().filter_map(limit_file(root)).min()
}

fn limit_file(root: &Path) -> impl Fn(&str) -> Option<u64> + '_ {
    move |line| {
        // "0::/path" in version 2, "5:memory:/path" in version 1.
        let mut parts = line.splitn(3, ':');
        let (_, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
        let (base, file) = match controllers {
            "" => (root.to_path_buf(), "memory.max"),
            c if c.split(',').any(|c| c == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = group.trim_start_matches('/');
        limits_upwards(&base, Path::new(group), file)
    }
}

fn limits_upwards(base: &Path, group: &Path, file: &str) -> Option<u64> {
    let read = |dir: PathBuf| -> Option<u64> {
        let text = std::fs::read_to_string(dir.join(file)).ok()?;
        text.trim().parse().ok().filter(|&limit| limit < 1 << 60)
    };
    // Within a container the group's path may not exist below the mount; the mount itself is then the container's group.
    group.ancestors().filter_map(|g| read(base.join(g))).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_group_counts() {
        let root = tempfile::tempdir().expect("temporary directory");
        let inner = root.path().join("pod/service");
        std::fs::create_dir_all(&inner).expect("directories");
        std::fs::write(root.path().join("pod/memory.max"), "8589934592\n").expect("file");
        std::fs::write(inner.join("memory.max"), "max\n").expect("file");
        assert_eq!(
            tightest_limit("0::/pod/service\n", root.path()),
            Some(8 << 30)
        );
        std::fs::write(inner.join("memory.max"), "4294967296\n").expect("file");
        assert_eq!(
            tightest_limit("0::/pod/service\n", root.path()),
            Some(4 << 30)
        );
        assert_eq!(tightest_limit("0::/elsewhere\n", root.path()), None);
    }

    #[test]
    fn version_1_groups_are_read() {
        let root = tempfile::tempdir().expect("temporary directory");
        let dir = root.path().join("memory/a");
        std::fs::create_dir_all(&dir).expect("directories");
        std::fs::write(dir.join("memory.limit_in_bytes"), "1000000\n").expect("file");
        let unlimited = "9223372036854771712\n";
        std::fs::write(root.path().join("memory/memory.limit_in_bytes"), unlimited).expect("file");
        let memberships = "7:cpu:/b\n6:memory:/a\n";
        assert_eq!(tightest_limit(memberships, root.path()), Some(1_000_000));
    }

    #[test]
    fn meminfo_is_in_kib() {
        assert_eq!(
            total_of_meminfo("MemFree: 1 kB\nMemTotal:       24576 kB\n"),
            Some(24 << 20)
        );
        assert!(available_to_process().is_some_and(|bytes| bytes > 1 << 20));
    }
}
