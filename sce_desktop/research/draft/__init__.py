"""How the static vectors of a model's draft are made (`ml.draft`)."""
