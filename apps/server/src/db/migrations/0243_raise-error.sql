-- Programs await every statement now and look at its answer themselves (docs/decisions/0100).
drop function raise_error(text);
