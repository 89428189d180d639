"""Unicode as the references have it: properties, surrogates, UTF-8, and escapes for people."""
