-- The counts of a word in many namespaces stand side by side; by the primary key they are looked up one by one.

create index word_statistics_of_word on word_statistics (lexeme, ns) include (fragments);
