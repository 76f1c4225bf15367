"""Parses a recipe of conda and renders it for Linux; prints the packages that it would make."""

import sys

from rattler_build.render import RenderConfig
from rattler_build.stage0 import Stage0Recipe
from rattler_build.tool_config import PlatformConfig
from rattler_build.variant_config import VariantConfig

recipe = Stage0Recipe.from_file(sys.argv[1])
platform = PlatformConfig(target_platform="linux-64", build_platform="linux-64", host_platform="linux-64")
for rendered in recipe.render(VariantConfig.from_file(sys.argv[2]), RenderConfig(platform=platform)):
    package = rendered.recipe.package
    print(f"{package.name} {package.version}: rendered for linux-64")
    if (str(package.name), str(package.version)) != ("ncirrus", sys.argv[3]):
        sys.exit(f"the recipe is of {package.name} {package.version}, not of ncirrus {sys.argv[3]}")
