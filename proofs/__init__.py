"""Questions put to a solver: lift a rule, state an obligation, solve, shrink, write a test."""
