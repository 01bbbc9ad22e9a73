"""One file per tab, the frame around the tabs (`layout`), and the table of tabs (`routes`)."""
