"""Finds the target a person means: a settings file, a name in `targets/`, variables, or the sandbox."""

from collections.abc import Mapping
from pathlib import Path

from contracts.errors import UsageError
from contracts.settings.environment import target_from_environment
from contracts.settings.guard import refuse_production
from contracts.settings.settings_file import read_target
from contracts.settings.target import SANDBOX, Target
from contracts.settings.toml_file import is_file, suggestion

FOLDER = "targets"


def load_target(name_or_path: str | None, environ: Mapping[str, str], search: Path) -> Target | None:
    """Return the target to aim at, or None for the embedded sandbox.

    Args:
        name_or_path: a TOML file, the name of one in `targets/`, `sandbox`, or None when nothing was asked
            for: then the variables `REGISTRY_BASE_URL`, `REGISTRY_EMAIL` and `REGISTRY_PASSWORD` decide.
        environ: environment variables.
        search: the current folder; `targets/` and relative paths are looked up there.

    Returns:
        A target that is safe to write to, or None: use the embedded sandbox.

    Raises:
        UsageError: one line that says where, what is wrong and what to do; production is refused here too.

    """
    if name_or_path == SANDBOX:
        return None
    if name_or_path is None:
        target = target_from_environment(environ)
    else:
        path = _locate(name_or_path, search)
        target = read_target(path, environ, _shown(path, search))
    if target is not None:
        refuse_production(target)
    return target


def _locate(name_or_path: str, search: Path) -> Path:
    if not name_or_path.strip():
        # An unset variable in a script must not turn into a green run against the sandbox.
        raise UsageError("--target is empty; name a settings file or target, or leave the option out")
    named = search / FOLDER / f"{name_or_path}.toml"
    direct = search / name_or_path
    if _is_name(name_or_path) and not is_file(direct):
        return named if is_file(named) else _no_such_target(name_or_path, search)
    in_folder = search / FOLDER / name_or_path
    return in_folder if is_file(in_folder) and not is_file(direct) else direct


def _shown(path: Path, search: Path) -> str:
    """Return the path as a person in the current folder would write it."""
    return str(path.relative_to(search) if path.is_relative_to(search) else path)


def _is_name(text: str) -> bool:
    return "/" not in text and "\\" not in text and not text.endswith(".toml")


def _no_such_target(name: str, search: Path) -> Path:
    names = sorted(path.stem for path in (search / FOLDER).glob("*.toml"))
    where = f"{FOLDER}/ holds {', '.join(names)}" if names else f"there is no settings file in {FOLDER}/"
    advice = suggestion(name, [*names, SANDBOX])
    if advice.startswith("known"):
        advice = "name one of these, a settings file, or sandbox"
    raise UsageError(f"no target {name!r}: {where}; {advice}")
