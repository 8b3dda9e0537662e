"""What kernels have to do, as plain functions; `test_*.py` run them in processes of their own."""
