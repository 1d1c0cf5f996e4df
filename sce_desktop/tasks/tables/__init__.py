"""Tables in and out of projects."""
