"""Judges of certificates: is a claim true, in high precision?"""
