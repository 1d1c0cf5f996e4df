"""How often each label occurs, by group, with intervals."""
