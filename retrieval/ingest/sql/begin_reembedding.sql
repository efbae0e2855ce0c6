-- Remembers which model a base is being re-embedded with.
-- $1 model, $2 numbers in a vector
update base b set models_met = b.models_met + 1, next_number = b.models_met + 1, next_model = $1, next_size = $2
