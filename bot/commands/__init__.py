"""The commands, one module each: add_arguments and run; bot/cli.py has their names."""
