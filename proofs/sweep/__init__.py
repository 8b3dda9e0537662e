"""Many small scenarios: drawn by feature, run on the oracle, judged by the laws."""
