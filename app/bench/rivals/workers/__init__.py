"""Programs that run a rival with the rival's own packages; they import nothing of this project."""
