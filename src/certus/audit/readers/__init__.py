"""One reader for each family of models: what is claimed, as the parameters of a proof."""
