"""What an agent asks the user: permission cards, forms, and pages, and the guard before an answer."""
