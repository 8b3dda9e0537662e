"""What must hold: geometry, scenario, trace and the thirteen laws; no engine, no solver."""
