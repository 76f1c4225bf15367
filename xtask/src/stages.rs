//! The checks before a change lands, one stage after the other, and how long each takes.
use crate::run::{Outcome, target};
use std::fs::File;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Runs the stages up to the first that fails. At the end prints what each took. Each of the stages `early` begins beside
/// another one, as a program of its own with the lowest priority, and ends at its place in the list.
pub(crate) fn all(names: &[&'static str], early: &[(&str, &str)], run: impl Fn(&str) -> Outcome) -> Outcome {
    let mut begun: Vec<EarlyStage> = Vec::new();
    let mut took = Vec::new();
    let mut outcome = Ok(());
    for name in names {
        for (early, _) in early.iter().filter(|(_, beside)| beside == name) {
            begun.push(EarlyStage::start(early)?);
        }
        println!("== {name}");
        let (start, before) = (Instant::now(), processor_time());
        outcome = match begun.iter_mut().find(|stage| stage.name == *name) {
            Some(stage) => stage.finish(),
            None => run(name),
        };
        took.push((name, start.elapsed(), processor_time().saturating_sub(before)));
        if outcome.is_err() {
            break;
        }
    }
    print_times(&took);
    // What they install or build would be left half done.
    let begun = begun.iter_mut().map(EarlyStage::finish).fold(Ok(()), Outcome::and);
    outcome.and(begun)?;
    println!("== all checks and tests have passed");
    Ok(())
}

/// A stage that runs as a program of its own; what it prints is in `target/NAME.log`, and is shown when it has ended.
struct EarlyStage {
    name: String,
    program: Option<Child>,
}

impl EarlyStage {
    fn start(name: &str) -> Result<Self, String> {
        let described = |error: std::io::Error| format!("{name}: {error}");
        std::fs::create_dir_all(target()).map_err(described)?;
        let log = File::create(target().join(format!("{name}.log"))).map_err(described)?;
        let program = std::env::current_exe().map_err(described)?;
        let start = |command: &mut Command| {
            command.arg(name).stdout(log.try_clone()?).stderr(log.try_clone()?).spawn()
        };
        let started = start(Command::new("nice").args(["-n", "19"]).arg(&program));
        // Not every system has `nice`.
        let started = started.or_else(|_| start(&mut Command::new(&program))).map_err(described)?;
        Ok(Self { name: name.to_owned(), program: Some(started) })
    }

    /// Waits for its end. It counts as the caller's processor time from then on.
    fn finish(&mut self) -> Outcome {
        let Some(mut program) = self.program.take() else { return Ok(()) };
        let status = program.wait().map_err(|error| format!("{}: {error}", self.name))?;
        print!(
            "{}",
            std::fs::read_to_string(target().join(format!("{}.log", self.name))).unwrap_or_default()
        );
        if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", self.name)) }
    }
}

fn print_times(took: &[(&&str, Duration, Duration)]) {
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
