-- Forgets the vectors kept of models that the base neither holds nor is being re-embedded with.
-- no parameters
delete from vector_cache c using base b
 where c.model_number <> b.model_number and c.model_number is distinct from b.next_number
