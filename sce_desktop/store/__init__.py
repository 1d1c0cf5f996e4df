"""The project file and the vector cache. Only here is SQLAlchemy; only frozen dataclasses leave."""
