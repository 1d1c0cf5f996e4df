"""Labels from nothing: clusters of the rows, looked at, named and made into labels."""
