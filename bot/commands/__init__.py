"""The commands, one module each: HELP, add_arguments and run."""
