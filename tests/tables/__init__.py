"""Tables from files: what is read, what is found and reported, what is refused."""
