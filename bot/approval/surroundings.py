"""Says whether a person can be sitting here: a terminal, no CI, no program that acts for one."""

from collections.abc import Mapping

from bot.approval.reasons import Refusal

# As the providers document them. A variable proves nothing by its absence: the typed digest and
# the person's key are the gate, this keeps an honest program from walking through it.
_CI = (
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "BUILDKITE",
    "CIRCLECI",
    "TRAVIS",
    "JENKINS_URL",
    "TEAMCITY_VERSION",
    "TF_BUILD",
    "BITBUCKET_BUILD_NUMBER",
    "CODEBUILD_BUILD_ID",
    "APPVEYOR",
    "DRONE",
)
_AGENTS = (
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
    "OPENCODE_CLIENT",
    "AUGMENT_AGENT",
    "CLINE_ACTIVE",
    "ANTIGRAVITY_AGENT",
)
_OFF = ("", "0", "false", "False", "no")


def nobody_here(environment: Mapping[str, str], *, has_terminal: bool) -> Refusal | None:
    """Gives the reason why no person can be asked here; None if one can."""
    for code, names in (("in-ci", _CI), ("under-agent", _AGENTS)):
        for name in names:
            if environment.get(name, "") not in _OFF:
                return Refusal(code, f"{name} is set")
    return None if has_terminal else Refusal("no-terminal")
