"""Tests of the oracle: each names the property it checks, most of them under all laws."""
