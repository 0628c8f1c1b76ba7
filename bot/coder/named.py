"""A contract to the coder that it and the settings name; nobody else's word counts."""

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.model import AnyContract


def named_coder(contract: AnyContract) -> TemplateCoder:
    """The coder that writes a contract's code: the template, until models are configured."""
    return TemplateCoder()
