"""Files that commands read and write block by block."""
