"""How the page of a model is called with the parameters that a certificate holds."""
