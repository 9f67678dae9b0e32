//! What the processor is called: for those who read a speed, or a record of who computed it.

use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;

/// Bytes of `/proc/cpuinfo` that are read: the first processor, of hundreds perhaps.
const FIRST: u64 = 1 << 14;

/// The name of this machine's processor, as Linux tells it; elsewhere its architecture. A name
/// without a number, as virtual machines give it, gets family and model behind it.
pub fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let mut told = Vec::new();
        // What cannot be read says nothing.
        let read = File::open("/proc/cpuinfo").and_then(|f| f.take(FIRST).read_to_end(&mut told));
        let told = read.map(|_| String::from_utf8_lossy(&told).into_owned()).unwrap_or_default();
        from_cpuinfo(&told).unwrap_or_else(|| std::env::consts::ARCH.to_owned())
    })
}

/// What this processor can do beyond its architecture's least, of what kernels ask for: names as
/// Rust has them. Empty on architectures without kernels of their own.
pub fn features() -> Vec<&'static str> {
    #[allow(unused_mut, reason = "of other architectures none is asked for")]
    let mut there = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! seen {
            ($($name:tt),*) => {
                $(if std::arch::is_x86_feature_detected!($name) { there.push($name); })*
            };
        }
        seen!("avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vnni", "avx512bf16");
    }
    #[cfg(target_arch = "aarch64")]
    {
        macro_rules! seen {
            ($($name:tt),*) => {
                $(if std::arch::is_aarch64_feature_detected!($name) { there.push($name); })*
            };
        }
        seen!("neon", "fp16", "bf16", "sve");
    }
    there
}

/// The same from the text of `/proc/cpuinfo`, of which the first processor counts.
fn from_cpuinfo(text: &str) -> Option<String> {
    let value = |key: &str| {
        let of = |line: &str| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| value.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        text.lines().find_map(of).filter(|value| !value.is_empty())
    };
    if let Some(name) = value("model name") {
        let numbered = name.contains(|c: char| c.is_ascii_digit());
        return Some(match (value("cpu family"), value("model")) {
            (Some(family), Some(model)) if !numbered => {
                format!("{name} (family {family}, model {model})")
            }
            _ => name,
        });
    }
    // ARM tells numbers, and names nowhere.
    let (maker, part) = (value("CPU implementer")?, value("CPU part")?);
    Some(format!("{} (implementer {maker}, part {part})", std::env::consts::ARCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_linux_tells_them() {
        let named = |text: &str| from_cpuinfo(text);
        assert_eq!(
            named(
                "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC  9655\n\n\
                 processor\t: 1\nmodel name\t: other\n"
            ),
            Some("AMD EPYC 9655".into())
        );
        assert_eq!(
            named("cpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R) Processor\n"),
            Some("Intel(R) Xeon(R) Processor (family 6, model 207)".into())
        );
        let arm = named("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n").unwrap();
        assert!(arm.ends_with("(implementer 0x41, part 0xd0c)"), "{arm}");
        assert_eq!(named(""), None);
        assert!(!name().is_empty());
    }
}
