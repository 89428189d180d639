"""The stages from text to ids and back."""
