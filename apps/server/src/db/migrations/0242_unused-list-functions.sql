-- Only programs before migration 0238 asked these functions and read these tables (docs/decisions/0009).
drop function list_place(text, text, text, bigint, bigint[]);
drop function list_rows_above(text, text, text, bigint, bigint[]);
drop table list_counts, list_changes;
