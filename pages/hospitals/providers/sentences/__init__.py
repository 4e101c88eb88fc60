"""The sentences of the page of hospitals that may join, and what hospitals and protocols are called."""
