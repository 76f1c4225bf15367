//! The conda recipe and the container file. Neither can be built everywhere: their own tools parse them.
use super::report::StepOutput;
use crate::peers;
use crate::run::{self, project, target};

/// Renders the conda recipe with rattler-build. It cannot be built without a channel of conda.
pub(super) fn conda() -> Result<StepOutput, String> {
    let python = peers::release_python()?;
    let render =
        ["-c", RENDER, "packaging/conda/recipe.yaml", "packaging/conda/variants.yaml", super::VERSION];
    let rendered = run::output(&python.to_string_lossy(), &render, &[])?;
    println!("{}", rendered.trim_end());
    Ok(StepOutput::untried(
        "the recipe was rendered by rattler-build, and not built: this needs a channel of conda",
    ))
}

const RENDER: &str = include_str!("render_recipe.py");

/// Checks the container file. It cannot be built without an image of Debian.
pub(super) fn container() -> Result<StepOutput, String> {
    let tool = target().join("tools/node_modules/.bin/dockerfilelint");
    if !tool.exists() {
        let prefix = target().join("tools").to_string_lossy().into_owned();
        let install =
            ["install", "--prefix", &prefix, "--no-save", "--no-audit", "--no-fund", "--silent", LINTER];
        if let Err(error) = run::command("npm", &install, &[]) {
            return Ok(StepOutput::untried(&format!(
                "the container file was not checked: {LINTER}: {error}"
            )));
        }
    }
    let file = project().join("packaging/Containerfile");
    run::command(&tool.to_string_lossy(), &[&file.to_string_lossy()], &[])?;
    Ok(StepOutput::untried(&format!(
        "the container file was checked by {LINTER}, and not built: this needs an image of Debian"
    )))
}

/// A linter of container files, pinned.
const LINTER: &str = "dockerfilelint@1.8.0";
