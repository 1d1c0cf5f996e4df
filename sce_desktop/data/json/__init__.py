"""JSON documents and JSON lines."""
