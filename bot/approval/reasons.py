"""Names every reason for which an approval is refused, and what to do about each."""

from dataclasses import dataclass

from bot.errors import RefusedError

ADVICE = {
    # The record and its signatures.
    "malformed": "Nobody of ours wrote it: make a new approval with stratwright approve.",
    "bad-token": "The token has to be human_verified_ and the second of issue; approve anew.",
    "bad-window": "A start is allowed for at most 24 hours after issue; approve anew.",
    "no-signature": "Nobody has signed it; approve anew.",
    "bad-signature": "The signature is not over these bytes; approve anew, find out who wrote it.",
    "wrong-namespace": "It was signed for something else; sign with stratwright approve.",
    "wrong-algorithm": "Sign with an Ed25519 key, plain or on a security key with touch.",
    "unknown-signer": "Add the person's key to the host's allowed_signers, if you know the person.",
    "key-not-yet-valid": "Wait for the key's valid-after, or sign with another key.",
    "key-expired": "Sign with the key that replaced it.",
    "revoked-key": "The key was taken back: sign with another, and look what it has signed.",
    "signer-not-approver": "Only those whom the record names as approvers can sign it.",
    # Who.
    "self-approval": "Somebody who neither wrote the contract nor asked for it has to approve.",
    "too-few-approvers": "Ask more people to sign: stratwright approve TAG --token TOKEN.",
    "not-an-approver": "The policy names who may approve; ask one of them.",
    "approver-missing": "Everybody whom the record names has to sign it.",
    # Which bytes.
    "no-tag": "Fetch it: git fetch --tags.",
    "tag-moved": "Tags never move: find out who moved it. Verify it, and approve anew.",
    "new-commit": "The branch has moved since: look at the new commits, then approve anew.",
    "other-bytes": "Files are not those that were approved: verify the tag, approve anew.",
    "gates-not-green": "A gate said no; change the contract and run it again.",
    "not-verified": "stratwright verify TAG says what does not hold, or what is missing.",
    # Where and how much.
    "wrong-repository": "It was given for another repository.",
    "wrong-environment": "It was given for another environment; approve for this one.",
    "wrong-host": "It was given for another host; approve for this one.",
    "wrong-account": "It was given for another account, or the host has no such account.",
    "wrong-mode": "It was given for another mode; approve for this one.",
    "broker-not-allowed": "Name only brokers that the policy lists.",
    "symbol-not-allowed": "Name only symbols that the policy lists and the contract trades.",
    "capital-too-high": "Give less capital, or have the host's owner raise the limit.",
    "order-too-large": "An order cannot be larger than the capital.",
    # When.
    "clock-set-back": "Set the clock right; if it was ahead before, remove the state's file clock.",
    "from-the-future": "It was issued after now: set the clocks right.",
    "start-expired": "It had to be started earlier; approve anew.",
    "run-too-long": "Approve for fewer days.",
    "run-ended": "Its time is over: positions may be closed, none opened. Approve anew.",
    "frozen": "Wait for the end of the freeze.",
    # Policy.
    "policy-loosened": "Change the policy in a pull request of its own first.",
    "paper-too-short": "Let the same bytes run on paper for longer.",
    "too-few-paper-trades": "Let the same bytes make more trades on paper.",
    # GitHub.
    "not-configured": "Write in stratwright.yml, under deploy:, where its approvals are for.",
    "no-environment": "stratwright doctor --github says how to make it; your own key needs none.",
    "environment-open": "Let only the default branch deploy: see stratwright doctor --github.",
    "no-reviewers": "GitHub let the run through unasked: review it, or write /stratwright approve.",
    "admin-bypass": "An approval counts from a reviewer that the environment lists.",
    "no-permission": "Somebody with write permission has to approve, under the name of now.",
    "bot-approval": "A person has to approve.",
    "review-dismissed": "Review it anew.",
    "edited-approval": "Words that were changed since do not count: write them anew.",
    "changes-requested": "The person has said no since; ask them.",
    "not-approved": "It is no approval.",
    "other-commit": "It is about another commit: approve the head, by all of its digits.",
    "approval-stale": "It was given before the last halt, or over a day ago; approve anew.",
    "author-unknown": "Link the contract's author to an account on GitHub; keep the form's issue.",
    "fork": "Only branches of the repository itself are deployed.",
    "pull-closed": "A person closed the pull request: open it again first.",
    "not-our-pull": "Write it under a pull request of the bot.",
    "wrong-run": "Start stratwright-deploy anew, from the default branch.",
    "several-tasks": "Deploy each by hand: gh workflow run stratwright-deploy.yml.",
    "no-key": "Make the environment's key: stratwright init --deploy prints the commands.",
    # The chain.
    "chain-broken": "Somebody changed what was written. Restore the branch from a good clone.",
    "chain-rewound": "The branch lost entries that this host has seen. Restore it.",
    "not-in-chain": "Only what stands in the branch stratwright/approvals counts.",
    "replayed": "A record is used once; approve anew.",
    "superseded": "A later approval replaced it.",
    "halted": "It was halted. Find out why; then a new approval starts it again.",
    "locked": "Another approval is in force: halt it, or replace it with --replace TOKEN.",
    # The person's door.
    "in-ci": "A person approves, at a terminal of their own.",
    "under-agent": "A person approves, not a program that acts for one: use a plain terminal.",
    "no-terminal": "Run it at a terminal: nobody can type the digest here.",
    "digest-not-typed": "Nothing was signed. Read what is shown, and type the digest.",
    "moved-meanwhile": "Nothing was published. Look at what changed, and begin again.",
    "not-signed": "Nothing was published; see what ssh-keygen says.",
}


@dataclass(frozen=True, order=True)
class Refusal:
    """Says why an approval does not count."""

    code: str
    detail: str = ""

    def __post_init__(self) -> None:
        if self.code not in ADVICE:
            raise KeyError(self.code)

    @property
    def advice(self) -> str:
        """Gives what to do about it."""
        return ADVICE[self.code]

    def __str__(self) -> str:
        return f"[{self.code}] {self.detail}".rstrip()


class ApprovalRefused(RefusedError):
    """An approval that does not count, with every reason."""

    def __init__(self, *refusals: Refusal) -> None:
        self.refusals = refusals
        advice = dict.fromkeys(refusal.advice for refusal in refusals)
        super().__init__("\n".join(map(str, refusals)), "\n".join(advice))


def refuse(code: str, detail: str = "") -> ApprovalRefused:
    """Makes the exception of one reason."""
    return ApprovalRefused(Refusal(code, detail))
