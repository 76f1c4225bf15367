//! The checks before a change lands, one stage after the other, and how long each takes.
use crate::run::Outcome;
use std::time::{Duration, Instant};

/// Runs the stages up to the first that fails. At the end prints what each took.
pub(crate) fn all(names: &[&'static str], run: impl Fn(&str) -> Outcome) -> Outcome {
    let mut took = Vec::new();
    for name in names {
        println!("== {name}");
        let (start, before) = (Instant::now(), processor_time());
        let outcome = run(name);
        took.push((name, start.elapsed(), processor_time().saturating_sub(before)));
        if outcome.is_err() {
            tell(&took);
            return outcome;
        }
    }
    tell(&took);
    println!("== all checks and tests have passed");
    Ok(())
}

fn tell(took: &[(&&str, Duration, Duration)]) {
    println!("== stage      minutes   of processors");
    let minutes = |time: Duration| time.as_secs_f64() / 60.0;
    for (name, whole, processors) in took {
        println!("   {name:10} {:7.1} {:15.1}", minutes(*whole), minutes(*processors));
    }
    let sum = |of: fn(&(&&str, Duration, Duration)) -> Duration| minutes(took.iter().map(of).sum());
    println!("   {:10} {:7.1} {:15.1}", "all", sum(|it| it.1), sum(|it| it.2));
}

/// Processor time of child programs that have ended, on Linux.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may contain blanks.
    let numbers = stat.rsplit_once(')').map_or("", |(_, numbers)| numbers);
    let ticks = numbers.split_whitespace().skip(13).take(2).filter_map(|number| number.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
