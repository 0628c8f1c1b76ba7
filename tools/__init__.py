"""Small commands around the product; nothing imports them."""
