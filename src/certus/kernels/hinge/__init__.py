"""Compiled dual coordinate steps of the hinge loss."""
