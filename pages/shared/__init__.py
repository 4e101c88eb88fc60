"""What pages share. Not in the menu: it holds no page."""
