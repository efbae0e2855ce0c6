-- Forgets the vectors kept of models from before.
-- no parameters
delete from vector_cache c using base b where c.model_number < b.model_number
