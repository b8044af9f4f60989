-- Links from before get the words of the program, which folds accents: those of 0344 kept them. In a file of its own, so that
-- nothing waits for the lock that the triggers of 0345 take.
insert into link_words_queue (merchant_id, link_id) select merchant_id, link_id from links;
