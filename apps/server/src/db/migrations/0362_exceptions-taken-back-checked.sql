alter table exceptions validate constraint exceptions_loss;
