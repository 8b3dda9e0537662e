"""Tests of the command line: type it, read every answer."""
