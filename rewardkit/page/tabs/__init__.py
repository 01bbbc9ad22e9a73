"""One file per tab, the frame around them (`layout`), and the table of tabs (`routes`)."""
