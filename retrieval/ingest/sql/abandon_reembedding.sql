-- Forgets the model that a base was being re-embedded with, and the vectors kept of it.
-- no parameters
with forgotten as (delete from vector_cache c using base b where c.model_number = b.next_number)
update base b set next_number = null, next_model = null, next_size = null
