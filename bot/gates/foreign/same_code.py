"""Compares two files as code, whatever their comments and layout."""

import ast


def same_code(content: bytes, text: str) -> bool:
    """Whether two files are the same to Python."""
    try:
        return ast.dump(ast.parse(content)) == ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
