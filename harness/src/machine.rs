//! A line that tells machines apart, so that times of different ones are not compared by mistake.

use std::fs;

/// Processor, number of cores, kernel, and whether this is a container, as far as the system tells.
pub fn fingerprint() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let cpu = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    let kernel = kernel.map(|release| release.trim().split('.').take(2).collect::<Vec<_>>().join("."));
    format!(
        "{} {}, {}, {cores} cores, kernel {}",
        std::env::consts::OS,
        std::env::consts::ARCH,
        cpu.as_deref().unwrap_or("unknown processor"),
        kernel.as_deref().unwrap_or("unknown")
    )
}
