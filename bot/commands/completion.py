"""`stratwright completion`: a shell's own script for completing commands, actions and options.

The script is made from the parser and asks nobody when a key is pressed, so that it stays quick.
"""

import argparse
import sys

SHELLS = ("bash", "zsh", "fish")
_INSTALL = {
    "bash": 'eval "$(stratwright completion bash)"    # in ~/.bashrc',
    "zsh": 'eval "$(stratwright completion zsh)"     # in ~/.zshrc, after compinit',
    "fish": "stratwright completion fish | source    # in ~/.config/fish/config.fish",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("shell", choices=SHELLS, help="whose script to print")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]
    sys.stdout.write(f"# {_INSTALL[args.shell]}\n{script(words_of(args.build_parser()))}")
    return 0


def words_of(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """What may come after each command and action, by its words: "" , "pr", "pr show"."""
    found: dict[str, list[str]] = {}

    def read(prefix: str, part: argparse.ArgumentParser) -> None:
        words: list[str] = []
        for action in part._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name, below in action.choices.items():
                    words.append(name)
                    read(f"{prefix} {name}".strip(), below)
            elif action.option_strings:
                words += [word for word in action.option_strings if word.startswith("--")]
            else:
                words += [str(choice) for choice in action.choices or ()]
        # Actions and choices first: where there are any, no file is meant.
        found[prefix] = sorted(words, key=lambda word: word.startswith("-"))

    read("", parser)
    return found


def _bash(words: dict[str, list[str]]) -> str:
    """One table of words; what is not in it completes as a file."""
    cases = "".join(
        f"    {_quoted(prefix)}) words={_quoted(' '.join(after))} ;;\n"
        for prefix, after in words.items()
    )
    return f"""_stratwright() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before="" word words="" place
  for ((place = 1; place < COMP_CWORD && place < 3; place++)); do
    word=${{COMP_WORDS[place]}}
    [[ $word == -* ]] && break
    case "$before $word" in
{_known(words)}    esac
  done
  case "$before" in
{cases}  esac
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done \\
    < <(compgen -W "$words" -- "$current"; [[ $words == -* ]] && compgen -f -- "$current")
}}
complete -o filenames -F _stratwright stratwright
"""


def _known(words: dict[str, list[str]]) -> str:
    """The words that name a command or an action, as one branch each."""
    return "".join(
        f'      {_quoted(f" {prefix}" if " " not in prefix else prefix)}) before="{prefix}" ;;\n'
        for prefix in words
        if prefix
    )


def _zsh(words: dict[str, list[str]]) -> str:
    """zsh speaks bash's language of completion once it is asked to."""
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash(words)}"


def _fish(words: dict[str, list[str]]) -> str:
    """A line for each word: after which command, and whether files may follow."""
    lines = ["complete -c stratwright -n __fish_use_subcommand -f"]
    for prefix, after in words.items():
        condition = " ; and ".join(f"__fish_seen_subcommand_from {w}" for w in prefix.split())
        below = [word for word in after if not word.startswith("-")]
        if prefix and below:
            condition += f" ; and not __fish_seen_subcommand_from {' '.join(below)}"
        where = f"-n '{condition}'" if prefix else "-n __fish_use_subcommand"
        for word in after:
            kind = f"-l {word[2:]}" if word.startswith("--") else f"-f -a {word}"
            lines.append(f"complete -c stratwright {where} {kind}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return f"'{text}'"
