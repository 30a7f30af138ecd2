"""Terms of the pages: what a page returns, and the losses, penalties, distances and kernels."""
