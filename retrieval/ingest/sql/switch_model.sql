-- Makes the next model that of the base, with the table that is called fragment_vector from now on.
-- no parameters
update base b set model_number = b.next_number, embedding_model = b.next_model, embedding_size = b.next_size,
       vector_table = to_regclass('fragment_vector'), next_number = null, next_model = null, next_size = null
