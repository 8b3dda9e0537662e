"""What each historic defect does to a model's answers, and the law that names its cause."""
