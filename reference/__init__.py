"""The oracle: obvious, slow, pure Python; it runs scenarios and says what it did."""
