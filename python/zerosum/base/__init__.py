"""The foundation of all rooms: errors that a user can cause, settings as checked dataclasses, durable files."""
