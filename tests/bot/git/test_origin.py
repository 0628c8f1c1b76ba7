import pytest

from bot.git.origin import owner_and_name
from bot.git.remote import without_password


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/ada/bots.git",
        "https://github.com/ada/bots",
        "https://github.com/ada/bots/",
        "https://x-access-token:secret@github.com/ada/bots.git",
        "git@github.com:ada/bots.git",
        "ssh://git@github.com:22/ada/bots.git",
        "gh:ada/bots",
    ],
)
def test_a_hosted_repository_is_known_by_owner_and_name(url: str) -> None:
    assert owner_and_name(url) == "ada/bots"


@pytest.mark.parametrize(
    "url",
    ["/srv/git/bots.git", "../bots.git", "file:///srv/git/bots.git", "./a:b/c", "", "host:bots"],
)
def test_a_path_has_no_owner(url: str) -> None:
    assert owner_and_name(url) is None


def test_groups_keep_their_whole_path() -> None:
    assert owner_and_name("https://gitlab.com/fund/quant/bots.git") == "fund/quant/bots"


def test_an_address_is_shown_without_its_password() -> None:
    assert without_password("https://ada:hunter2@host/x") == "https://host/x"
