-- Forgets the model that a base was being re-embedded with.
-- no parameters
update base b set next_number = null, next_model = null, next_size = null
