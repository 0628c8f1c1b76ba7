"""Single commits with the accounts of who wrote them, and branches with what protects them."""

from tests.doubles.github.call import Call, route
from tests.doubles.github.git_store import Person
from tests.doubles.github.messages import Answer, Json, Refusal
from tests.doubles.github.shapes import api, node_id, user, web

_HOME = "/repos/{owner}/{repo}"


@route("GET", f"{_HOME}/commits/{{ref}}", "contents:read")
def get_commit(call: Call) -> Answer:
    """One commit; an author whose mail address no account has is nobody."""
    home, sha = call.repository, call.commit(call.parameters["ref"])
    found = home.git.commit(sha)
    place = f"{api(call.state, home)}/commits/{sha}"

    def account(person: Person) -> Json | None:
        known = call.state.account_of(person.email)
        return user(call.state, known) if known else None

    tree = {"sha": found.tree, "url": f"{api(call.state, home)}/git/trees/{found.tree}"}
    return Answer(
        200,
        {
            "url": place,
            "sha": sha,
            "node_id": node_id("C", found.author.date.toordinal()),
            "html_url": f"{web(call.state, home)}/commit/{sha}",
            "comments_url": f"{place}/comments",
            "commit": {
                "url": f"{api(call.state, home)}/git/commits/{sha}",
                "author": found.author.json,
                "committer": found.committer.json,
                "message": found.message,
                "comment_count": 0,
                "tree": tree,
            },
            "author": account(found.author),
            "committer": account(found.committer),
            "parents": [
                {
                    "sha": parent,
                    "url": f"{api(call.state, home)}/commits/{parent}",
                    "html_url": f"{web(call.state, home)}/commit/{parent}",
                }
                for parent in found.parents
            ],
        },
    )


@route("GET", f"{_HOME}/branches", "contents:read")
def list_branches(call: Call) -> Answer:
    """Branches; asked for protected ones, those."""
    home, only = call.repository, call.request.query.get("protected")
    if only not in (None, "true", "false"):
        raise Refusal(422, "protected is not a boolean")
    names = {
        name.removeprefix("refs/heads/"): sha for name, sha in home.git.refs("refs/heads/").items()
    }
    wanted = [
        name
        for name in sorted(names)
        if only is None or (name in home.protected) == (only == "true")
    ]

    def branch(name: str) -> Json:
        url = f"{api(call.state, home)}/commits/{names[name]}"
        commit = {"sha": names[name], "url": url}
        return {"name": name, "commit": commit, "protected": name in home.protected}

    return call.page(wanted, branch)
