"""What every room stands on: errors that a user can cause, settings as checked dataclasses, whole files."""
