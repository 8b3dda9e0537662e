"""Every release against every known defect, and what a search finds in each: docs/releases.md."""
