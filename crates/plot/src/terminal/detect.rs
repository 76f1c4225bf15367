//! What a terminal can show, from the environment. No terminal is asked, so that nothing waits for an answer.
use super::Graphics;

/// The graphics of the terminal that an environment describes; `get` returns a variable's value.
///
/// Pictures that do not go to a terminal are characters without colours.
pub fn detect(get: &dyn Fn(&str) -> Option<String>, is_terminal: bool) -> Graphics {
    let value = |name: &str| get(name).unwrap_or_default();
    let is_set = |name: &str| !value(name).is_empty();
    if !is_terminal {
        return Graphics::Text;
    }
    let term = value("TERM");
    if is_set("NO_COLOR") || term == "dumb" {
        return Graphics::Text;
    }
    // Multiplexers do not pass graphics through.
    let is_multiplexed =
        is_set("TMUX") || is_set("STY") || term.starts_with("screen") || term.starts_with("tmux");
    if !is_multiplexed && let Some(graphics) = pixels(&value, &term) {
        return graphics;
    }
    let colours = value("COLORTERM");
    if colours == "truecolor" || colours == "24bit" || term.contains("direct") || is_set("WT_SESSION") {
        Graphics::Blocks
    } else if term.contains("256color") || is_multiplexed {
        Graphics::Blocks256
    } else if get("TERM").is_none() {
        // Consoles of Windows have no TERM.
        if cfg!(windows) { Graphics::Blocks } else { Graphics::Text }
    } else {
        Graphics::Text
    }
}

fn pixels(value: &dyn Fn(&str) -> String, term: &str) -> Option<Graphics> {
    let program = value("TERM_PROGRAM");
    let has = |name: &str| !value(name).is_empty();
    if has("KITTY_WINDOW_ID") || term == "xterm-kitty" || term == "xterm-ghostty" || program == "ghostty" {
        return Some(Graphics::Kitty);
    }
    if has("KONSOLE_VERSION")
        && value("KONSOLE_VERSION").parse::<u32>().is_ok_and(|version| version >= 220_400)
    {
        return Some(Graphics::Kitty);
    }
    if ["iTerm.app", "WezTerm", "mintty"].contains(&program.as_str()) || value("LC_TERMINAL") == "iTerm2" {
        return Some(Graphics::Iterm2);
    }
    let has_sixel = ["foot", "mlterm", "yaft", "contour"].iter().any(|name| term.starts_with(name));
    (has_sixel || term.contains("sixel")).then_some(Graphics::Sixel)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(environment: &[(&str, &str)]) -> Graphics {
        let get = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        detect(&get, true)
    }

    #[test]
    fn terminals_with_graphics_are_known_by_their_environment() {
        assert_eq!(of(&[("TERM", "xterm-kitty"), ("KITTY_WINDOW_ID", "1")]), Graphics::Kitty);
        assert_eq!(of(&[("TERM", "xterm-ghostty")]), Graphics::Kitty);
        assert_eq!(of(&[("TERM", "xterm-256color"), ("KONSOLE_VERSION", "230804")]), Graphics::Kitty);
        assert_eq!(of(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")]), Graphics::Iterm2);
        assert_eq!(of(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")]), Graphics::Iterm2);
        assert_eq!(of(&[("TERM", "foot")]), Graphics::Sixel);
        assert_eq!(of(&[("TERM", "mlterm-256color")]), Graphics::Sixel);
    }

    #[test]
    fn others_have_half_blocks_in_their_colours() {
        assert_eq!(of(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Graphics::Blocks);
        assert_eq!(of(&[("TERM", "xterm-256color"), ("WT_SESSION", "x")]), Graphics::Blocks);
        assert_eq!(of(&[("TERM", "xterm-256color")]), Graphics::Blocks256);
        assert_eq!(of(&[("TERM", "vt100")]), Graphics::Text);
        assert_eq!(of(&[("TERM", "dumb"), ("COLORTERM", "truecolor")]), Graphics::Text);
    }

    #[test]
    fn multiplexers_pass_no_graphics() {
        let inside = [("TERM", "tmux-256color"), ("TMUX", "/tmp/t"), ("KITTY_WINDOW_ID", "1")];
        assert_eq!(of(&inside), Graphics::Blocks256);
        assert_eq!(
            of(&[("TERM", "screen"), ("KITTY_WINDOW_ID", "1"), ("COLORTERM", "truecolor")]),
            Graphics::Blocks
        );
    }

    #[test]
    fn files_and_users_without_colour_get_characters() {
        assert_eq!(of(&[("TERM", "xterm-kitty"), ("NO_COLOR", "1")]), Graphics::Text);
        let kitty = |name: &str| (name == "TERM").then(|| "xterm-kitty".to_owned());
        assert_eq!(detect(&kitty, false), Graphics::Text);
    }
}
